//! A pack as it arrives: in memory while it is small, else in a file.

use std::{fs::File, io, io::Write as _};

/// What is larger goes to a file.
const MOST: usize = 64 << 20;

/// Something that can be read anywhere.
pub(in crate::git) trait ReadAt {
    /// Reads as much as there is and fits; nothing behind the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let behind = usize::try_from(offset).ok().and_then(|offset| self.get(offset..));
        let behind = behind.unwrap_or_default();
        let length = behind.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(behind) {
            *to = *from;
        }
        Ok(length)
    }
}

/// Bytes that are written once and then read anywhere.
#[derive(Debug)]
pub(in crate::git) struct Spool {
    length: u64,
    kept: Kept,
}

#[derive(Debug)]
enum Kept {
    Memory(Vec<u8>),
    /// Has no name, so that it is gone when we are.
    File(File),
}

impl Spool {
    pub(in crate::git) fn new() -> Self {
        Self { length: 0, kept: Kept::Memory(Vec::new()) }
    }

    pub(in crate::git) fn length(&self) -> u64 {
        self.length
    }

    pub(in crate::git) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.length += bytes.len() as u64;
        match &mut self.kept {
            Kept::Memory(memory) if memory.len() + bytes.len() <= MOST => {
                memory.extend_from_slice(bytes);
                Ok(())
            }
            Kept::Memory(memory) => {
                let mut file = tempfile::tempfile()?;
                file.write_all(memory)?;
                file.write_all(bytes)?;
                self.kept = Kept::File(file);
                Ok(())
            }
            Kept::File(file) => file.write_all(bytes),
        }
    }
}

impl ReadAt for Spool {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.kept {
            Kept::Memory(memory) => memory.read_at(buffer, offset),
            Kept::File(file) => file.read_at(buffer, offset),
        }
    }
}
