//! A connection that is not woken for every packet.
//!
//! A server that lists sends an object at a time, and each would wake us to
//! read a part of it: most of what a list costs the system is that. So while
//! much arrives, the socket is looked at once in a while, and what has gathered
//! there is read at once. While little arrives, the system tells us at once.

use std::{
    io::{self, Read as _, Write as _},
    net::{self, Shutdown},
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::{
    client::legacy::connect::{Connected, Connection},
    rt::TokioIo,
};
use tokio::{
    net::TcpStream,
    time::{Instant, Sleep, sleep_until},
};

/// How often a socket is looked at while much arrives. What arrives waits no
/// longer than that.
const LOOK: Duration = Duration::from_millis(1);
/// So much is read at a look. Servers send faster only for a moment.
const AT_ONCE: usize = 64 * 1024;
/// So many looks in a row that found no more than this are one too many.
const LITTLE: usize = 8 * 1024;
const IDLE_LOOKS: u32 = 4;

/// A connection to a server.
pub(super) struct Stream {
    socket: Socket,
    waits: Waits,
}

enum Socket {
    /// The system tells when something has arrived.
    Told(TokioIo<TcpStream>),
    Looked(Box<Looked>),
    /// It could not be handed from one way to the other.
    Lost,
}

/// A socket that the system does not know to be waited for.
struct Looked {
    socket: net::TcpStream,
    next: Pin<Box<Sleep>>,
    read: Box<[u8]>,
    /// What of it was not taken yet.
    from: usize,
    to: usize,
    /// How many looks in a row have found little.
    idle: u32,
}

/// How often there was nothing to read.
#[derive(Clone, Copy, Debug)]
struct Waits {
    since: Instant,
    count: u32,
}

impl Waits {
    /// So many waits within this time are too many.
    const MANY: u32 = 16;
    const WITHIN: Duration = Duration::from_millis(8);

    /// Counts one more, and says whether they are too many.
    fn one_more(&mut self, now: Instant) -> bool {
        self.count += 1;
        if self.count < Self::MANY {
            return false;
        }
        let took = now.saturating_duration_since(self.since);
        *self = Self { since: now, count: 0 };
        took < Self::WITHIN
    }
}

impl Stream {
    pub(super) fn new(socket: TokioIo<TcpStream>) -> Self {
        let waits = Waits { since: Instant::now(), count: 0 };
        Self { socket: Socket::Told(socket), waits }
    }

    /// From now on the socket is looked at; the first time soon.
    fn look(&mut self) -> io::Result<()> {
        if let Socket::Told(told) = std::mem::replace(&mut self.socket, Socket::Lost) {
            self.socket = Socket::Looked(Box::new(Looked {
                socket: told.into_inner().into_std()?,
                next: Box::pin(sleep_until(Instant::now() + LOOK)),
                read: vec![0; AT_ONCE].into_boxed_slice(),
                from: 0,
                to: 0,
                idle: 0,
            }));
        }
        Ok(())
    }

    /// From now on the system tells; also what is there already.
    fn be_told(&mut self) -> io::Result<()> {
        if let Socket::Looked(looked) = std::mem::replace(&mut self.socket, Socket::Lost) {
            self.socket = Socket::Told(TokioIo::new(TcpStream::from_std(looked.socket)?));
            self.waits = Waits { since: Instant::now(), count: 0 };
        }
        Ok(())
    }
}

impl Looked {
    /// Gives what was read and not taken; whether there was any.
    fn give(&mut self, buffer: &mut ReadBufCursor<'_>) -> bool {
        let rest = self.read.get(self.from..self.to).unwrap_or_default();
        let is_any = !rest.is_empty();
        let given = rest.get(..buffer.remaining().min(rest.len())).unwrap_or_default();
        buffer.put_slice(given);
        self.from += given.len();
        is_any
    }

    /// Waits for the next look, and reads what is there; how much, or nothing
    /// if nothing is there.
    fn poll_look(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Option<usize>>> {
        ready!(self.next.as_mut().poll(context));
        let read = match self.socket.read(&mut self.read) {
            Err(error) if is_later(&error) => None,
            read => Some(read?),
        };
        (self.from, self.to) = (0, read.unwrap_or_default());
        self.idle = if self.to < LITTLE { self.idle + 1 } else { 0 };
        // Where there was more, there is no need to wait for it.
        if self.to < self.read.len() {
            self.next.as_mut().reset(Instant::now() + LOOK);
        }
        Poll::Ready(Ok(read))
    }

    /// Whether the system should tell again, and everything was taken.
    fn is_done(&self) -> bool {
        self.idle >= IDLE_LOOKS && self.from == self.to
    }

    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.socket.write(bytes) {
            Err(error) if is_later(&error) => {
                if self.next.as_mut().poll(context).is_ready() {
                    self.next.as_mut().reset(Instant::now() + LOOK);
                    ready!(self.next.as_mut().poll(context));
                }
                Poll::Pending
            }
            written => Poll::Ready(written),
        }
    }
}

/// Whether it works when it is tried again.
fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            match &mut self.socket {
                Socket::Told(told) => {
                    // A cursor cannot be lent twice, so this way is left after a wait, not before.
                    let read = pin!(told).poll_read(context, buffer);
                    if read.is_pending() && self.waits.one_more(Instant::now()) {
                        self.look()?;
                        context.waker().wake_by_ref();
                    }
                    return read;
                }
                Socket::Looked(looked) if looked.is_done() => self.be_told()?,
                Socket::Looked(looked) => {
                    if looked.give(&mut buffer) {
                        return Poll::Ready(Ok(()));
                    }
                    // Nothing is not the end.
                    if ready!(looked.poll_look(context))? == Some(0) {
                        return Poll::Ready(Ok(()));
                    }
                }
                Socket::Lost => return Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
            }
        }
    }
}

impl Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Told(told) => pin!(told).poll_write(context, bytes),
            Socket::Looked(looked) => looked.poll_write(context, bytes),
            Socket::Lost => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Told(told) => pin!(told).poll_flush(context),
            // Sockets keep nothing back.
            Socket::Looked(_) | Socket::Lost => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Told(told) => pin!(told).poll_shutdown(context),
            Socket::Looked(looked) => Poll::Ready(looked.socket.shutdown(Shutdown::Write)),
            Socket::Lost => Poll::Ready(Ok(())),
        }
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        match &self.socket {
            Socket::Told(told) => told.connected(),
            // Addresses, which nobody asks for.
            Socket::Looked(_) | Socket::Lost => Connected::new(),
        }
    }
}

#[cfg(test)]
mod tests;
