//! Git over http and https.
//!
//! Every request goes over a connection that the guard dialled. Proxies of the
//! environment are not asked. A redirect is followed for the first request of
//! a conversation alone, as stock Git does, and never from https to http; the
//! credentials stay with the server that they are for.

mod client;
pub(super) mod tls;

use std::{fmt, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, header};
use tokio::runtime::Handle;

use self::client::{Answer, Client, Words};
use super::{
    error::Fault,
    network::wire::{Service, Wire},
    settings::HttpAddress,
};
use crate::{guard::Guard, progress::Progress};

/// How many redirects are followed.
const HOPS: usize = 5;

/// So much of an error page is read for its words.
const WORDS: usize = 512;

/// Who we are to a server.
#[derive(Clone)]
pub(super) struct Login {
    pub(super) user: String,
    pub(super) password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").finish_non_exhaustive()
    }
}

/// How a server is reached, and as whom.
#[derive(Debug)]
pub(super) struct HttpSettings {
    pub(super) address: HttpAddress,
    pub(super) login: Option<Login>,
    /// Whether to log in without being asked.
    pub(super) eager: bool,
    pub(super) tls: Arc<rustls::ClientConfig>,
    pub(super) guard: Guard,
}

/// A repository behind http.
pub(super) struct HttpWire {
    settings: HttpSettings,
    /// Where requests go, after redirects.
    address: HttpAddress,
    client: Client,
    /// Whether the server has asked who we are.
    logs_in: bool,
    answer: Option<Answer>,
    progress: Progress,
}

impl HttpWire {
    pub(super) fn new(settings: HttpSettings) -> Self {
        let address = settings.address.clone();
        let client = Client::new(settings.guard.clone(), Arc::clone(&settings.tls));
        let (logs_in, progress) = (settings.eager, Progress::default());
        Self { settings, address, client, logs_in, answer: None, progress }
    }

    /// Asks, and asks again as whoever we are if that is what the server wants.
    async fn ask(&mut self, request: &Asked<'_>) -> Result<Answer, Fault> {
        let answer = self.ask_once(request).await?;
        if answer.status() != StatusCode::UNAUTHORIZED || self.logs_in || !self.may_log_in() {
            return Ok(answer);
        }
        answer.pass_over(&self.progress).await;
        self.logs_in = true;
        self.ask_once(request).await
    }

    async fn ask_once(&mut self, asked: &Asked<'_>) -> Result<Answer, Fault> {
        let HttpAddress { host, path, .. } = &self.address;
        let port = explicit_port(&self.address);
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let mut request = Request::builder()
            .method(asked.method.clone())
            .uri(format!("{path}{}", asked.path))
            .header(header::HOST, format!("{host}{port}"))
            .header(header::USER_AGENT, concat!("git/2.0 kollect/", env!("CARGO_PKG_VERSION")))
            .header(header::ACCEPT, "*/*")
            .header("git-protocol", "version=2");
        if let Some(content) = &asked.content {
            request = request.header(header::CONTENT_TYPE, content);
        }
        if self.logs_in && self.may_log_in() {
            request = request.header(header::AUTHORIZATION, self.authorization()?);
        }
        let words = Words::new(asked.words.to_vec(), self.progress.clone());
        let request = request.body(words).map_err(|error| Fault::Unusable(error.to_string()))?;
        self.client.ask(&self.address, request, &self.progress).await
    }

    /// Whether there is somebody to log in as, here.
    fn may_log_in(&self) -> bool {
        let HttpAddress { encrypted, host, port, .. } = &self.address;
        let own = &self.settings.address;
        self.settings.login.is_some()
            && (encrypted, host, port) == (&own.encrypted, &own.host, &own.port)
    }

    fn authorization(&self) -> Result<HeaderValue, Fault> {
        let login = self.settings.login.as_ref();
        let text = login.map(|Login { user, password }| format!("{user}:{password}"));
        let text = format!("Basic {}", BASE64_STANDARD.encode(text.unwrap_or_default()));
        let mut value =
            HeaderValue::from_str(&text).map_err(|error| Fault::Unusable(error.to_string()))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Asks what a service says about itself, wherever it has moved to.
    async fn discover(&mut self, service: Service) -> Result<Answer, Fault> {
        let path = format!("/info/refs?service={}", service.name());
        for _ in 0..=HOPS {
            let asked = Asked { method: Method::GET, path: &path, content: None, words: &[] };
            let answer = self.ask(&asked).await?;
            if !answer.status().is_redirection() {
                let kind = format!("application/x-{}-advertisement", service.name());
                return accepted(answer, &kind, &self.progress).await;
            }
            let to = answer.header(header::LOCATION).unwrap_or_default();
            self.address = moved(&self.address, &to, &path)?;
            self.logs_in = self.settings.eager;
            answer.pass_over(&self.progress).await;
        }
        Err(Fault::Refused("the server redirects in a circle".to_owned()))
    }
}

/// A request without what all of them have.
struct Asked<'a> {
    method: Method,
    path: &'a str,
    content: Option<String>,
    words: &'a [Bytes],
}

impl Wire for HttpWire {
    fn begin(&mut self, service: Service) -> Result<(), Fault> {
        self.end();
        self.address = self.settings.address.clone();
        self.answer = Some(Handle::current().block_on(self.discover(service))?);
        Ok(())
    }

    fn is_stateless(&self) -> bool {
        true
    }

    fn say(&mut self, service: Service, words: &[Bytes]) -> Result<(), Fault> {
        self.end();
        let path = format!("/{}", service.name());
        let content = Some(format!("application/x-{}-request", service.name()));
        let asked = Asked { method: Method::POST, path: &path, content, words };
        let kind = format!("application/x-{}-result", service.name());
        let answer = Handle::current().block_on(async {
            let answer = self.ask(&asked).await?;
            accepted(answer, &kind, &self.progress).await
        })?;
        self.answer = Some(answer);
        Ok(())
    }

    fn chunk(&mut self) -> Result<Option<Bytes>, Fault> {
        let Some(answer) = &mut self.answer else { return Ok(None) };
        Handle::current().block_on(answer.chunk(&self.progress))
    }

    fn end(&mut self) {
        if let Some(answer) = self.answer.take() {
            // What is left of it is short, and then the connection can be used again.
            Handle::current().block_on(answer.pass_over(&self.progress));
        }
    }

    fn attend(&mut self, progress: &Progress) {
        self.progress = progress.clone();
    }
}

/// An answer that is what was asked for; what the server says, if not.
async fn accepted(mut answer: Answer, kind: &str, progress: &Progress) -> Result<Answer, Fault> {
    let status = answer.status();
    if status.is_success() {
        return match answer.header(header::CONTENT_TYPE) {
            Some(found) if found == kind => Ok(answer),
            _ => Err(Fault::Unusable(
                "the server does not speak Git's smart protocol there".to_owned(),
            )),
        };
    }
    let is_text = answer.header(header::CONTENT_TYPE);
    let is_text = is_text.is_some_and(|kind| kind.starts_with("text/plain"));
    let words = if is_text { answer.words(WORDS, progress).await } else { String::new() };
    let text = match words.as_str() {
        "" => format!("the server answered {status}"),
        words => format!("the server answered {status}: {words}"),
    };
    Err(match status.as_u16() {
        401 | 403 | 404 | 407 | 410 => Fault::Refused(text),
        408 | 425 | 429 | 500..=599 => Fault::protocol(text),
        _ => Fault::Rejected(text),
    })
}

/// Where a redirect leads to.
fn moved(from: &HttpAddress, to: &str, path: &str) -> Result<HttpAddress, Fault> {
    let refused = |text: &str| Fault::Refused(format!("the server redirects {text}"));
    let base = to.strip_suffix(path).ok_or_else(|| refused("to something else"))?;
    if base.starts_with('/') && !base.starts_with("//") {
        return Ok(HttpAddress { path: base.to_owned(), ..from.clone() });
    }
    match super::settings::location(base) {
        Ok((super::settings::Location::Http(address), None)) => {
            if from.encrypted && !address.encrypted {
                return Err(refused("from https to http"));
            }
            Ok(address)
        }
        _ => Err(refused("to what is no address")),
    }
}

fn explicit_port(address: &HttpAddress) -> String {
    match (address.encrypted, address.port) {
        (true, 443) | (false, 80) => String::new(),
        (_, port) => format!(":{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_leads_to_a_repository_and_never_out_of_tls() {
        let from =
            HttpAddress { encrypted: true, host: "a".into(), port: 443, path: "/x.git".into() };
        let path = "/info/refs?service=git-upload-pack";
        let to = |base: &str| moved(&from, &format!("{base}{path}"), path);
        assert_eq!(to("/y.git").unwrap(), HttpAddress { path: "/y.git".into(), ..from.clone() });
        let other = to("https://b:8443/y").unwrap();
        assert_eq!((other.host.as_str(), other.port, other.path.as_str()), ("b", 8443, "/y"));
        for wrong in ["http://a/x", "ssh://a/x", "//b/x", "b", "https://b"] {
            assert!(matches!(to(wrong), Err(Fault::Refused(_))), "{wrong}");
        }
        assert!(moved(&from, "https://a/login", path).is_err());
    }
}
