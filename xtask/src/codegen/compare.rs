//! Compares what was generated with what is there, byte for byte.

use std::{collections::BTreeMap, fmt, fs, io::ErrorKind, path::Path};

use anyhow::{Context, Result};

/// The files of a directory and those below it: path with slashes → content.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// A file that is not as it would be generated.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) path: String,
    pub(super) state: State,
}

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It would be generated and is not there.
    Missing,
    /// It is there with other content.
    Differs,
    /// It is there and would not be generated.
    Stale,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "is missing",
            Self::Differs => "differs",
            Self::Stale => "is stale",
        })
    }
}

/// What has to change so that `present` becomes `generated`, by path.
pub(super) fn differences(generated: &Files, present: &Files) -> Vec<Difference> {
    let mut states = BTreeMap::new();
    for (path, content) in generated {
        match present.get(path) {
            None => states.insert(path, State::Missing),
            Some(other) if other != content => states.insert(path, State::Differs),
            Some(_) => None,
        };
    }
    for path in present.keys().filter(|path| !generated.contains_key(*path)) {
        states.insert(path, State::Stale);
    }
    states.into_iter().map(|(path, state)| Difference { path: path.clone(), state }).collect()
}

/// Reads a directory; one that does not exist has no files.
pub(super) fn read(directory: &Path) -> Result<Files> {
    let mut files = Files::new();
    read_below(directory, "", &mut files)?;
    Ok(files)
}

fn read_below(directory: &Path, prefix: &str, files: &mut Files) -> Result<()> {
    let context = || format!("could not read {}", directory.display());
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(context)?,
    };
    for entry in entries {
        let entry = entry.with_context(context)?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().with_context(context)?.is_dir() {
            read_below(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.insert(path, fs::read(entry.path()).with_context(context)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn files<const N: usize>(files: [(&str, &str); N]) -> Files {
        files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into()
    }

    #[track_caller]
    fn check(generated: &Files, present: &Files, expected: &[&str]) {
        let found: Vec<String> = differences(generated, present)
            .iter()
            .map(|Difference { path, state }| format!("{path} {state}"))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn equal_directories_do_not_differ() {
        check(&files([("a", "1"), ("b", "2")]), &files([("a", "1"), ("b", "2")]), &[]);
    }

    #[test]
    fn each_kind_of_difference_is_named_in_the_order_of_the_paths() {
        check(
            &files([("b", "1"), ("c", "1"), ("d", "1")]),
            &files([("a", "1"), ("b", "1"), ("c", "1 ")]),
            &["a is stale", "c differs", "d is missing"],
        );
    }

    #[test]
    fn reading_goes_down_into_directories() {
        let scratch = Scratch::new().unwrap();
        fs::create_dir(scratch.path().join("sub")).unwrap();
        fs::write(scratch.path().join("one.yaml"), "1").unwrap();
        fs::write(scratch.path().join("sub/two.yaml"), "2").unwrap();
        assert_eq!(
            read(scratch.path()).unwrap(),
            files([("one.yaml", "1"), ("sub/two.yaml", "2")])
        );
    }

    #[test]
    fn a_directory_that_does_not_exist_is_empty() {
        let scratch = Scratch::new().unwrap();
        assert!(read(&scratch.path().join("nothing")).unwrap().is_empty());
    }
}
