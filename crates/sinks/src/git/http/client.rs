//! One connection at a time to one server.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderName, Request, Response, StatusCode};
use hyper::{
    body::{Body, Frame, Incoming, SizeHint},
    client::conn::http1::{SendRequest, handshake},
};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::TlsConnector;

use crate::{
    git::{
        error::Fault,
        network::{packet::words_of, wire::Service},
        patience::heard,
        settings::HttpAddress,
    },
    guard::Guard,
    progress::Progress,
};

/// A handshake that takes longer does not end.
const HANDSHAKE: Duration = Duration::from_secs(15);

/// How much goes out before somebody is told that it has.
const PIECE: usize = 64 * 1024;

/// What is left of an answer is read so far to keep the connection.
const REST: u64 = 64 * 1024;

/// Asks one server after the other, and keeps the last connection.
pub(super) struct Client {
    guard: Guard,
    tls: TlsConnector,
    kept: Option<Kept>,
}

struct Kept {
    /// Whom it leads to.
    server: (bool, String, u16),
    sender: SendRequest<Words>,
    /// Moves the bytes.
    _driver: JoinSet<()>,
}

impl Client {
    pub(super) fn new(guard: Guard, tls: Arc<ClientConfig>) -> Self {
        Self { guard, tls: TlsConnector::from(tls), kept: None }
    }

    /// Asks. What was kept and turns out to be closed is opened once more,
    /// unless something may have been heard.
    pub(super) async fn ask(
        &mut self,
        address: &HttpAddress,
        request: Request<Words>,
        progress: &Progress,
    ) -> Result<Answer, Fault> {
        let server = (address.encrypted, address.host.clone(), address.port);
        if let Some(mut kept) = self.kept.take().filter(|kept| kept.server == server)
            && kept.sender.ready().await.is_ok()
        {
            let (parts, words) = request.into_parts();
            let copy = Request::from_parts(parts.clone(), words.again());
            // Whoever reads twice does no harm.
            let is_safe = !parts.uri.path().ends_with(Service::Receive.name());
            let again = Request::from_parts(parts, words);
            match heard(kept.sender.try_send_request(copy), progress).await? {
                Ok(response) => {
                    self.kept = Some(kept);
                    return Ok(Answer { response });
                }
                Err(mut error) => {
                    if !is_safe && error.take_message().is_none() {
                        return Err(lost(error.into_error()));
                    }
                }
            }
            return self.ask_anew(address, again, (server, progress)).await;
        }
        self.ask_anew(address, request, (server, progress)).await
    }

    async fn ask_anew(
        &mut self,
        address: &HttpAddress,
        request: Request<Words>,
        (server, progress): ((bool, String, u16), &Progress),
    ) -> Result<Answer, Fault> {
        let (mut sender, driver) = self.connect(address).await?;
        let response = heard(sender.send_request(request), progress).await?.map_err(lost)?;
        self.kept = Some(Kept { server, sender, _driver: driver });
        Ok(Answer { response })
    }

    async fn connect(
        &self,
        address: &HttpAddress,
    ) -> Result<(SendRequest<Words>, JoinSet<()>), Fault> {
        let stream = self.guard.dial(&address.host, address.port).await?;
        if !address.encrypted {
            return talk(stream).await;
        }
        let name = ServerName::try_from(address.host.clone())
            .map_err(|_| Fault::Unusable("the host cannot be in a certificate".to_owned()))?;
        match timeout(HANDSHAKE, self.tls.connect(name, stream)).await {
            Ok(Ok(stream)) => talk(stream).await,
            Ok(Err(error)) => Err(of_handshake(error)),
            Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
        }
    }
}

/// A certificate that is not trusted stays so until somebody changes it.
fn of_handshake(error: io::Error) -> Fault {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match of_tls {
        Some(rustls::Error::InvalidCertificate(_)) => Fault::Refused(error.to_string()),
        _ => Fault::Io(error),
    }
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<(SendRequest<Words>, JoinSet<()>), Fault> {
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(lost)?;
    let mut driver = JoinSet::new();
    driver.spawn(async move {
        // Whoever waits for an answer is told by the sender's side.
        drop(connection.await);
    });
    Ok((sender, driver))
}

fn lost(error: hyper::Error) -> Fault {
    Fault::Io(io::Error::new(io::ErrorKind::ConnectionAborted, error))
}

/// What a server answers.
pub(super) struct Answer {
    response: Response<Incoming>,
}

impl Answer {
    pub(super) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(super) fn header(&self, name: HeaderName) -> Option<String> {
        self.response.headers().get(name)?.to_str().ok().map(str::to_owned)
    }

    /// The next piece; nothing at the end.
    pub(super) async fn chunk(&mut self, progress: &Progress) -> Result<Option<Bytes>, Fault> {
        loop {
            let body = Pin::new(self.response.body_mut());
            let frame = heard(Next(body), progress).await?;
            let Some(frame) = frame.transpose().map_err(lost)? else { return Ok(None) };
            if let Ok(data) = frame.into_data() {
                progress.accepted(data.len() as u64);
                return Ok(Some(data));
            }
        }
    }

    /// The beginning of it, in one line.
    pub(super) async fn words(&mut self, most: usize, progress: &Progress) -> String {
        let mut bytes = Vec::new();
        while bytes.len() < most {
            match self.chunk(progress).await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                _ => break,
            }
        }
        bytes.truncate(most);
        words_of(&bytes)
    }

    /// Reads to the end, if that is near.
    pub(super) async fn pass_over(mut self, progress: &Progress) {
        let mut passed = 0;
        while passed < REST {
            match self.chunk(progress).await {
                Ok(Some(chunk)) => passed += chunk.len() as u64,
                _ => return,
            }
        }
    }
}

/// The next frame of a body.
struct Next<'a>(Pin<&'a mut Incoming>);

impl Future for Next<'_> {
    type Output = Option<Result<Frame<Bytes>, hyper::Error>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll_frame(context)
    }
}

/// What is sent. Each piece that goes out shows that we are alive.
pub(super) struct Words {
    pieces: Vec<Bytes>,
    at: usize,
    progress: Progress,
}

impl Words {
    pub(super) fn new(pieces: Vec<Bytes>, progress: Progress) -> Self {
        Self { pieces, at: 0, progress }
    }

    fn again(&self) -> Self {
        Self::new(self.pieces.clone(), self.progress.clone())
    }
}

impl Body for Words {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let at = self.at;
        let Some(piece) = self.pieces.get_mut(at) else { return Poll::Ready(None) };
        let next = piece.split_to(piece.len().min(PIECE));
        if piece.is_empty() {
            self.at += 1;
        }
        self.progress.accepted(next.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(next))))
    }

    fn is_end_stream(&self) -> bool {
        self.at >= self.pieces.len()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.pieces.iter().map(|piece| piece.len() as u64).sum())
    }
}
