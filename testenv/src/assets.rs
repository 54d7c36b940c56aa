//! Where the servers' programs are, and what a test does without them.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    thread,
};

const PROGRAMS: [&str; 3] = ["etcd", "kube-apiserver", "kubectl"];

/// A directory that holds `etcd`, `kube-apiserver` and `kubectl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assets {
    directory: PathBuf,
}

/// Why there are no servers to test against.
#[derive(Debug, thiserror::Error)]
pub enum MissingServers {
    /// Nobody named a directory, though every server is required.
    #[error("KUBEBUILDER_ASSETS is not set, and KOLLECT_TEST_REQUIRE=all lets no test be skipped")]
    Required,

    /// A directory was named and does not hold this program.
    #[error("KUBEBUILDER_ASSETS names a directory without {program}")]
    Program { program: &'static str, source: io::Error },
}

/// Finds the servers' programs through `KUBEBUILDER_ASSETS`.
///
/// Every test that needs the servers asks here, or through
/// [`ControlPlane::shared`](crate::ControlPlane::shared). `None` means that
/// the test is to return: it has then been reported as skipped.
///
/// # Panics
///
/// When `KOLLECT_TEST_REQUIRE` is `all` and the variable is not set, and when
/// it is set to a directory that does not hold the three programs.
#[track_caller]
#[expect(clippy::panic, reason = "only tests call this, and a missing server must fail them")]
pub fn assets() -> Option<Assets> {
    let found = match decide(setting("KUBEBUILDER_ASSETS"), setting("KOLLECT_TEST_REQUIRE")) {
        Ok(found) => found,
        Err(error) => panic!("{}", crate::control_plane::chain(&error)),
    };
    if found.is_none() {
        report_skip();
    }
    found
}

impl Assets {
    /// Takes the programs from a directory, which must hold all three.
    pub fn in_directory(directory: &Path) -> Result<Self, MissingServers> {
        for program in PROGRAMS {
            fs::metadata(directory.join(program))
                .map_err(|source| MissingServers::Program { program, source })?;
        }
        // The servers run in a directory of their own, so a relative path would mislead them.
        let directory = fs::canonicalize(directory)
            .map_err(|source| MissingServers::Program { program: PROGRAMS[0], source })?;
        Ok(Self { directory })
    }

    pub(crate) fn etcd(&self) -> PathBuf {
        self.directory.join(PROGRAMS[0])
    }

    pub(crate) fn apiserver(&self) -> PathBuf {
        self.directory.join(PROGRAMS[1])
    }

    /// The real kubectl.
    pub fn kubectl(&self) -> PathBuf {
        self.directory.join(PROGRAMS[2])
    }
}

/// Finds, skips or fails. An empty setting counts as none.
fn decide(
    directory: Option<String>,
    require: Option<String>,
) -> Result<Option<Assets>, MissingServers> {
    match directory.filter(|directory| !directory.is_empty()) {
        Some(directory) => Assets::in_directory(Path::new(&directory)).map(Some),
        None if require.as_deref() == Some("all") => Err(MissingServers::Required),
        None => Ok(None),
    }
}

#[expect(clippy::disallowed_methods, reason = "a test has no arguments to take settings from")]
pub(crate) fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Writes to the process's own standard error, because what goes through the
/// print macros is kept from view for a test that passes.
fn report_skip() {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    writeln!(io::stderr(), "skipped {test}: KUBEBUILDER_ASSETS is not set").ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_directory_the_test_is_skipped() {
        assert_eq!(decide(None, None).unwrap(), None);
        assert_eq!(decide(Some(String::new()), None).unwrap(), None);
    }

    #[test]
    fn without_a_directory_a_required_server_is_an_error() {
        let error = decide(None, Some("all".into())).unwrap_err();
        assert!(matches!(error, MissingServers::Required));
    }

    #[test]
    fn a_directory_without_the_programs_is_an_error_and_not_a_skip() {
        let directory = tempfile::tempdir().unwrap();
        let error = decide(directory.path().to_str().map(str::to_owned), None).unwrap_err();
        assert!(matches!(error, MissingServers::Program { program: "etcd", .. }));
    }

    #[test]
    fn a_directory_with_the_programs_is_taken() {
        let directory = tempfile::tempdir().unwrap();
        for program in PROGRAMS {
            fs::write(directory.path().join(program), "").unwrap();
        }
        let assets = decide(directory.path().to_str().map(str::to_owned), None).unwrap().unwrap();
        assert!(assets.kubectl().ends_with("kubectl"));
    }
}
