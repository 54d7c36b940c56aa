//! What stands before each object in a pack.

use std::io;

use super::{inflate::invalid, spool::ReadAt};
use crate::git::object::{Id, Kind};

/// An object in a pack, before it is decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::git) struct Header {
    pub(in crate::git) form: Form,
    /// Of what follows when it is decompressed.
    pub(in crate::git) length: u64,
    /// Where that begins.
    pub(in crate::git) body: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::git) enum Form {
    Whole(Kind),
    /// The difference to the object at an offset of the same pack.
    After(u64),
    /// The difference to an object that is named.
    Of(Id),
}

/// No header is longer.
const LONGEST: usize = 32;

/// Reads the header at an offset.
pub(in crate::git) fn read_header(source: &dyn ReadAt, offset: u64) -> io::Result<Header> {
    let mut buffer = [0; LONGEST];
    let filled = source.read_at(&mut buffer, offset)?;
    let mut bytes = buffer.iter().take(filled).copied().enumerate();
    let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let too_large = || invalid("a length in the pack is too large");
    let (_, first) = bytes.next().ok_or_else(cut)?;
    let mut length = u64::from(first & 0x0f);
    let (mut shift, mut more, mut read) = (4_u32, first & 0x80 != 0, 1);
    while more {
        let (at, byte) = bytes.next().ok_or_else(cut)?;
        let part = u64::from(byte & 0x7f);
        length |= part.checked_shl(shift).filter(|_| shift < 57).ok_or_else(too_large)?;
        (shift, more, read) = (shift + 7, byte & 0x80 != 0, at + 1);
    }
    let form = match first >> 4 & 7 {
        1 => Form::Whole(Kind::Commit),
        2 => Form::Whole(Kind::Tree),
        3 => Form::Whole(Kind::Blob),
        4 => Form::Whole(Kind::Tag),
        6 => {
            let (at, byte) = bytes.next().ok_or_else(cut)?;
            let mut distance = u64::from(byte & 0x7f);
            (more, read) = (byte & 0x80 != 0, at + 1);
            while more {
                let (at, byte) = bytes.next().ok_or_else(cut)?;
                let next = distance.checked_add(1).and_then(|next| next.checked_mul(128));
                distance = next.ok_or_else(too_large)? | u64::from(byte & 0x7f);
                (more, read) = (byte & 0x80 != 0, at + 1);
            }
            let base = offset.checked_sub(distance).filter(|_| distance > 0);
            Form::After(base.ok_or_else(|| invalid("an object is the difference to none"))?)
        }
        7 => {
            let id = buffer.get(read..read + Id::LENGTH).and_then(Id::from_bytes);
            read += Id::LENGTH;
            Form::Of(id.filter(|_| read <= filled).ok_or_else(cut)?)
        }
        _ => return Err(invalid("the pack holds an object of an unknown type")),
    };
    Ok(Header { form, length, body: offset + read as u64 })
}

/// Writes the header of a whole object.
pub(in crate::git) fn write_header(kind: Kind, length: u64, out: &mut Vec<u8>) {
    let kind = match kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    };
    let low = |number: u64, bits: u32| (number & ((1 << bits) - 1)).to_le_bytes()[0];
    let mut rest = length >> 4;
    let mut byte = kind << 4 | low(length, 4);
    while rest > 0 {
        out.push(byte | 0x80);
        byte = low(rest, 7);
        rest >>= 7;
    }
    out.push(byte);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_read_back() {
        for kind in [Kind::Commit, Kind::Tree, Kind::Blob, Kind::Tag] {
            for length in [0, 1, 15, 16, 127, 128, 2047, 2048, 1 << 33] {
                let mut bytes = Vec::new();
                write_header(kind, length, &mut bytes);
                let header = read_header(&bytes, 0).unwrap();
                let body = bytes.len() as u64;
                assert_eq!(header, Header { form: Form::Whole(kind), length, body });
                bytes.pop();
                assert!(read_header(&bytes, 0).is_err());
            }
        }
    }

    #[test]
    fn a_difference_names_what_it_is_to() {
        let mut bytes = vec![0; 300];
        bytes.extend([0x6f, 0x80, 0x00]);
        let header = read_header(&bytes, 300).unwrap();
        assert_eq!(header, Header { form: Form::After(300 - 128), length: 15, body: 303 });
        let mut bytes = vec![0x71];
        bytes.extend([7; 20]);
        let header = read_header(&bytes, 0).unwrap();
        assert_eq!(header.form, Form::Of(Id::from_bytes(&[7; 20]).unwrap()));
        assert_eq!(header.body, 21);
        for wrong in [vec![0x6f, 0x00], vec![0x6f, 0x01], vec![0x00], vec![0x50], vec![0xff; 30]] {
            assert!(read_header(&wrong, 0).is_err(), "{wrong:?}");
        }
    }
}
