//! Decompression, object by object.

use std::io;

use flate2::{Decompress, FlushDecompress, Status};

use super::spool::ReadAt;

const PIECE: usize = 16 * 1024;

/// Decompresses one object after the other without new memory for each.
pub(in crate::git) struct Inflate {
    state: Decompress,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Inflate {
    pub(in crate::git) fn new() -> Self {
        Self { state: Decompress::new(true), input: vec![0; PIECE], output: vec![0; PIECE] }
    }

    /// Hands over what begins at an offset, which must have this length, piece
    /// by piece; answers where it ends.
    pub(in crate::git) fn each(
        &mut self,
        source: &dyn ReadAt,
        offset: u64,
        length: u64,
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<u64> {
        self.state.reset(true);
        let (mut at, mut filled, mut used) = (offset, 0, 0);
        loop {
            if used == filled {
                filled = source.read_at(&mut self.input, at)?;
                (at, used) = (at + filled as u64, 0);
            }
            let input = self.input.get(used..filled).unwrap_or_default();
            let (in_before, out_before) = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(input, &mut self.output, FlushDecompress::None)?;
            let taken = usize::try_from(self.state.total_in() - in_before).unwrap_or(filled);
            let given = usize::try_from(self.state.total_out() - out_before).unwrap_or(PIECE);
            used += taken;
            if self.state.total_out() > length {
                return Err(invalid("an object is longer than it says"));
            }
            take(self.output.get(..given).unwrap_or_default());
            match status {
                Status::StreamEnd if self.state.total_out() == length => {
                    return Ok(offset + self.state.total_in());
                }
                Status::StreamEnd => return Err(invalid("an object is shorter than it says")),
                _ if taken == 0 && given == 0 && filled == 0 => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                _ => {}
            }
        }
    }

    /// What begins at an offset.
    pub(in crate::git) fn all(
        &mut self,
        source: &dyn ReadAt,
        offset: u64,
        length: u64,
    ) -> io::Result<Vec<u8>> {
        if length > super::LARGEST {
            return Err(invalid("an object is too large"));
        }
        let mut content = Vec::new();
        self.each(source, offset, length, |piece| content.extend_from_slice(piece))?;
        Ok(content)
    }
}

pub(in crate::git) fn invalid(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}
