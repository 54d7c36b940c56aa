//! One question to the API server: the request, the wait, and what a refusal
//! means.

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    time::Duration,
};

use http::{
    HeaderMap, Request,
    header::{ACCEPT, ACCEPT_ENCODING, RETRY_AFTER},
};
use http_body_util::BodyExt as _;
use kube::{
    Client,
    client::{AuthError, Body},
};
use serde::Deserialize;
use tokio::time::{sleep, timeout};

use crate::{connect::cause::Cause, list::error::ListError, split::SplitError};

/// How long the server may send nothing. It is not for the whole answer: a long
/// list over a slow link is no failure.
pub(crate) const SILENCE: Duration = Duration::from_secs(30);
/// How often one request is sent at most.
const TRIES: u32 = 5;
/// The wait before the second try; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Who asks us to wait for longer than this gets an error to its name instead.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// More of an error's text than anybody reads.
const LARGEST_REFUSAL: usize = 64 * 1024;

/// A request to come, and what is to be called by name when it fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    /// Path and query, encoded.
    pub(crate) uri: &'a str,
    pub(crate) accept: &'static str,
    /// As in "pods in namespace shop".
    pub(crate) what: &'a str,
}

/// A failure, with what the server said about how to go on.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) error: ListError,
    /// How long the server asks us to wait.
    pub(crate) retry_after: Option<Duration>,
    /// With what a list whose version is gone may go on, inconsistently.
    pub(crate) continuation: Option<String>,
    /// The version that was asked for is ahead of the server.
    pub(crate) ahead: bool,
}

impl From<ListError> for Refusal {
    fn from(error: ListError) -> Self {
        Self { error, retry_after: None, continuation: None, ahead: false }
    }
}

impl Ask<'_> {
    /// Sends the request once; the answer is good if there is one.
    pub(crate) async fn send(&self, client: &Client) -> Result<Answer<'_>, Refusal> {
        let request = Request::get(self.uri)
            .header(ACCEPT, self.accept)
            // The link to the server is mostly short; compressing costs it more than sending.
            .header(ACCEPT_ENCODING, "identity")
            .body(Body::empty())
            .map_err(|error| self.unreachable(kube::Error::HttpError(error)))?;
        let sent = timeout(SILENCE, client.send(request)).await;
        let response =
            sent.map_err(|_| self.stalled(SILENCE))?.map_err(|error| self.unreachable(error))?;
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let mut answer = Answer { ask: self, body: response.into_body() };
        if status.is_success() {
            return Ok(answer);
        }
        let body = answer.gather(LARGEST_REFUSAL).await.unwrap_or_default();
        let mut refusal = refusal(status.as_u16(), &body, self.what);
        refusal.retry_after = retry_after.or(refusal.retry_after);
        Err(refusal)
    }

    fn stalled(&self, silence: Duration) -> ListError {
        ListError::Stalled { what: self.what.to_owned(), seconds: silence.as_secs() }
    }

    fn unreachable(&self, error: kube::Error) -> ListError {
        let what = self.what.to_owned();
        let source = match error {
            kube::Error::Auth(error) => Box::new(error),
            // Their own texts repeat the cause, which stands in the chain anyway.
            kube::Error::Service(source) => source,
            kube::Error::HyperError(error) => Box::new(error),
            error => Box::new(error),
        };
        match source.downcast_ref::<AuthError>() {
            Some(error) => ListError::NoCredentials { what, source: Cause::of_credentials(error) },
            None => ListError::Unreachable { what, source },
        }
    }

    pub(crate) fn malformed(&self, source: SplitError) -> ListError {
        ListError::Malformed { what: self.what.to_owned(), source }
    }
}

/// The bytes of a good answer, as they come.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    ask: &'a Ask<'a>,
    body: Body,
}

impl Answer<'_> {
    /// The next bytes; nothing at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, ListError> {
        self.chunk_within(SILENCE).await
    }

    /// The same, from a server that may be silent for longer or shorter.
    pub(crate) async fn chunk_within(
        &mut self,
        silence: Duration,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, ListError> {
        loop {
            let frame = timeout(silence, self.body.frame()).await;
            let frame = frame.map_err(|_| self.ask.stalled(silence))?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| self.ask.unreachable(error))?;
            // Other frames are trailers, which say nothing here.
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
    }

    /// All bytes, but not many more than a limit.
    pub(crate) async fn gather(&mut self, limit: usize) -> Result<Vec<u8>, ListError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            bytes.extend_from_slice(chunk.as_ref());
            if bytes.len() > limit {
                break;
            }
        }
        Ok(bytes)
    }
}

/// How often and when one request is repeated.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    tried: u32,
}

impl Patience {
    /// Waits before the next try, or gives the refusal back if there is none.
    pub(crate) async fn wait(&mut self, refusal: Refusal) -> Result<(), Refusal> {
        self.tried += 1;
        let pause = pause(self.tried, refusal.retry_after, chance());
        if !refusal.error.may_pass() || self.tried >= TRIES || pause > LONGEST_PAUSE {
            return Err(refusal);
        }
        sleep(pause).await;
        Ok(())
    }
}

/// How long to wait after some tries; `chance` spreads those who failed together.
fn pause(tried: u32, retry_after: Option<Duration>, chance: f64) -> Duration {
    let own = FIRST_PAUSE * 2_u32.saturating_pow(tried.saturating_sub(1));
    let own = own.mul_f64(0.5 + chance / 2.0);
    // A server that names a time gets at least that, and not everybody at once.
    retry_after.map_or(own, |asked| asked + own)
}

/// A number from 0 to 1, another one each time.
pub(crate) fn chance() -> f64 {
    let random = RandomState::new().build_hasher().finish() >> 32;
    u32::try_from(random).map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX))
}

/// What a server says instead of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    code: Option<u16>,
    message: Option<String>,
    metadata: Option<StatusMeta>,
    details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
struct StatusMeta {
    #[serde(rename = "continue")]
    next: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Details {
    causes: Option<Vec<StatusCause>>,
    retry_after_seconds: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct StatusCause {
    reason: Option<String>,
}

/// Sorts an answer that is no list.
fn refusal(code: u16, body: &[u8], what: &str) -> Refusal {
    let status: Status = serde_json::from_slice(body).unwrap_or_else(|_| Status {
        // Proxies and old handlers answer in plain text.
        message: Some(String::from_utf8_lossy(body).chars().take(200).collect()),
        ..Status::default()
    });
    let Status { code: _, message, metadata, details } = status;
    let Details { causes, retry_after_seconds } = details.unwrap_or_default();
    let ahead = causes
        .unwrap_or_default()
        .iter()
        .any(|cause| cause.reason.as_deref() == Some("ResourceVersionTooLarge"));
    let what = what.to_owned();
    let message = message.unwrap_or_default().trim().to_owned();
    let error = match code {
        401 => ListError::Unauthorized { what, message },
        403 => ListError::Forbidden { what, message },
        404 => ListError::NotServed { what },
        410 => ListError::TooOld { what },
        429 => ListError::Throttled { what },
        code => ListError::Server { what, code, message },
    };
    Refusal {
        error,
        retry_after: retry_after_seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs),
        continuation: metadata.and_then(|meta| meta.next).filter(|next| !next.is_empty()),
        ahead,
    }
}

/// Sorts a refusal that came within a good answer, where its code is in the text.
pub(crate) fn refusal_within(body: &[u8], what: &str) -> Refusal {
    let status: Status = serde_json::from_slice(body).unwrap_or_default();
    refusal(status.code.unwrap_or(500), body, what)
}

/// The wait that a header asks for; only seconds are used by API servers.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

/// Writes a text as one part of a path, or as one value of a query.
pub(crate) fn encoded(text: &str) -> String {
    use std::fmt::Write as _;

    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else if write!(out, "%{byte:02X}").is_err() {
            // A text in memory takes everything.
            return out;
        }
    }
    out
}

/// An error with its causes, for whoever outlives it.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: u16, body: &str) -> String {
        refusal(code, body.as_bytes(), "pods in namespace shop").error.to_string()
    }

    #[test]
    fn codes_have_meanings() {
        let body = r#"{"kind":"Status","metadata":{},"message":"pods is forbidden","code":403}"#;
        for (code, expected) in [
            (403, "not allowed to list pods in namespace shop: pods is forbidden"),
            (404, "the server does not serve pods in namespace shop"),
            (410, "the server no longer has the version to list pods in namespace shop from"),
            (429, "the server is too busy to list pods in namespace shop"),
            (
                500,
                "the server answered 500 when asked to list pods in namespace shop: \
                 pods is forbidden",
            ),
        ] {
            assert_eq!(said(code, body), expected);
        }
        let credentials = "the server does not accept our credentials to list \
                           pods in namespace shop: Unauthorized";
        assert_eq!(said(401, r#"{"message":"Unauthorized"}"#), credentials);
    }

    #[test]
    fn a_refusal_may_be_plain_text_or_nothing() {
        let plain = "the server answered 503 when asked to list pods in namespace shop: ";
        assert_eq!(said(503, "service unavailable\n"), format!("{plain}service unavailable"));
        assert_eq!(said(503, ""), plain);
        assert!(said(502, &"<p>".repeat(1000)).len() < 300);
    }

    #[test]
    fn a_lost_history_names_a_way_to_go_on() {
        let body = r#"{"kind":"Status","metadata":{"continue":"rest"},"code":410,"details":null}"#;
        assert_eq!(refusal(410, body.as_bytes(), "pods").continuation.as_deref(), Some("rest"));
        let body = r#"{"kind":"Status","metadata":{"continue":""},"code":410}"#;
        assert_eq!(refusal(410, body.as_bytes(), "pods").continuation, None);
    }

    #[test]
    fn a_version_that_is_ahead_is_known_by_its_cause() {
        let body = r#"{"kind":"Status","metadata":{},"message":"Too large resource version: 9",
            "reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge",
            "message":"Too large resource version"}],"retryAfterSeconds":1},"code":504}"#;
        let refusal = refusal(504, body.as_bytes(), "pods");
        assert!(refusal.ahead);
        assert_eq!(refusal.retry_after, Some(Duration::from_secs(1)));
    }

    #[test]
    fn waits_grow_are_spread_and_are_never_shorter_than_asked() {
        let millis = |tried, chance| pause(tried, None, chance).as_millis();
        assert_eq!([millis(1, 0.0), millis(1, 1.0)], [100, 200]);
        assert_eq!([millis(4, 0.0), millis(4, 1.0)], [800, 1600]);
        let asked = Duration::from_secs(7);
        assert!(pause(1, Some(asked), 0.0) > asked);
        let chances: Vec<_> = (0..100).map(|_| chance()).collect();
        assert!(chances.iter().all(|chance| (0.0..=1.0).contains(chance)));
        assert!(chances.iter().any(|chance| *chance < 0.4));
        assert!(chances.iter().any(|chance| *chance > 0.6));
    }

    fn busy(seconds: u64) -> Refusal {
        let mut refusal = refusal(429, b"", "pods");
        refusal.retry_after = Some(Duration::from_secs(seconds));
        refusal
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends_after_some_tries() {
        let mut patience = Patience::default();
        let start = tokio::time::Instant::now();
        for _ in 1..TRIES {
            patience.wait(busy(2)).await.unwrap();
        }
        assert!(start.elapsed() > Duration::from_secs(8));
        assert!(patience.wait(busy(2)).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_in_vain() {
        assert!(Patience::default().wait(busy(3600)).await.is_err());
        assert!(Patience::default().wait(refusal(403, b"", "pods")).await.is_err());
        assert!(Patience::default().wait(refusal(500, b"", "pods")).await.is_ok());
    }

    #[test]
    fn whatever_means_something_in_an_address_is_encoded() {
        assert_eq!(encoded("a-b.c_d~9"), "a-b.c_d~9");
        assert_eq!(encoded("a/b?c&d=e f%é"), "a%2Fb%3Fc%26d%3De%20f%25%C3%A9");
    }
}
