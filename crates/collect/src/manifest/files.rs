//! Finds and opens what a user names.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::{Failure, Found, Source, manifests};

/// More than any set of manifests; a larger file is a mistake.
const MAX_BYTES: u64 = 64 << 20;

/// Reads everything that is named. What cannot be read is reported and does
/// not stop the rest.
pub fn read(sources: &[Source]) -> Found {
    let mut found = Found::default();
    for source in sources {
        match source {
            Source::StandardInput => {
                let mut bytes = Vec::new();
                let outcome = io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes);
                file("-", outcome.map(|_| bytes), &mut found);
            }
            Source::Path(path) if path.is_dir() => directory(path, &mut found),
            Source::Path(path) => file(&path.display().to_string(), bounded(path), &mut found),
        }
    }
    found
}

/// A file that was named must hold something.
fn file(name: &str, bytes: io::Result<Vec<u8>>, found: &mut Found) {
    let before = found.manifests.len() + found.failures.len();
    contents(name, bytes, found);
    if found.manifests.len() + found.failures.len() == before {
        found.failures.push(failure(name, "holds no object"));
    }
}

/// Everything below a directory; a file in it may hold nothing.
fn directory(path: &Path, found: &mut Found) {
    let mut files = Vec::new();
    if let Err(failure) = walk(path, &mut files) {
        found.failures.push(failure);
    }
    if files.is_empty() {
        let reason = "holds no .yaml, .yml or .json file";
        found.failures.push(failure(&path.display().to_string(), reason));
    }
    for file in files {
        contents(&file.display().to_string(), bounded(&file), found);
    }
}

/// Collects the manifests below a directory in the order of their names.
/// Hidden files and folders are left alone, and links to folders too, so that
/// a circle of links ends.
fn walk(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable =
        |error: io::Error| failure(&directory.display().to_string(), &error.to_string());
    let entries = fs::read_dir(directory).map_err(unreadable)?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()
        .map_err(unreadable)?;
    paths.sort();
    for path in paths {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if hidden {
            continue;
        }
        let is_manifest = path
            .extension()
            .is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|one| extension == *one));
        if path.is_dir() {
            if !path.is_symlink() {
                walk(&path, files)?;
            }
        } else if is_manifest {
            files.push(path);
        }
    }
    Ok(())
}

fn bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn contents(name: &str, bytes: io::Result<Vec<u8>>, found: &mut Found) {
    let reason = match bytes {
        Err(error) => error.to_string(),
        Ok(bytes) if bytes.len() as u64 > MAX_BYTES => {
            format!("is larger than {} MiB", MAX_BYTES >> 20)
        }
        Ok(bytes) => match text(bytes) {
            Ok(text) => return manifests(name, &text, found),
            Err(reason) => reason,
        },
    };
    found.failures.push(failure(name, &reason));
}

fn text(bytes: Vec<u8>) -> Result<String, String> {
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(format!("is not text: there is a NUL at byte {at}"));
    }
    String::from_utf8(bytes).map_err(|error| {
        format!("is not text in UTF-8: byte {} cannot be read", error.utf8_error().valid_up_to())
    })
}

fn failure(file: &str, reason: &str) -> Failure {
    Failure { file: file.to_owned(), at: None, reason: reason.to_owned() }
}
