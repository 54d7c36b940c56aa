use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reference::SecretReference;

/// A collection in a MongoDB database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mongodb {
    /// Secret with the connection string, under `uri`, `url`,
    /// `connectionString` or `MONGODB_URI`.
    pub database_ref: SecretReference,
    /// Database that holds the collection.
    #[schemars(length(min = 1, max = 63))]
    pub database: String,
    /// Collection that holds the rows.
    #[schemars(length(min = 1, max = 255))]
    pub collection: String,
}
