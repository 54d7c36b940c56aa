//! A client that asks as the collector does, and throws the answer away.

use std::path::Path;

use anyhow::{Context, bail};
use http::{
    Request,
    header::{ACCEPT, ACCEPT_ENCODING},
};
use http_body_util::BodyExt as _;
use kollect_collect::{Place, connect};
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use memchr::memmem;

use super::{
    reading::{Clocks, Reading},
    stock::Stock,
};

/// What the last line of a list in a stream says.
const END: &[u8] = b"k8s.io/initial-events-end";
/// The last line is shorter.
const LAST_LINE: usize = 512;

/// Whose connections are used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Connections {
    /// As anybody would write it.
    Kubes,
    /// Those of the collector.
    Ours,
}

/// Reads everything once.
pub(super) async fn run(
    kubeconfig: &Path,
    stock: Stock,
    connections: Connections,
) -> anyhow::Result<Reading> {
    let clocks = Clocks::start();
    let client = match connections {
        Connections::Ours => connect(&Place::Files(vec![kubeconfig.to_owned()]), None).await?,
        Connections::Kubes => {
            let (kubeconfig, options) =
                (Kubeconfig::read_from(kubeconfig)?, KubeConfigOptions::default());
            Client::try_from(Config::from_custom_kubeconfig(kubeconfig, &options).await?)?
        }
    };
    let path = path(stock);
    let bytes = match stream(&client, &path).await? {
        Some(bytes) => bytes,
        None => pages(&client, &path).await?,
    };
    Ok(Reading::new(clocks.seconds(), bytes, 0))
}

/// Where a collector asks for them.
fn path(stock: Stock) -> String {
    match &stock.namespaces()[..] {
        [one] => format!("/api/v1/namespaces/{one}/{}", stock.plural()),
        _ => format!("/api/v1/{}", stock.plural()),
    }
}

/// A list at the beginning of a stream; nothing if the server has no such.
async fn stream(client: &Client, path: &str) -> anyhow::Result<Option<usize>> {
    let uri = format!(
        "{path}?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&sendInitialEvents=true\
         &resourceVersionMatch=NotOlderThan&resourceVersion="
    );
    let Some(mut body) = ask(client, &uri).await? else { return Ok(None) };
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if bytes == 0 && data.starts_with(br#"{"type":"ERROR""#) {
            return Ok(None);
        }
        bytes += data.len();
        let tail = data.get(data.len().saturating_sub(LAST_LINE)..).unwrap_or(&data);
        if memmem::find(tail, END).is_some() {
            return Ok(Some(bytes));
        }
    }
    bail!("the stream ended before the list in it")
}

/// A list in pages.
async fn pages(client: &Client, path: &str) -> anyhow::Result<usize> {
    let (mut bytes, mut next) = (0, String::new());
    loop {
        let uri = format!("{path}?limit=500{next}");
        let mut body = ask(client, &uri).await?.context("the server refuses to list")?;
        next.clear();
        let mut is_first = true;
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame?.into_data() else { continue };
            bytes += data.len();
            if std::mem::take(&mut is_first) {
                next = continuation(&data)
                    .map(|token| format!("&continue={token}"))
                    .unwrap_or_default();
            }
        }
        if next.is_empty() {
            return Ok(bytes);
        }
    }
}

/// With what the next page is asked for, which servers of their own kinds say first.
fn continuation(head: &[u8]) -> Option<String> {
    let before = br#""continue":""#;
    let rest = head.get(memmem::find(head, before)? + before.len()..)?;
    let token = rest.get(..memchr::memchr(b'"', rest)?)?;
    String::from_utf8(token.to_vec()).ok()
}

/// The body of a good answer.
async fn ask(client: &Client, uri: &str) -> anyhow::Result<Option<Body>> {
    let request = Request::get(uri)
        .header(ACCEPT, "application/json")
        .header(ACCEPT_ENCODING, "identity")
        .body(Body::empty())?;
    let response = client.send(request).await?;
    Ok(response.status().is_success().then(|| response.into_body()))
}
