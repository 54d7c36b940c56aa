//! Packs: many objects in one stream.
//!
//! What we send is never a difference to another object: a commit is made of
//! few and small objects. What we are sent may be.

pub(super) mod inflate;
pub(super) mod entry;
pub(super) mod delta;
pub(super) mod spool;
pub(super) mod received;
pub(super) mod index;

use std::io;

use bytes::Bytes;
use flate2::{Compress, Compression, FlushCompress, Status};

use super::object::{Checksum, Id, Kind};

/// Objects above this size are not put together in memory. No file of ours
/// comes near it, and files of others are passed over.
pub(super) const LARGEST: u64 = 256 << 20;

const PIECE: usize = 16 * 1024;

/// A pack in the making.
pub(super) struct Pack {
    bytes: Vec<u8>,
    objects: Vec<Packed>,
    deflate: Compress,
    /// What has just been compressed.
    piece: Vec<u8>,
}

/// An object in a pack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    pub(super) id: Id,
    pub(super) offset: u64,
    /// Of the bytes in the pack.
    pub(super) checksum: u32,
}

/// A pack that is complete.
pub(super) struct Finished {
    pub(super) bytes: Bytes,
    pub(super) objects: Vec<Packed>,
    /// What the pack ends in.
    pub(super) checksum: [u8; 20],
}

impl Pack {
    pub(super) fn new() -> Self {
        let bytes = b"PACK\0\0\0\x02\0\0\0\0".to_vec();
        // Fast, because a pack is written once and repacked by the server.
        let deflate = Compress::new(Compression::fast(), true);
        Self { bytes, objects: Vec::new(), deflate, piece: vec![0; PIECE] }
    }

    pub(super) fn add(&mut self, id: Id, kind: Kind, content: &[u8]) -> io::Result<()> {
        let offset = self.bytes.len();
        entry::write_header(kind, content.len() as u64, &mut self.bytes);
        self.deflate(content)?;
        let mut checksum = flate2::Crc::new();
        checksum.update(self.bytes.get(offset..).unwrap_or_default());
        self.objects.push(Packed { id, offset: offset as u64, checksum: checksum.sum() });
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<Finished> {
        let count = u32::try_from(self.objects.len()).map_err(io::Error::other)?;
        if let Some(place) = self.bytes.get_mut(8..12) {
            place.copy_from_slice(&count.to_be_bytes());
        }
        let mut hash = Checksum::new();
        hash.update(&self.bytes);
        let checksum = hash.finish();
        self.bytes.extend_from_slice(&checksum);
        Ok(Finished { bytes: self.bytes.into(), objects: self.objects, checksum })
    }

    fn deflate(&mut self, mut rest: &[u8]) -> io::Result<()> {
        self.deflate.reset();
        loop {
            let (read, written) = (self.deflate.total_in(), self.deflate.total_out());
            // Not straight to the end of the pack: all that is reserved behind
            // it would be filled with zeros first, for every object.
            let status = self.deflate.compress(rest, &mut self.piece, FlushCompress::Finish)?;
            let since = |now: u64, then: u64| usize::try_from(now - then).unwrap_or(usize::MAX);
            let read = since(self.deflate.total_in(), read);
            let written = since(self.deflate.total_out(), written);
            self.bytes.extend_from_slice(self.piece.get(..written).unwrap_or_default());
            rest = rest.get(read..).unwrap_or_default();
            if status == Status::StreamEnd {
                return Ok(());
            }
        }
    }
}
