//! Objects that are told as the difference to another.

use std::io;

use super::{LARGEST, inflate::invalid};

/// Puts an object together.
pub(in crate::git) fn apply(base: &[u8], delta: &[u8]) -> io::Result<Vec<u8>> {
    let mut rest = delta;
    let of_base = length(&mut rest)?;
    let of_result = length(&mut rest)?;
    if of_base != base.len() as u64 {
        return Err(invalid("a difference is to another object"));
    } else if of_result > LARGEST {
        return Err(invalid("an object is too large"));
    }
    let result_length = usize::try_from(of_result).map_err(io::Error::other)?;
    let mut result = Vec::new();
    while let Some((order, behind)) = rest.split_first() {
        rest = behind;
        let piece = if order & 0x80 != 0 {
            let offset = number(&mut rest, *order, 4)?;
            let length = match number(&mut rest, *order >> 4, 3)? {
                0 => 0x1_0000,
                length => length,
            };
            base.get(offset..).and_then(|behind| behind.get(..length))
        } else if let Some((piece, behind)) = rest.split_at_checked(usize::from(*order)) {
            rest = behind;
            Some(piece).filter(|piece| !piece.is_empty())
        } else {
            None
        };
        let piece = piece.ok_or_else(|| invalid("a difference points to nothing"))?;
        if result.len() + piece.len() > result_length {
            return Err(invalid("an object is longer than it says"));
        }
        result.extend_from_slice(piece);
    }
    if result.len() == result_length {
        Ok(result)
    } else {
        Err(invalid("an object is shorter than it says"))
    }
}

/// How long the object is that a difference leads to.
pub(in crate::git) fn length_of_result(delta: &[u8]) -> io::Result<u64> {
    let mut rest = delta;
    length(&mut rest)?;
    length(&mut rest)
}

fn length(rest: &mut &[u8]) -> io::Result<u64> {
    let (mut length, mut shift) = (0_u64, 0_u32);
    loop {
        let (byte, behind) = rest.split_first().ok_or(io::ErrorKind::UnexpectedEof)?;
        *rest = behind;
        if shift > 56 {
            return Err(invalid("a length in the pack is too large"));
        }
        length |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return Ok(length);
        }
    }
}

/// A number of which only those bytes are there that the bits name.
fn number(rest: &mut &[u8], bits: u8, bytes: u32) -> io::Result<usize> {
    let mut number = 0;
    for at in (0..bytes).filter(|at| bits >> at & 1 != 0) {
        let (byte, behind) = rest.split_first().ok_or(io::ErrorKind::UnexpectedEof)?;
        *rest = behind;
        number |= usize::from(*byte) << (8 * at);
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_copied_and_inserted() {
        // Of 10 bytes, 6: copy 3 from 2, insert "xyz".
        let delta = [10, 6, 0x80 | 0x01 | 0x10, 2, 3, 3, b'x', b'y', b'z'];
        assert_eq!(apply(b"0123456789", &delta).unwrap(), b"234xyz");
        assert_eq!(length_of_result(&delta).unwrap(), 6);
        for length in 0..delta.len() {
            assert!(apply(b"0123456789", delta.get(..length).unwrap()).is_err(), "{length}");
        }
        assert!(apply(b"012345678", &delta).is_err());
        assert!(apply(b"0123456789", &[10, 6, 0x80 | 0x01 | 0x10, 8, 3, 0]).is_err());
        assert!(apply(b"0123456789", &[10, 2, 3, b'x', b'y', b'z']).is_err());
        assert!(apply(b"0123456789", &[10, 0, 0]).is_err());
    }
}
