//! Where PostgreSQL's programs are, and what a test does without them.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    thread,
};

use crate::assets::setting;

/// Where Debian keeps a directory for each version.
const VERSIONS: &str = "/usr/lib/postgresql";
const PROGRAMS: [&str; 3] = ["initdb", "postgres", "psql"];

/// A directory that holds PostgreSQL's programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresPrograms {
    directory: PathBuf,
}

impl PostgresPrograms {
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

/// Finds PostgreSQL, of the newest version that is installed.
///
/// `None` means that the test is to return: it has then been reported as
/// skipped.
///
/// # Panics
///
/// When it is not installed and `KOLLECT_TEST_REQUIRE` is `all`.
#[track_caller]
pub fn postgres_programs() -> Option<PostgresPrograms> {
    let found = newest(Path::new(VERSIONS));
    if found.is_none() {
        assert!(
            setting("KOLLECT_TEST_REQUIRE").as_deref() != Some("all"),
            "PostgreSQL is not installed below {VERSIONS}, and KOLLECT_TEST_REQUIRE=all lets \
             no test be skipped: `cargo xtask env` installs it"
        );
        let thread = thread::current();
        let test = thread.name().unwrap_or("a test");
        writeln!(io::stderr(), "skipped {test}: PostgreSQL is not installed below {VERSIONS}").ok();
    }
    found
}

fn newest(versions: &Path) -> Option<PostgresPrograms> {
    let entries = fs::read_dir(versions).ok()?.flatten();
    let number = |name: &str| name.split('.').next().and_then(|major| major.parse::<u32>().ok());
    let found = entries.filter_map(|entry| {
        let version = number(entry.file_name().to_str()?)?;
        let directory = entry.path().join("bin");
        let is_whole = PROGRAMS.iter().all(|program| directory.join(program).exists());
        is_whole.then_some((version, PostgresPrograms { directory }))
    });
    found.max_by_key(|(version, _)| *version).map(|(_, programs)| programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_that_is_whole_is_taken() {
        let directory = tempfile::tempdir().unwrap();
        for (version, programs) in [("9.6", 3), ("15", 3), ("17", 3), ("18", 2), ("common", 3)] {
            let bin = directory.path().join(version).join("bin");
            fs::create_dir_all(&bin).unwrap();
            for program in &PROGRAMS[..programs] {
                fs::write(bin.join(program), "").unwrap();
            }
        }
        let found = newest(directory.path()).unwrap();
        assert_eq!(found.program("psql"), directory.path().join("17/bin/psql"));
        assert_eq!(newest(&directory.path().join("nowhere")), None);
    }
}
