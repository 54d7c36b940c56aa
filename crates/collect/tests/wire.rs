//! Lists over real connections that fail.

use std::{fmt::Write as _, io::Write as _};

use kollect_collect::{Heard, ListError, Place, Question, Resource, Scope, connect, list};

use self::support::{Server, kubeconfig};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

fn pods() -> Resource {
    Resource::known(("", "v1"), "Pod", "pods", Scope::Namespaced)
}

#[tokio::test]
async fn a_connection_that_is_cut_within_a_list_is_made_anew() {
    let start = r#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"n":1},"#;
    let whole = format!("{start}{{\"n\":2}}]}}");
    let replies = vec![
        // Chunks that never end, and a body that is shorter than promised.
        format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{start}\r\n", start.len()),
        format!("{HEAD}Content-Length: 1000\r\n\r\n{start}"),
        String::new(),
        format!("{HEAD}Content-Length: {}\r\n\r\n{whole}", whole.len()),
    ];
    let server = Server::start(replies);
    let (_file, path) = kubeconfig(server.port);
    let client = connect(&Place::Files(vec![path]), None).await.unwrap();
    let (mut heard, pods) = (String::new(), pods());
    let question = Question::all(&pods);
    let listed = list(&client, &question, |next| match next {
        Heard::Item(item) => write!(heard, "{}", str::from_utf8(item).unwrap()).unwrap(),
        Heard::Again => heard.push('!'),
    });
    let listed = listed.await.unwrap();
    assert_eq!((listed.items, listed.resource_version.as_str()), (2, "7"));
    assert_eq!(heard, r#"{"n":1}!{"n":1}!{"n":1}{"n":2}"#);
    for request in server.requests() {
        assert!(request.starts_with("GET /api/v1/pods?limit=500 HTTP/1.1\r\n"), "{request}");
        let request = request.to_ascii_lowercase();
        assert!(request.contains("\r\nuser-agent: kollect/"), "{request}");
        assert!(request.contains("\r\naccept: application/json\r\n"), "{request}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_cannot_be_reached() {
    let server = Server::start(Vec::new());
    let port = server.port;
    server.requests();
    let (_file, path) = kubeconfig(port);
    let client = connect(&Place::Files(vec![path]), None).await.unwrap();
    let error = list(&client, &Question::all(&pods()), |_| {}).await.unwrap_err();
    assert!(matches!(error, ListError::Unreachable { .. }), "{error:?}");
    let text = "could not reach the server to list pods in all namespaces";
    assert_eq!(error.to_string(), text);
}

#[cfg(test)]
mod support {
    use std::{
        io::{BufRead as _, BufReader},
        net::TcpListener,
        path::PathBuf,
        thread::{self, JoinHandle},
    };

    use super::*;

    /// Gives each connection one reply, and closes it.
    pub(super) struct Server {
        pub(super) port: u16,
        thread: JoinHandle<Vec<String>>,
    }

    impl Server {
        pub(super) fn start(replies: Vec<String>) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let thread = thread::spawn(move || {
                let reply = |text: String| {
                    let (stream, _) = listener.accept().unwrap();
                    let mut reader = BufReader::new(&stream);
                    let mut request = String::new();
                    while !request.ends_with("\r\n\r\n") {
                        reader.read_line(&mut request).unwrap();
                    }
                    (&stream).write_all(text.as_bytes()).unwrap();
                    request
                };
                replies.into_iter().map(reply).collect()
            });
            Self { port, thread }
        }

        /// What was asked, once everything is answered; nobody listens then.
        pub(super) fn requests(self) -> Vec<String> {
            self.thread.join().unwrap()
        }
    }

    pub(super) fn kubeconfig(port: u16) -> (tempfile::NamedTempFile, PathBuf) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(
            file,
            "{{apiVersion: v1, kind: Config, current-context: x, \
              clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{port}'}}}}], \
              contexts: [{{name: x, context: {{cluster: c}}}}]}}"
        )
        .unwrap();
        let path = file.path().to_owned();
        (file, path)
    }
}
