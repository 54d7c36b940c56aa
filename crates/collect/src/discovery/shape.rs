//! What objects of a kind look like, in the words of the server.

use kube::Client;
use serde_json::Value;

use super::{Resource, fetch::read};
use crate::{
    ask::{Ask, Patience, encoded},
    list::error::ListError,
};

const JSON: &str = "application/json";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

impl Resource {
    /// The definition of a custom kind, as the server stores it; nothing if
    /// the kind has none.
    pub async fn definition(&self, client: &Client) -> Result<Option<Value>, ListError> {
        let name = self.full_name();
        let what = format!("the definition of {name}");
        fetch(client, &format!("{DEFINITIONS}/{}", encoded(&name)), &what).await
    }

    /// The `OpenAPI` document of the kind's group and version; nothing if the
    /// server publishes none.
    pub async fn open_api(&self, client: &Client) -> Result<Option<Value>, ListError> {
        let version = encoded(&self.version);
        let uri = match self.group.as_str() {
            "" => format!("/openapi/v3/api/{version}"),
            group => format!("/openapi/v3/apis/{}/{version}", encoded(group)),
        };
        fetch(client, &uri, &format!("the schema of {}", self.full_name())).await
    }
}

async fn fetch(client: &Client, uri: &str, what: &str) -> Result<Option<Value>, ListError> {
    let ask = Ask { uri, accept: JSON, what };
    let mut patience = Patience::default();
    loop {
        match read(client, ask, |bytes| serde_json::from_slice(bytes)).await {
            Ok(value) => return Ok(Some(value)),
            Err(refusal) if matches!(refusal.error, ListError::NotServed { .. }) => {
                return Ok(None);
            }
            Err(refusal) => patience.wait(refusal).await.map_err(|refusal| refusal.error)?,
        }
    }
}
