//! Requests that write to our own objects, and one that asks for them.

use http::{Request, header::CONTENT_TYPE};
use kollect_api::{GROUP, VERSION};
use kollect_collect::Resource;
use kollect_validate::{Kind, Object};
use kube::{Client, client::Body};
use serde_json::{Value, json};

use super::events::Event;
use crate::{eyes::resource, objects::Name};

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Yes,
    /// The object has changed meanwhile, and the next look sees how, or it is
    /// gone.
    TooLate,
}

/// Patches an object; says why it was refused.
pub(super) async fn patch(
    client: &Client,
    uri: &str,
    content: &str,
    body: String,
) -> Result<Taken, String> {
    let request =
        Request::patch(uri).header(CONTENT_TYPE, content).body(Body::from(body.into_bytes()));
    let request = request.map_err(|error| error.to_string())?;
    sent(client, request).await
}

/// Deletes an object; says why that was not done.
pub(super) async fn delete(client: &Client, uri: &str, options: String) -> Result<(), String> {
    let request = Request::delete(uri)
        .header(CONTENT_TYPE, "application/json")
        .body(Body::from(options.into_bytes()));
    let request = request.map_err(|error| error.to_string())?;
    sent(client, request).await.map(drop)
}

async fn sent(client: &Client, request: Request<Body>) -> Result<Taken, String> {
    let response = client.send(request).await.map_err(|error| error.to_string())?;
    let status = response.status();
    if status.is_success() {
        return Ok(Taken::Yes);
    }
    if [404, 409].contains(&status.as_u16()) {
        return Ok(Taken::TooLate);
    }
    let bytes = response.into_body().collect_bytes().await.unwrap_or_default();
    let said: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let said = said.get("message").and_then(Value::as_str).unwrap_or_default();
    Err(format!("the server answered {status}: {said}"))
}

/// Whether a profile is not there, asked now.
pub(super) async fn is_gone(client: &Client, name: &Name) -> bool {
    let request = Request::get(path(&resource(Kind::Profile), name)).body(Body::empty());
    let Ok(request) = request else { return false };
    client.send(request).await.is_ok_and(|response| response.status().as_u16() == 404)
}

/// Tells people of something that happened to an object. What nobody takes is
/// lost, as events are.
pub(super) async fn tell(client: &Client, object: &Object, event: &Event) {
    let name = Name::of(object);
    let namespace = name.in_namespace().unwrap_or("default");
    let controller = format!("{}-controller", object.kind().name().to_lowercase());
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let body = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": format!("{}.", name.name), "namespace": namespace},
        "involvedObject": {
            "apiVersion": format!("{GROUP}/{VERSION}"),
            "kind": object.kind().name(),
            "namespace": name.in_namespace(),
            "name": name.name,
            "uid": object.meta().uid,
        },
        "type": if event.is_warning { "Warning" } else { "Normal" },
        "reason": event.reason,
        "message": event.message,
        "source": {"component": controller},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    });
    let uri = format!("/api/v1/namespaces/{namespace}/events");
    let request = Request::post(uri)
        .header(CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string().into_bytes()));
    if let Ok(request) = request {
        drop(client.send(request).await);
    }
}

/// Where an object is.
pub(super) fn path(resource: &Resource, name: &Name) -> String {
    let plural = &resource.plural;
    match name.in_namespace() {
        None => format!("/apis/{GROUP}/{VERSION}/{plural}/{}", name.name),
        Some(namespace) => {
            format!("/apis/{GROUP}/{VERSION}/namespaces/{namespace}/{plural}/{}", name.name)
        }
    }
}
