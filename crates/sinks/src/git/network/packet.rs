//! Packets: how Git cuts what it says into lines, and tells data from talk.

use bytes::{Buf as _, Bytes, BytesMut};

use super::wire::Wire;
use crate::git::{error::Fault, pack::spool::Spool};

/// No packet is longer.
const LONGEST: usize = 65_520;

/// So much of what a server says to people is kept.
const WORDS: usize = 4096;

/// A piece of what is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Packet {
    Line(Bytes),
    /// The end of a message.
    Flush,
    /// The end of a part of it.
    Part,
    /// There is nothing more.
    End,
}

/// Cuts what comes over a wire into packets.
pub(super) struct Packets<'a> {
    wire: &'a mut dyn Wire,
    buffer: BytesMut,
}

impl<'a> Packets<'a> {
    pub(super) fn new(wire: &'a mut dyn Wire) -> Self {
        Self { wire, buffer: BytesMut::new() }
    }

    pub(super) fn next(&mut self) -> Result<Packet, Fault> {
        if !self.fill(4)? {
            return if self.buffer.is_empty() {
                Ok(Packet::End)
            } else {
                Err(Fault::protocol("the answer ends in the middle of a packet"))
            };
        }
        let length = self.buffer.get(..4).and_then(|digits| str::from_utf8(digits).ok());
        let length = length.and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let length = length.filter(|length| *length <= LONGEST && *length != 3);
        let length = length.ok_or_else(|| Fault::protocol("the answer is no packet"))?;
        if length < 4 {
            self.buffer.advance(4);
            return Ok(if length == 0 { Packet::Flush } else { Packet::Part });
        }
        if !self.fill(length)? {
            return Err(Fault::protocol("the answer ends in the middle of a packet"));
        }
        self.buffer.advance(4);
        let line = self.buffer.split_to(length - 4).freeze();
        match line.strip_prefix(b"ERR ") {
            Some(words) => Err(Fault::Refused(words_of(words))),
            None => Ok(Packet::Line(line)),
        }
    }

    /// A line without its end; nothing at the end of a message or of a part.
    pub(super) fn line(&mut self) -> Result<Option<Bytes>, Fault> {
        Ok(match self.next()? {
            Packet::Line(line) if line.ends_with(b"\n") => Some(line.slice(..line.len() - 1)),
            Packet::Line(line) => Some(line),
            Packet::Flush | Packet::Part | Packet::End => None,
        })
    }

    /// Hands over data that comes mixed with words for people, up to the end
    /// of the message; answers with the words.
    pub(super) fn demultiplexed(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<String, Fault> {
        let mut words = Vec::new();
        loop {
            let line = match self.next()? {
                Packet::Line(line) => line,
                Packet::Flush | Packet::Part => return Ok(words_of(&words)),
                Packet::End => return Err(Fault::protocol("the answer ends too early")),
            };
            match line.split_first() {
                Some((1, data)) => take(data)?,
                Some((2, said)) => {
                    let room = WORDS.saturating_sub(words.len());
                    words.extend_from_slice(said.get(..room.min(said.len())).unwrap_or_default());
                }
                Some((3, said)) => return Err(Fault::protocol(words_of(said))),
                Some(_) => return Err(Fault::protocol("the answer is in an unknown band")),
                None => {}
            }
        }
    }

    /// The pack that follows.
    pub(super) fn pack(&mut self) -> Result<Spool, Fault> {
        let mut spool = Spool::new();
        self.demultiplexed(|data| Ok(spool.push(data)?))?;
        Ok(spool)
    }

    fn fill(&mut self, length: usize) -> Result<bool, Fault> {
        while self.buffer.len() < length {
            match self.wire.chunk()? {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// Writes one packet.
pub(super) fn write(line: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{:04x}", line.len() + 4).as_bytes());
    out.extend_from_slice(line);
}

pub(super) const FLUSH: &[u8] = b"0000";
pub(super) const PART: &[u8] = b"0001";

/// What was said to people, in one line.
pub(in crate::git) fn words_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    let visible = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
    lines.map(visible).collect::<Vec<_>>().join("; ")
}
