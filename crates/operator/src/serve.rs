//! The ports that the operator serves: health for the cluster, metrics for
//! whoever may read them.
//!
//! HTTP/1.1, one request a connection: those who ask come seldom, and a
//! connection that nobody keeps cannot be held against us.

pub(crate) mod address;
pub(crate) mod certificates;
pub(crate) mod health;
pub(crate) mod metrics;
mod reviews;

use std::{
    convert::Infallible,
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode, header::CONTENT_TYPE, request::Parts,
};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use self::{address::Address, certificates::Certificates};

/// So many are served at once; others wait.
const MOST: usize = 128;
/// Whoever takes longer than this has gone.
const LONGEST: Duration = Duration::from_secs(30);
/// After a connection that could not be taken.
const BREATH: Duration = Duration::from_millis(10);

/// A port that is ours.
#[derive(Debug)]
pub struct Port {
    listener: TcpListener,
    address: SocketAddr,
}

impl Port {
    /// Takes the port, if one is wanted.
    pub async fn open(address: Address) -> io::Result<Option<Self>> {
        let listener = match address {
            Address::Nowhere => return Ok(None),
            Address::At(address) => TcpListener::bind(address).await?,
            Address::Everywhere(port) => {
                match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
                    // Not every machine has the newer protocol.
                    Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
                        TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await?
                    }
                    taken => taken?,
                }
            }
        };
        let address = listener.local_addr()?;
        Ok(Some(Self { listener, address }))
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// What is sent back.
type Answer = Response<Full<Bytes>>;

/// Answers requests; their bodies are not read.
#[async_trait]
trait Page: Send + Sync + 'static {
    async fn answer(&self, asked: &Parts) -> Answer;
}

/// Serves for as long as it is polled.
async fn serve(port: Port, certificates: Option<Certificates>, page: Arc<dyn Page>) {
    let places = Arc::new(Semaphore::new(MOST));
    let mut connections = JoinSet::new();
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        // The reasons that there are, as too many open files, pass.
        let Ok((stream, _)) = port.listener.accept().await else {
            sleep(BREATH).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let tls = certificates.as_ref().map(Certificates::current);
        let page = Arc::clone(&page);
        connections.spawn(async move {
            let _place = place;
            // Whoever leaves in the middle, or does not speak TLS, gets nothing.
            drop(timeout(LONGEST, connection(stream, tls, page)).await);
        });
    }
}

async fn connection(
    stream: TcpStream,
    tls: Option<Arc<rustls::ServerConfig>>,
    page: Arc<dyn Page>,
) -> io::Result<()> {
    match tls {
        None => requests(stream, page).await,
        Some(config) => requests(TlsAcceptor::from(config).accept(stream).await?, page).await,
    }
}

async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    page: Arc<dyn Page>,
) -> io::Result<()> {
    let service = service_fn(move |request: Request<Incoming>| {
        let page = Arc::clone(&page);
        async move {
            let (asked, _) = request.into_parts();
            Ok::<_, Infallible>(if [Method::GET, Method::HEAD].contains(&asked.method) {
                page.answer(&asked).await
            } else {
                text(StatusCode::METHOD_NOT_ALLOWED, "only GET\n")
            })
        }
    });
    http1::Builder::new()
        .keep_alive(false)
        // The whole of it has its time.
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(stream), service)
        .await
        .map_err(io::Error::other)
}

/// An answer for people.
fn text(status: StatusCode, body: impl Into<String>) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body.into())));
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
