//! Metrics, for whoever may read them.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use http::{
    HeaderValue, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE},
    request::Parts,
};
use kollect_sinks::Clock;
use kube::Client;

use super::{
    Answer, Page, Port,
    certificates::Certificates,
    reviews::{Reviews, Verdict},
    serve, text,
};

/// Makes the text that `/metrics` shows.
pub type MetricsText = Arc<dyn Fn() -> String + Send + Sync>;

/// What both formats of that text are called.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The page with the metrics.
pub struct MetricsPage {
    text: MetricsText,
    /// Who is let in, if not everybody.
    reviews: Option<Reviews>,
}

impl fmt::Debug for MetricsPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsPage").field("reviews", &self.reviews).finish_non_exhaustive()
    }
}

impl MetricsPage {
    /// For everybody.
    pub fn open(text: MetricsText) -> Self {
        Self { text, reviews: None }
    }

    /// For those who show a token of somebody who may `get` the path.
    pub fn guarded(text: MetricsText, client: Client, clock: Arc<dyn Clock>) -> Self {
        Self { text, reviews: Some(Reviews::new(client, clock)) }
    }

    /// Answers `/metrics` for as long as it is polled, over TLS if there are
    /// certificates.
    pub async fn serve(self, port: Port, certificates: Option<Certificates>) {
        serve(port, certificates, Arc::new(self)).await;
    }

    /// Why somebody is turned away.
    async fn refusal(&self, asked: &Parts) -> Option<Answer> {
        let reviews = self.reviews.as_ref()?;
        let unknown = || {
            let mut answer = text(StatusCode::UNAUTHORIZED, "Unauthorized\n");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            answer
        };
        let Some(token) = token(asked) else { return Some(unknown()) };
        match reviews.judge(token).await {
            Ok(Verdict::Welcome) => None,
            Ok(Verdict::Unknown) => Some(unknown()),
            Ok(Verdict::Forbidden) => Some(text(StatusCode::FORBIDDEN, "Forbidden\n")),
            Err(_) => {
                let said = "the API server could not be asked\n";
                Some(text(StatusCode::INTERNAL_SERVER_ERROR, said))
            }
        }
    }
}

#[async_trait]
impl Page for MetricsPage {
    async fn answer(&self, asked: &Parts) -> Answer {
        if let Some(refusal) = self.refusal(asked).await {
            return refusal;
        }
        if asked.uri.path() != "/metrics" {
            return text(StatusCode::NOT_FOUND, "there is /metrics\n");
        }
        let body = (self.text)();
        let format = if body.ends_with("# EOF\n") { OPEN_METRICS } else { PROMETHEUS };
        let mut answer = text(StatusCode::OK, body);
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(format));
        answer
    }
}

/// The token that somebody shows.
fn token(asked: &Parts) -> Option<&str> {
    let (scheme, token) = asked.headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
