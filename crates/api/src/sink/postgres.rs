use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reference::SecretReference;

/// A table in a PostgreSQL database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Postgres {
    /// Secret with the connection string, under `dsn`, `url`,
    /// `connectionString` or `DATABASE_URL`.
    pub database_ref: SecretReference,
    /// Table that holds the rows.
    #[schemars(length(min = 1, max = 63))]
    pub table: String,
    /// Schema of the table; it must exist. Default: `public`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub schema: Option<String>,
}
