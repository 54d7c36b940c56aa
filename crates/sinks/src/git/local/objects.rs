//! The objects of a repository on disk: single ones, and those in packs.

use std::{fs::File, io};

use super::repository::Repository;
use crate::git::{
    object::{Id, Kind},
    pack::{
        LARGEST, index,
        inflate::{Inflate, invalid},
        received::{Kept, whole},
    },
};

const FOLDER: &str = "objects/pack";

/// So many packs are open at a time: every export leaves one, and a process may
/// open only so many files.
const OPEN: usize = 64;

/// The packs that were there when something was first looked for in them.
#[derive(Default)]
pub(super) struct Store {
    packs: Option<Vec<Named>>,
}

/// A pack, open once something was looked for in it.
struct Named {
    stem: String,
    open: Option<PackOnDisk>,
}

struct PackOnDisk {
    index: File,
    count: u64,
    pack: File,
    kept: Kept,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

impl Store {
    /// An object, if the repository has it.
    pub(super) fn read(
        &mut self,
        repository: &Repository,
        id: Id,
    ) -> io::Result<Option<(Kind, Vec<u8>)>> {
        if let Some(found) = loose(repository, id)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.packed(repository, id)? {
            return Ok(Some(found));
        }
        // Somebody may have packed what was loose, or packed it anew.
        self.packs = None;
        match self.packed(repository, id)? {
            Some(found) => Ok(Some(found)),
            None => loose(repository, id),
        }
    }

    fn packed(&mut self, repository: &Repository, id: Id) -> io::Result<Option<(Kind, Vec<u8>)>> {
        if self.packs.is_none() {
            self.packs = Some(packs(repository)?);
        }
        let mut inflate = Inflate::new();
        for (at, Named { stem, open }) in self.packs.iter_mut().flatten().enumerate() {
            let mut opened = None;
            let held = if at < OPEN { open } else { &mut opened };
            if held.is_none() {
                *held = PackOnDisk::open(repository, stem)?;
            }
            let Some(PackOnDisk { index, count, pack, kept }) = held else { continue };
            if let Some(offset) = index::find(index, *count, id)? {
                let base = |id| index::find(index, *count, id);
                return whole(pack, offset, &mut inflate, (kept, base)).map(Some);
            }
        }
        Ok(None)
    }
}

impl PackOnDisk {
    /// Opens a pack; nothing if it has been packed anew since its name was read.
    fn open(repository: &Repository, stem: &str) -> io::Result<Option<Self>> {
        let open = |end: &str| repository.dir().open(format!("{FOLDER}/{stem}.{end}"));
        let (index, pack) = match (open("idx"), open("pack")) {
            (Ok(index), Ok(pack)) => (index.into_std(), pack.into_std()),
            (Err(error), _) | (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        let count = index::count(&index)?;
        Ok(Some(Self { index, count, pack, kept: Kept::default() }))
    }
}

/// The packs of a repository, the newest first.
fn packs(repository: &Repository) -> io::Result<Vec<Named>> {
    let entries = match repository.dir().read_dir(FOLDER) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if let Some(stem) = name.strip_suffix(".idx") {
            names.push((entry.metadata().and_then(|about| about.modified()).ok(), stem.to_owned()));
        }
    }
    names.sort_by(|a, b| b.cmp(a));
    Ok(names.into_iter().map(|(_, stem)| Named { stem, open: None }).collect())
}

/// An object in a file of its own.
fn loose(repository: &Repository, id: Id) -> io::Result<Option<(Kind, Vec<u8>)>> {
    let digits = id.to_string();
    let (folder, name) = digits.split_at(2);
    let file = match repository.dir().open(format!("objects/{folder}/{name}")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut decoder = flate2::read::ZlibDecoder::new(file);
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(&mut decoder, LARGEST), &mut bytes)?;
    let broken = || invalid("an object is malformed");
    let end = bytes.iter().position(|byte| *byte == 0).ok_or_else(broken)?;
    let (front, content) = bytes.split_at_checked(end + 1).ok_or_else(broken)?;
    let mut words = front.split(|byte| matches!(byte, b' ' | 0));
    let kind = words.next().and_then(Kind::named).ok_or_else(broken)?;
    let length = words.next().and_then(|digits| str::from_utf8(digits).ok()?.parse::<usize>().ok());
    if length != Some(content.len()) {
        return Err(broken());
    }
    Ok(Some((kind, content.to_vec())))
}
