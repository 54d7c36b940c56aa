use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A SQLite database in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sqlite {
    /// The database file, such as `/var/lib/inventory/rows.db`; it is made when
    /// missing. In the operator it must lie below the directory that
    /// `--local-sink-root` names; on the command line any path will do.
    #[schemars(length(min = 1, max = 4096))]
    pub path: String,
}
