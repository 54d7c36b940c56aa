use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A directory that holds documents or a tree of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct File {
    /// Directory to write to, such as a mounted volume: `/var/lib/inventory`.
    /// In the operator it is relative to the directory of the sink's namespace in
    /// what `--local-sink-root` names, and cannot leave it; on the command line
    /// any path will do.
    #[schemars(length(min = 1, max = 4096))]
    pub path: String,
}
