//! A pack that somebody sent: what is in it, and where.
//!
//! Memory is bounded by the number of objects and by the largest chain of
//! differences that is wanted, not by what the pack holds.

use std::{
    collections::{HashMap, HashSet},
    io,
};

use super::{
    LARGEST, delta,
    entry::{Form, read_header},
    inflate::{Inflate, invalid},
    spool::{ReadAt, Spool},
};
use crate::git::object::{Checksum, Id, Kind, Naming, name};

/// No chain of differences is longer; Git itself stops at 4095.
const DEEPEST: usize = 5000;

/// So much of what was put together last is kept, because the next difference
/// is often to it.
const KEPT: usize = 32 << 20;

/// A pack that has been read through.
pub(in crate::git) struct Received {
    spool: Spool,
    places: HashMap<Id, (Kind, u64)>,
    inflate: Inflate,
    kept: Kept,
}

/// An object as it is in the pack.
struct Found {
    offset: u64,
    form: Form,
}

impl Received {
    /// Reads a pack through, and checks what it ends in. A difference to an
    /// object that is not in the pack makes it useless: we ask for none.
    pub(in crate::git) fn read(spool: Spool) -> io::Result<Self> {
        let count = front(&spool)?;
        let mut inflate = Inflate::new();
        let mut places = HashMap::new();
        let mut by_offset: HashMap<u64, (Kind, Option<Id>)> = HashMap::new();
        let mut differences: Vec<Found> = Vec::new();
        let mut at = 12;
        for _ in 0..count {
            let header = read_header(&spool, at)?;
            let end = match header.form {
                Form::Whole(kind) => {
                    let mut naming = Naming::new(kind, header.length);
                    let end = inflate
                        .each(&spool, header.body, header.length, |piece| naming.update(piece))?;
                    let id = naming.finish();
                    places.insert(id, (kind, at));
                    by_offset.insert(at, (kind, Some(id)));
                    end
                }
                form => {
                    differences.push(Found { offset: at, form });
                    inflate.each(&spool, header.body, header.length, |_| ())?
                }
            };
            at = end;
        }
        if at + 20 != spool.length() {
            return Err(invalid("the pack does not end where it should"));
        }
        verify(&spool)?;
        let mut received = Self { spool, places, inflate, kept: Kept::default() };
        received.name_differences(differences, &mut by_offset)?;
        Ok(received)
    }

    /// The objects of a kind.
    pub(in crate::git) fn ids(&self, kind: Kind) -> Vec<Id> {
        self.places.iter().filter(|(_, place)| place.0 == kind).map(|(id, _)| *id).collect()
    }

    /// An object, if it is there.
    pub(in crate::git) fn object(&mut self, id: Id) -> io::Result<Option<(Kind, Vec<u8>)>> {
        let Some((kind, offset)) = self.places.get(&id).copied() else { return Ok(None) };
        let content = self.content(offset)?;
        Ok(Some((kind, content)))
    }

    /// Gives names to what is told as a difference, those first whose bases
    /// have one.
    fn name_differences(
        &mut self,
        mut waiting: Vec<Found>,
        known: &mut HashMap<u64, (Kind, Option<Id>)>,
    ) -> io::Result<()> {
        let mut skipped: HashSet<u64> = HashSet::new();
        while !waiting.is_empty() {
            let before = waiting.len();
            let mut later = Vec::new();
            for found in waiting {
                let base = match found.form {
                    Form::After(base) => Some(base),
                    Form::Of(id) => self.places.get(&id).map(|(_, base)| *base),
                    Form::Whole(_) => None,
                };
                if base.is_some_and(|base| skipped.contains(&base)) {
                    skipped.insert(found.offset);
                    continue;
                }
                let Some((kind, _)) = base.and_then(|base| known.get(&base)).copied() else {
                    later.push(found);
                    continue;
                };
                if self.length(found.offset)? > LARGEST {
                    skipped.insert(found.offset);
                    continue;
                }
                let id = name(kind, &self.content(found.offset)?);
                self.places.insert(id, (kind, found.offset));
                known.insert(found.offset, (kind, Some(id)));
            }
            if later.len() == before {
                return Err(invalid("the pack holds differences to what is not in it"));
            }
            waiting = later;
        }
        Ok(())
    }

    /// How long the object is that a difference leads to.
    fn length(&mut self, offset: u64) -> io::Result<u64> {
        let header = read_header(&self.spool, offset)?;
        let delta = self.inflate.all(&self.spool, header.body, header.length)?;
        delta::length_of_result(&delta)
    }

    fn content(&mut self, offset: u64) -> io::Result<Vec<u8>> {
        let Self { spool, inflate, places, kept } = self;
        let base = |id: Id| Ok(places.get(&id).map(|(_, offset)| *offset));
        whole(spool, offset, inflate, (kept, base)).map(|(_, content)| content)
    }
}

/// Puts the object at an offset of a pack together, along its chain of
/// differences. `base` says where an object is that a difference names.
pub(in crate::git) fn whole(
    source: &dyn ReadAt,
    offset: u64,
    inflate: &mut Inflate,
    (kept, base): (&mut Kept, impl Fn(Id) -> io::Result<Option<u64>>),
) -> io::Result<(Kind, Vec<u8>)> {
    let mut chain = Vec::new();
    let mut at = offset;
    let (kind, mut content) = loop {
        if let Some((kind, content)) = kept.get(at) {
            break (kind, content);
        }
        let header = read_header(source, at)?;
        let body = inflate.all(source, header.body, header.length)?;
        let next = match header.form {
            Form::Whole(kind) => {
                kept.put(at, kind, &body);
                break (kind, body);
            }
            Form::After(base) => Some(base),
            Form::Of(id) => base(id)?,
        };
        chain.push((at, body));
        at = next.ok_or_else(|| invalid("an object is the difference to one that is missing"))?;
        if chain.len() > DEEPEST {
            return Err(invalid("the differences of the pack lead nowhere"));
        }
    };
    while let Some((at, body)) = chain.pop() {
        content = delta::apply(&content, &body)?;
        kept.put(at, kind, &content);
    }
    Ok((kind, content))
}

/// Objects that were put together lately, by their offsets.
#[derive(Debug, Default)]
pub(in crate::git) struct Kept {
    objects: HashMap<u64, (Kind, Vec<u8>)>,
    bytes: usize,
}

impl Kept {
    fn get(&self, offset: u64) -> Option<(Kind, Vec<u8>)> {
        self.objects.get(&offset).cloned()
    }

    fn put(&mut self, offset: u64, kind: Kind, content: &[u8]) {
        if content.len() > KEPT / 4 {
            return;
        }
        if self.bytes + content.len() > KEPT {
            self.objects.clear();
            self.bytes = 0;
        }
        if self.objects.insert(offset, (kind, content.to_vec())).is_none() {
            self.bytes += content.len();
        }
    }
}

/// How many objects a pack says that it has.
fn front(spool: &Spool) -> io::Result<u32> {
    let mut front = [0; 12];
    let filled = spool.read_at(&mut front, 0)?;
    match front {
        [b'P', b'A', b'C', b'K', 0, 0, 0, 2 | 3, a, b, c, d] if filled == 12 => {
            Ok(u32::from_be_bytes([a, b, c, d]))
        }
        _ => Err(invalid("what was sent is no pack")),
    }
}

fn verify(spool: &Spool) -> io::Result<()> {
    let end = spool.length().saturating_sub(20);
    let mut hash = Checksum::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut at = 0;
    while at < end {
        let read = spool.read_at(&mut buffer, at)?;
        let rest = usize::try_from(end - at).unwrap_or(usize::MAX);
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        hash.update(buffer.get(..read.min(rest)).unwrap_or_default());
        at += read as u64;
    }
    let mut found = [0; 20];
    spool.read_at(&mut found, end)?;
    if hash.finish() == found { Ok(()) } else { Err(invalid("the pack was damaged on its way")) }
}
