//! A client that sees every byte, and how a connection ends.

use std::{
    collections::BTreeMap,
    io,
    time::{Duration, Instant},
};

use kollect_sandbox::{ResourceDefinition, Sandbox};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// Nothing takes so long.
const LIMIT: Duration = Duration::from_secs(10);

/// Long enough for what was sent to arrive.
pub(crate) const A_MOMENT: Duration = Duration::from_millis(150);

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// As it should.
    Clean,
    /// The connection was closed too early.
    Closed,
    Reset,
}

/// A request that is being answered.
pub(crate) struct Answer {
    socket: TcpStream,
    raw: Vec<u8>,
    /// Of the body, without the signs of chunks.
    data: Vec<u8>,
    end: Option<End>,
    /// Of the body, if it was said.
    left: Option<usize>,
    pub(crate) code: u16,
    pub(crate) headers: BTreeMap<String, String>,
}

pub(crate) fn sandbox() -> Sandbox {
    Sandbox::start().expect("a free port")
}

/// A deployment of the namespace `shop`.
pub(crate) fn deployment(name: &str, replicas: u64) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": name}},
        "spec": {"replicas": replicas},
    })
}

pub(crate) fn pod(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
    })
}

pub(crate) fn gateways(version: &str) -> ResourceDefinition {
    ResourceDefinition {
        group: "gateway.networking.k8s.io".into(),
        version: version.into(),
        kind: "Gateway".into(),
        plural: "gateways".into(),
        namespaced: true,
    }
}

pub(crate) fn gateway(name: &str) -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"gatewayClassName": "x"},
    })
}

#[expect(clippy::disallowed_methods, reason = "the sandbox listens on loopback only")]
async fn dial(sandbox: &Sandbox) -> TcpStream {
    let url = sandbox.url();
    TcpStream::connect(url.trim_start_matches("http://")).await.expect("a server that listens")
}

/// Sends a request and reads the head of its answer.
pub(crate) async fn send(
    sandbox: &Sandbox,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<Answer> {
    let mut socket = dial(sandbox).await;
    let headers: String =
        headers.iter().map(|(name, value)| [name, ": ", value, "\r\n"].concat()).collect();
    let length = body.len();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nhost: sandbox\r\n{headers}content-length: {length}\r\n\r\n{body}"
    );
    socket.write_all(text.as_bytes()).await?;
    let mut answer = Answer {
        socket,
        raw: Vec::new(),
        data: Vec::new(),
        end: None,
        left: None,
        code: 0,
        headers: BTreeMap::new(),
    };
    timeout(LIMIT, answer.head()).await.expect("an answer in time")?;
    Ok(answer)
}

pub(crate) async fn get(sandbox: &Sandbox, path: &str) -> Answer {
    send(sandbox, "GET", path, &[], "").await.expect("an answer")
}

pub(crate) async fn get_as(sandbox: &Sandbox, path: &str, accept: &str) -> Answer {
    send(sandbox, "GET", path, &[("accept", accept)], "").await.expect("an answer")
}

/// Reads a document to its end.
pub(crate) async fn read(sandbox: &Sandbox, path: &str) -> Value {
    get(sandbox, path).await.json().await
}

impl Answer {
    async fn head(&mut self) -> io::Result<()> {
        let end = loop {
            if let Some(at) = find(&self.raw, b"\r\n\r\n") {
                break at;
            }
            if self.socket.read_buf(&mut self.raw).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        };
        let head = String::from_utf8(self.raw.drain(..end + 4).collect()).expect("a head of text");
        let mut lines = head.lines();
        let code = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status line");
        self.code = code.parse().expect("a status code");
        self.headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        self.left = self.headers.get("content-length").map(|text| text.parse().expect("a length"));
        self.take();
        Ok(())
    }

    /// Moves what is complete from the raw bytes to the data.
    fn take(&mut self) {
        if let Some(left) = &mut self.left {
            *left -= self.raw.len();
            self.data.append(&mut self.raw);
            if *left == 0 {
                self.end = Some(End::Clean);
            }
            return;
        }
        while let Some(at) = find(&self.raw, b"\r\n") {
            let size = String::from_utf8_lossy(&self.raw[..at]).into_owned();
            let size = usize::from_str_radix(&size, 16).expect("the size of a chunk");
            let begin = at + 2;
            if self.raw.len() < begin + size + 2 {
                return;
            }
            self.data.extend_from_slice(&self.raw[begin..begin + size]);
            self.raw.drain(..begin + size + 2);
            if size == 0 {
                self.end = Some(End::Clean);
            }
        }
    }

    async fn more(&mut self) {
        self.raw.reserve(16_384);
        match self.socket.read_buf(&mut self.raw).await {
            Ok(0) => self.end = Some(End::Closed),
            Ok(_) => self.take(),
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
                self.end = Some(End::Reset);
            }
        }
    }

    /// Everything that came, and how it ended.
    pub(crate) async fn rest(&mut self) -> (Vec<u8>, End) {
        let all = async {
            loop {
                if let Some(end) = self.end {
                    return (std::mem::take(&mut self.data), end);
                }
                self.more().await;
            }
        };
        timeout(LIMIT, all).await.expect("an end in time")
    }

    /// The next bytes, of an answer that goes on.
    pub(crate) async fn some(&mut self) -> Vec<u8> {
        let some = async {
            while self.data.is_empty() {
                assert_eq!(self.end, None, "the answer goes on");
                self.more().await;
            }
        };
        timeout(LIMIT, some).await.expect("bytes in time");
        std::mem::take(&mut self.data)
    }

    pub(crate) async fn json(mut self) -> Value {
        let (data, end) = self.rest().await;
        assert_eq!(end, End::Clean);
        serde_json::from_slice(&data).expect("a JSON document")
    }

    pub(crate) async fn text(mut self) -> String {
        let (data, end) = self.rest().await;
        assert_eq!(end, End::Clean);
        String::from_utf8(data).expect("text")
    }

    /// The next line of a watch; none if the watch has ended.
    pub(crate) async fn raw_line(&mut self) -> Option<String> {
        let line = async {
            loop {
                if let Some(at) = find(&self.data, b"\n") {
                    let line = self.data.drain(..=at).collect();
                    return Some(String::from_utf8(line).expect("a line of text"));
                }
                if self.end.is_some() {
                    return None;
                }
                self.more().await;
            }
        };
        timeout(LIMIT, line).await.expect("a line in time")
    }

    pub(crate) async fn event(&mut self) -> Value {
        let line = self.raw_line().await.expect("an event");
        serde_json::from_str(&line).expect("a line of JSON")
    }

    /// The next event as `ADDED name`.
    pub(crate) async fn brief(&mut self) -> String {
        brief(&self.event().await)
    }

    /// Whether nothing comes for a while, not even an end.
    pub(crate) async fn is_silent(&mut self) -> bool {
        self.data.is_empty() && self.end.is_none() && timeout(A_MOMENT, self.more()).await.is_err()
    }
}

pub(crate) fn brief(event: &Value) -> String {
    let kind = event["type"].as_str().expect("a type");
    let name = event["object"]["metadata"]["name"].as_str().unwrap_or("-");
    format!("{kind} {name}")
}

/// The names in a list, in order.
pub(crate) fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().expect("a list");
    items.iter().map(|item| item["metadata"]["name"].as_str().expect("a name")).collect()
}

pub(crate) fn version(document: &Value) -> u64 {
    let version = document["metadata"]["resourceVersion"].as_str().expect("a version");
    version.parse().expect("a number")
}

/// Waits until something holds that another thread brings about.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LIMIT, waiting).await.expect("it to hold in time");
}

/// How long something takes.
#[expect(clippy::disallowed_methods, reason = "a test of time itself")]
pub(crate) async fn timed<T>(what: impl Future<Output = T>) -> (T, Duration) {
    let begin = Instant::now();
    (what.await, begin.elapsed())
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
