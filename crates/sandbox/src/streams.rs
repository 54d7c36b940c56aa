//! Faults of bodies, each wrapped around what it spoils.

use std::{io::Write as _, mem, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use tokio::time::sleep;

use crate::{
    body::{Cut, Piece, Source},
    faults::Fault,
    status::Status,
};

/// Wraps a body in the faults that are about bodies.
pub(crate) fn spoil(mut source: Box<dyn Source>, faults: &[Fault]) -> Box<dyn Source> {
    for fault in faults {
        source = match fault {
            Fault::CutAfterBytes { bytes, how } => {
                Box::new(CutAfterBytes { inner: source, left: *bytes, how: *how })
            }
            Fault::CutAfterEvents { events, how } => after(source, *events, Then::Cut(*how)),
            Fault::SilenceAfterEvents(events) => after(source, *events, Then::Silence),
            Fault::ErrorAfterEvents { events, code } => {
                after(source, *events, error(&Status::of_code(*code)))
            }
            Fault::BytesAfterEvents { events, bytes } => {
                after(source, *events, Then::Say(Bytes::from(bytes.clone()), None))
            }
            Fault::HalfAnEventAfterEvents { events, how } => {
                after(source, *events, Then::Half(*how))
            }
            Fault::ExpireWatch => {
                after(source, 0, error(&Status::new(410, "Expired", "too old resource version")))
            }
            Fault::WithholdBookmarks => Box::new(WithoutBookmarks(source)),
            Fault::Drip { bytes, pause } => {
                let (size, pause) = ((*bytes).max(1), *pause);
                Box::new(Drip { inner: source, size, pause, left: Bytes::new() })
            }
            Fault::Gzip => Box::new(Gzip::new(source)),
            Fault::Latency(_)
            | Fault::Status(_)
            | Fault::TooManyRequests { .. }
            | Fault::Refuse
            | Fault::ExpireContinue
            | Fault::RefuseWatchList => source,
        };
    }
    source
}

/// Whether a body that is known whole must be sent in pieces.
pub(crate) fn any(faults: &[Fault]) -> bool {
    let is_one = |fault: &Fault| {
        matches!(fault, Fault::CutAfterBytes { .. } | Fault::Drip { .. } | Fault::Gzip)
    };
    faults.iter().any(is_one)
}

/// Whether the fault is about the events of a watch: other bodies have none.
pub(crate) fn is_of_watch(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::CutAfterEvents { .. }
            | Fault::SilenceAfterEvents(_)
            | Fault::ErrorAfterEvents { .. }
            | Fault::BytesAfterEvents { .. }
            | Fault::HalfAnEventAfterEvents { .. }
            | Fault::ExpireWatch
            | Fault::WithholdBookmarks
    )
}

fn error(status: &Status) -> Then {
    Then::Say(Bytes::from(status.line()), Some(Cut::End))
}

fn after(inner: Box<dyn Source>, left: usize, then: Then) -> Box<dyn Source> {
    Box::new(AfterEvents { inner, left, then })
}

struct CutAfterBytes {
    inner: Box<dyn Source>,
    left: usize,
    how: Cut,
}

#[async_trait]
impl Source for CutAfterBytes {
    async fn next(&mut self) -> Piece {
        if self.left == 0 {
            return Piece::Cut(self.how);
        }
        match self.inner.next().await {
            Piece::Data(mut bytes) | Piece::Bookmark(mut bytes) => {
                bytes.truncate(self.left);
                self.left -= bytes.len();
                Piece::Data(bytes)
            }
            Piece::Cut(cut) => Piece::Cut(cut),
        }
    }
}

struct AfterEvents {
    inner: Box<dyn Source>,
    left: usize,
    then: Then,
}

/// What happens after the last good event.
enum Then {
    Cut(Cut),
    Silence,
    /// Something is said, and the stream goes on unless it is cut.
    Say(Bytes, Option<Cut>),
    /// Half of the next event, and a cut.
    Half(Cut),
    GoOn,
}

#[async_trait]
impl Source for AfterEvents {
    async fn next(&mut self) -> Piece {
        if self.left > 0 {
            let piece = self.inner.next().await;
            if matches!(piece, Piece::Data(_)) {
                self.left -= 1;
            }
            return piece;
        }
        match mem::replace(&mut self.then, Then::GoOn) {
            Then::Cut(how) => Piece::Cut(how),
            Then::Silence => std::future::pending().await,
            Then::Say(bytes, how) => {
                self.then = how.map_or(Then::GoOn, Then::Cut);
                Piece::Data(bytes)
            }
            Then::Half(how) => loop {
                match self.inner.next().await {
                    Piece::Data(mut bytes) => {
                        bytes.truncate(bytes.len() / 2);
                        self.then = Then::Cut(how);
                        return Piece::Data(bytes);
                    }
                    Piece::Bookmark(_) => {}
                    Piece::Cut(cut) => return Piece::Cut(cut),
                }
            },
            Then::GoOn => self.inner.next().await,
        }
    }
}

struct Drip {
    inner: Box<dyn Source>,
    size: usize,
    pause: Duration,
    /// Of the piece that is being sent.
    left: Bytes,
}

#[async_trait]
impl Source for Drip {
    async fn next(&mut self) -> Piece {
        if self.left.is_empty() {
            match self.inner.next().await {
                Piece::Data(bytes) | Piece::Bookmark(bytes) => self.left = bytes,
                Piece::Cut(cut) => return Piece::Cut(cut),
            }
        }
        sleep(self.pause).await;
        Piece::Data(self.left.split_to(self.size.min(self.left.len())))
    }
}

struct WithoutBookmarks(Box<dyn Source>);

#[async_trait]
impl Source for WithoutBookmarks {
    async fn next(&mut self) -> Piece {
        loop {
            match self.0.next().await {
                Piece::Bookmark(_) => {}
                piece => return piece,
            }
        }
    }
}

/// Compresses so that each piece can be read when it arrives.
struct Gzip {
    inner: Box<dyn Source>,
    /// Gone after the end has been written.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl Gzip {
    fn new(inner: Box<dyn Source>) -> Self {
        Self { inner, encoder: Some(GzEncoder::new(Vec::new(), Compression::fast())) }
    }
}

#[async_trait]
impl Source for Gzip {
    async fn next(&mut self) -> Piece {
        let Some(encoder) = &mut self.encoder else { return Piece::Cut(Cut::End) };
        match self.inner.next().await {
            Piece::Data(bytes) | Piece::Bookmark(bytes) => {
                let written = encoder.write_all(&bytes).and_then(|()| encoder.flush());
                match written {
                    Ok(()) => Piece::Data(Bytes::from(mem::take(encoder.get_mut()))),
                    Err(_) => Piece::Cut(Cut::Close),
                }
            }
            Piece::Cut(Cut::End) => {
                let rest = self.encoder.take().and_then(|encoder| encoder.finish().ok());
                Piece::Data(Bytes::from(rest.unwrap_or_default()))
            }
            Piece::Cut(cut) => Piece::Cut(cut),
        }
    }
}
