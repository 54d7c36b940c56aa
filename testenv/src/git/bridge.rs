//! From a connection to `git http-backend`, and back.

use std::{
    io::{self, BufReader, Write as _},
    net::TcpStream,
    path::PathBuf,
    process::Stdio,
    sync::Arc,
    thread,
};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::{PASSWORD, Protocol, State, USER, command, request::Request};

/// Serves the repositories below a directory.
#[derive(Clone)]
pub(crate) struct Bridge {
    pub(crate) root: PathBuf,
    pub(crate) state: Arc<State>,
}

type Stream = StreamOwned<ServerConnection, TcpStream>;

/// What goes back to the client.
struct Answer {
    status: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

impl Bridge {
    /// Answers one request after the other, until the client or we hang up.
    pub(crate) fn serve(&self, stream: TcpStream, tls: Arc<ServerConfig>) {
        let Ok(connection) = ServerConnection::new(tls) else { return };
        let mut stream = BufReader::new(StreamOwned::new(connection, stream));
        while let Ok(true) = self.answer_next(&mut stream) {}
    }

    fn answer_next(&self, stream: &mut BufReader<Stream>) -> io::Result<bool> {
        let request = Request::read(stream)?;
        let Some(request) = request else { return Ok(false) };
        self.state.note(format!("{} {}", request.method, request.path));
        let answer = self.answer(&request)?;
        let is_push = request.method == "POST" && request.path.ends_with("/git-receive-pack");
        if is_push && answer.status.starts_with("200") && self.state.is_silent() {
            return Ok(false);
        }
        let Answer { status, headers, body } = answer;
        let mut head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len());
        for header in headers {
            head.extend([header.as_str(), "\r\n"]);
        }
        head.push_str("\r\n");
        let out = stream.get_mut();
        out.write_all(head.as_bytes())?;
        out.write_all(&body)?;
        out.flush()?;
        Ok(true)
    }

    fn answer(&self, request: &Request) -> io::Result<Answer> {
        let plain = |status: &str, headers: Vec<String>| Answer {
            status: status.to_owned(),
            headers,
            body: Vec::new(),
        };
        if let Some(rest) = request.path.strip_prefix("/moved/") {
            let query = &request.query;
            return Ok(plain("302 Found", vec![format!("Location: /{rest}?{query}")]));
        }
        let login = request.header("authorization").unwrap_or_default();
        if login != format!("Basic {}", encoded(format!("{USER}:{PASSWORD}").as_bytes())) {
            let challenge = "WWW-Authenticate: Basic realm=\"tests\"".to_owned();
            return Ok(plain("401 Unauthorized", vec![challenge]));
        }
        self.run(request)
    }

    fn run(&self, request: &Request) -> io::Result<Answer> {
        let mut backend = command(&self.root);
        backend
            .arg("http-backend")
            .env("GIT_PROJECT_ROOT", &self.root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("PATH_INFO", &request.path)
            .env("QUERY_STRING", &request.query)
            .env("REQUEST_METHOD", &request.method)
            .env("CONTENT_LENGTH", request.body.len().to_string())
            .env("REMOTE_USER", USER)
            .env("REMOTE_ADDR", "127.0.0.1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        for (header, variable) in
            [("content-type", "CONTENT_TYPE"), ("content-encoding", "HTTP_CONTENT_ENCODING")]
        {
            backend.env(variable, request.header(header).unwrap_or_default());
        }
        if let Some(version) = request.header("git-protocol")
            && self.state.protocol() == Protocol::Any
        {
            backend.env("GIT_PROTOCOL", version);
        }
        let mut child = backend.spawn()?;
        let input = child.stdin.take();
        let output = thread::scope(|scope| {
            scope.spawn(|| {
                // A backend that has heard enough hangs up.
                input.map(|mut input| input.write_all(&request.body).ok());
            });
            child.wait_with_output()
        })?;
        Ok(parse(&output.stdout))
    }
}

/// Reads what a CGI program says: headers, an empty line, the body.
fn parse(output: &[u8]) -> Answer {
    let end = output.windows(4).position(|part| part == b"\r\n\r\n").unwrap_or(output.len());
    let (head, body) = output.split_at(end);
    let head = String::from_utf8_lossy(head);
    let mut answer = Answer {
        status: "200 OK".to_owned(),
        headers: Vec::new(),
        body: body.get(4..).unwrap_or_default().to_vec(),
    };
    for line in head.lines() {
        match line.strip_prefix("Status: ") {
            Some(status) => status.clone_into(&mut answer.status),
            None => answer.headers.push(line.to_owned()),
        }
    }
    answer
}

/// Base64, of which one login is all that is needed.
fn encoded(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let number = (0..3).fold(0_usize, |sum, at| {
            sum << 8 | usize::from(group.get(at).copied().unwrap_or_default())
        });
        for at in 0..4 {
            let digit = DIGITS.get(number >> (18 - 6 * at) & 63).copied().map(char::from);
            text.push(if at > group.len() { '=' } else { digit.unwrap_or('=') });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_encoded() {
        assert_eq!(encoded(b"Aladdin:open sesame"), "QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(encoded(b"abc"), "YWJj");
        assert_eq!(encoded(b"ab"), "YWI=");
    }

    #[test]
    fn an_answer_without_a_status_is_good() {
        let answer = parse(b"Content-Type: a\r\n\r\nbody");
        assert_eq!((answer.status.as_str(), answer.body.as_slice()), ("200 OK", &b"body"[..]));
        assert_eq!(parse(b"Status: 404 Not Found\r\n\r\n").status, "404 Not Found");
    }
}
