//! Bodies of answers, which can end badly when they are told to.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use async_trait::async_trait;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// How a stream is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The answer ends in good order, as when a server shuts down.
    End,
    /// The connection is closed without the end of the answer.
    Close,
    /// The connection is reset.
    Reset,
}

/// What comes next in a body.
#[derive(Debug)]
pub(crate) enum Piece {
    Data(Bytes),
    /// A line of a watch that is no event.
    Bookmark(Bytes),
    Cut(Cut),
}

/// Where the pieces of a body come from.
///
/// Nothing is asked of it after a cut. It may be dropped at any time, when the
/// client has gone.
#[async_trait]
pub(crate) trait Source: Send {
    async fn next(&mut self) -> Piece;
}

/// Tells the socket to reset the connection instead of closing it.
pub(crate) type ResetFlag = Arc<AtomicBool>;

/// The body of an answer.
pub(crate) enum Answer {
    /// Sent with its length.
    Whole(Option<Bytes>),
    /// Sent in chunks, one a piece.
    Stream(Stream),
}

pub(crate) struct Stream {
    state: State,
    reset: ResetFlag,
}

type Turn = Pin<Box<dyn Future<Output = (Box<dyn Source>, Piece)> + Send>>;

enum State {
    Waiting(Turn),
    /// What was written before is flushed while we wait for our next turn.
    Breaking(Cut),
    Done,
}

impl Stream {
    pub(crate) fn new(source: Box<dyn Source>, reset: ResetFlag) -> Self {
        Self { state: State::Waiting(turn(source)), reset }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        match &mut self.state {
            State::Waiting(next) => {
                let (source, piece) = std::task::ready!(next.as_mut().poll(context));
                match piece {
                    Piece::Data(bytes) | Piece::Bookmark(bytes) => {
                        self.state = State::Waiting(turn(source));
                        Poll::Ready(Some(Ok(bytes)))
                    }
                    Piece::Cut(Cut::End) => {
                        self.state = State::Done;
                        Poll::Ready(None)
                    }
                    Piece::Cut(cut) => {
                        self.state = State::Breaking(cut);
                        context.waker().wake_by_ref();
                        Poll::Pending
                    }
                }
            }
            State::Breaking(cut) => {
                self.reset.store(*cut == Cut::Reset, Ordering::Relaxed);
                self.state = State::Done;
                Poll::Ready(Some(Err(io::Error::other("the sandbox was told to cut the answer"))))
            }
            State::Done => Poll::Ready(None),
        }
    }
}

fn turn(mut source: Box<dyn Source>) -> Turn {
    Box::pin(async move {
        let piece = source.next().await;
        (source, piece)
    })
}

impl Body for Answer {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream(stream) => {
                stream.poll(context).map(|piece| piece.map(|result| result.map(Frame::data)))
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

/// A body that is known whole, for those that get cut.
pub(crate) struct Once(Option<Bytes>);

impl Once {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self(Some(bytes))
    }
}

#[async_trait]
impl Source for Once {
    async fn next(&mut self) -> Piece {
        self.0.take().map_or(Piece::Cut(Cut::End), Piece::Data)
    }
}
