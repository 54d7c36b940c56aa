//! Asks a server what we may do.

use http::{Request, header::CONTENT_TYPE};
use kube::{Client, client::Body};
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use super::{Answer, Right};
use crate::ask::{SILENCE, chain};

const PATH: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Review {
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    allowed: bool,
    reason: String,
}

/// Whether we may list and watch. Who is not answered has to try: some
/// servers have no reviews, and say so when they are asked for objects.
pub(crate) async fn review(client: &Client, right: &Right) -> Answer {
    for verb in ["list", "watch"] {
        match one(client, right, verb).await {
            Ok(Review { status: Status { allowed: true, .. } }) => {}
            Ok(Review { status: Status { reason, .. } }) => {
                return Answer::Denied(denied(right, verb, &reason));
            }
            Err(kube::Error::Api(status)) if [403, 404, 405].contains(&status.code) => {
                return Answer::Allowed;
            }
            Err(error) => return Answer::Failed(chain(&error)),
        }
    }
    Answer::Allowed
}

fn denied(right: &Right, verb: &str, reason: &str) -> String {
    let Right { group, plural, namespace, .. } = right;
    let dot = if group.is_empty() { "" } else { "." };
    let place = match namespace {
        Some(namespace) => format!(" in namespace {namespace}"),
        None => String::new(),
    };
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    format!("not allowed to {verb} {plural}{dot}{group}{place}{reason}")
}

async fn one(client: &Client, right: &Right, verb: &str) -> Result<Review, kube::Error> {
    let Right { group, version, plural, namespace } = right;
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {
            "group": group, "version": version, "resource": plural, "verb": verb,
            "namespace": namespace.as_deref().unwrap_or_default(),
        }},
    });
    let request = Request::post(PATH)
        .header(CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string().into_bytes()))
        .map_err(kube::Error::HttpError)?;
    let asked = timeout(SILENCE, client.send(request)).await;
    let response = asked.map_err(|_| {
        kube::Error::Service("the server does not answer to an access review".into())
    })??;
    let status = response.status();
    let bytes = response.into_body().collect_bytes().await?;
    if !status.is_success() {
        let mut said: kube::core::Status = serde_json::from_slice(&bytes).unwrap_or_default();
        said.code = status.as_u16();
        return Err(kube::Error::Api(said.boxed()));
    }
    serde_json::from_slice(&bytes).map_err(kube::Error::SerdeError)
}
