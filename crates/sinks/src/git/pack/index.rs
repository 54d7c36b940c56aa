//! Where each object of a pack is, as Git writes it beside the pack.

use std::io;

use super::{Packed, inflate::invalid, spool::ReadAt};
use crate::git::object::{Checksum, Id};

/// What version 2 begins with; version 1 has been gone since 2007.
const FRONT: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
const FANOUT: u64 = 8;
const IDS: u64 = FANOUT + 256 * 4;

/// Writes the index of a pack.
pub(in crate::git) fn encode(objects: &[Packed], pack: [u8; 20]) -> io::Result<Vec<u8>> {
    let mut sorted: Vec<_> = objects.iter().collect();
    sorted.sort_unstable_by_key(|object| object.id);
    let mut bytes = FRONT.to_vec();
    let mut below = 0_usize;
    for first in 0..=u8::MAX {
        let rest = sorted.get(below..).unwrap_or_default();
        below += rest.iter().take_while(|one| one.id.as_bytes().first() <= Some(&first)).count();
        bytes.extend(u32::try_from(below).map_err(io::Error::other)?.to_be_bytes());
    }
    bytes.extend(sorted.iter().flat_map(|object| *object.id.as_bytes()));
    bytes.extend(sorted.iter().flat_map(|object| object.checksum.to_be_bytes()));
    let mut far: Vec<u64> = Vec::new();
    for object in &sorted {
        let near = u32::try_from(object.offset).ok().filter(|offset| offset >> 31 == 0);
        let near = if let Some(near) = near {
            near
        } else {
            far.push(object.offset);
            u32::try_from(far.len() - 1).map_err(io::Error::other)? | 1 << 31
        };
        bytes.extend(near.to_be_bytes());
    }
    bytes.extend(far.iter().flat_map(|offset| offset.to_be_bytes()));
    bytes.extend(pack);
    let mut hash = Checksum::new();
    hash.update(&bytes);
    bytes.extend(hash.finish());
    Ok(bytes)
}

/// How many objects an index lists.
pub(in crate::git) fn count(index: &dyn ReadAt) -> io::Result<u64> {
    let mut front = [0; 8];
    fill(index, &mut front, 0)?;
    if front != FRONT {
        return Err(invalid("the index of a pack is not of version 2"));
    }
    Ok(u64::from(number(index, FANOUT + 255 * 4)?))
}

/// Where an object is in the pack, if it is there.
pub(in crate::git) fn find(index: &dyn ReadAt, count: u64, id: Id) -> io::Result<Option<u64>> {
    let first = u64::from(id.as_bytes().first().copied().unwrap_or_default());
    let mut low = match first {
        0 => 0,
        first => u64::from(number(index, FANOUT + (first - 1) * 4)?),
    };
    let mut high = u64::from(number(index, FANOUT + first * 4)?).min(count);
    while low < high {
        let middle = low.midpoint(high);
        let mut found = [0; Id::LENGTH];
        fill(index, &mut found, IDS + middle * 20)?;
        match found.cmp(id.as_bytes()) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return offset(index, count, middle).map(Some),
        }
    }
    Ok(None)
}

fn offset(index: &dyn ReadAt, count: u64, at: u64) -> io::Result<u64> {
    let offsets = IDS + count * 24;
    let near = number(index, offsets + at * 4)?;
    if near >> 31 == 0 {
        return Ok(u64::from(near));
    }
    let mut far = [0; 8];
    fill(index, &mut far, offsets + count * 4 + u64::from(near & !(1 << 31)) * 8)?;
    Ok(u64::from_be_bytes(far))
}

fn number(index: &dyn ReadAt, at: u64) -> io::Result<u32> {
    let mut bytes = [0; 4];
    fill(index, &mut bytes, at)?;
    Ok(u32::from_be_bytes(bytes))
}

fn fill(source: &dyn ReadAt, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let read = source.read_at(buffer, offset)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        offset += read as u64;
        buffer = buffer.get_mut(read..).unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_found_and_nothing_else() {
        let id = |at: u64| {
            let mut bytes = [0; 20];
            bytes[..8].copy_from_slice(&at.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
            Id::from_bytes(&bytes).unwrap()
        };
        let objects: Vec<_> = (0..500)
            .map(|at| Packed { id: id(at), offset: at << (at % 40), checksum: 0 })
            .collect();
        let index = &encode(&objects, [0; 20]).unwrap();
        let count = count(index).unwrap();
        assert_eq!(count, 500);
        for object in &objects {
            assert_eq!(find(index, count, object.id).unwrap(), Some(object.offset));
        }
        for at in 500..600 {
            assert_eq!(find(index, count, id(at)).unwrap(), None);
        }
    }
}
