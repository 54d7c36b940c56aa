use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A SQLite database in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sqlite {
    /// The database file, such as `/var/lib/inventory/rows.db`; it is made when
    /// missing. In the operator it is relative to the directory of the sink's namespace in
    /// what `--local-sink-root` names, and cannot leave it; on the command line
    /// any path will do.
    #[schemars(length(min = 1, max = 4096))]
    pub path: String,
}
