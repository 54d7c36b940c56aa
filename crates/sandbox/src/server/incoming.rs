//! Requests as they come in.

use std::{future::poll_fn, pin::Pin};

use hyper::{
    body::{Body, Incoming},
    header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, USER_AGENT},
};

use crate::request::Request;

/// Real servers take no larger objects.
const LARGEST_BODY: usize = 3 << 20;

/// What is asked, without the body.
pub(super) fn read(incoming: &hyper::Request<Incoming>) -> Request {
    let uri = incoming.uri();
    let method = incoming.method().as_str();
    let mut request = Request::new(method, uri.path(), uri.query().unwrap_or_default());
    for name in [ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, USER_AGENT] {
        let values: Vec<&str> = incoming
            .headers()
            .get_all(&name)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .collect();
        if !values.is_empty() {
            request.headers.insert(name.to_string(), values.join(","));
        }
    }
    request
}

/// The whole body, as far as it may be.
pub(super) async fn body(mut incoming: Incoming) -> Result<Vec<u8>, hyper::Error> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut incoming).poll_frame(context)).await {
        if let Ok(data) = frame?.into_data()
            && bytes.len() < LARGEST_BODY
        {
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes)
}
