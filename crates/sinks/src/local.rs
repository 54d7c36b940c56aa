//! Where sinks that write to this machine's own disk may do so.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use rustix::fs::Access;

/// Which directories file and SQLite sinks may write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalPaths {
    /// Any: the command line acts for the person who runs it.
    Anywhere,
    /// For each namespace, the directory of its name below this one.
    Below { root: PathBuf },
    /// None: the operator's administrator has named no directory.
    Refused,
}

/// Why a path may not be used.
#[derive(Debug, thiserror::Error)]
pub enum LocalPathError {
    #[error("the path is blank")]
    Blank,
    #[error("the path {0:?} holds a NUL character")]
    Nul(String),
    #[error("the path {0:?} contains `..`")]
    Climbs(String),
    #[error(
        "the operator's administrator has named no directory for local sinks (--local-sink-root)"
    )]
    NoRoot,
    #[error("the namespace {0:?} cannot be the name of a directory")]
    Namespace(String),
    #[error("the path {path:?} does not lie below {}, which local sinks of its namespace have", home.display())]
    Outside { path: String, home: PathBuf },
    #[error("a link on the way to {path:?} leads out of {}", home.display())]
    Link { path: String, home: PathBuf },
    #[error("could not look at {}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
}

impl LocalPaths {
    /// Where a sink of a namespace writes that names this path.
    ///
    /// Below a root, a path is relative to the directory of the namespace, or
    /// begins with it. Links that exist now are followed and must not lead
    /// out; what does not exist yet is made by the sink.
    pub fn resolve(&self, namespace: &str, path: &str) -> Result<PathBuf, LocalPathError> {
        if path.trim().is_empty() {
            return Err(LocalPathError::Blank);
        } else if path.contains('\0') {
            return Err(LocalPathError::Nul(path.to_owned()));
        } else if Path::new(path).components().any(|part| part == Component::ParentDir) {
            return Err(LocalPathError::Climbs(path.to_owned()));
        }
        match self {
            Self::Anywhere => Ok(PathBuf::from(path)),
            Self::Below { root } => below(root, namespace, path),
            Self::Refused => Err(LocalPathError::NoRoot),
        }
    }
}

/// Fails if nobody could make files in a directory, or the directory itself
/// where it is missing. Nothing is made.
pub(crate) fn may_write(directory: &Path) -> io::Result<()> {
    for place in directory.ancestors() {
        let place = if place.as_os_str().is_empty() { Path::new(".") } else { place };
        match fs::metadata(place) {
            Ok(found) if found.is_dir() => {
                return Ok(rustix::fs::access(place, Access::WRITE_OK | Access::EXEC_OK)?);
            }
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

fn below(root: &Path, namespace: &str, path: &str) -> Result<PathBuf, LocalPathError> {
    let parts: Vec<_> = Path::new(namespace).components().collect();
    if !matches!(parts.as_slice(), [Component::Normal(name)] if *name == namespace) {
        return Err(LocalPathError::Namespace(namespace.to_owned()));
    }
    let home = root.join(namespace);
    let outside = || LocalPathError::Outside { path: path.to_owned(), home: home.clone() };
    let relative = match Path::new(path) {
        absolute if absolute.is_absolute() => {
            absolute.strip_prefix(&home).map_err(|_| outside())?
        }
        relative => relative,
    };
    let real_home = real(root)?.join(namespace);
    let wanted = real_home.join(relative);
    let there = real(&wanted)?;
    if there.starts_with(&real_home) {
        Ok(there)
    } else {
        Err(LocalPathError::Link { path: path.to_owned(), home })
    }
}

/// A path without links, as far as it exists.
fn real(path: &Path) -> Result<PathBuf, LocalPathError> {
    let unreadable = |source| LocalPathError::Unreadable { path: path.to_owned(), source };
    for existing in path.ancestors() {
        match fs::symlink_metadata(existing) {
            Ok(_) => {
                let rest = path.strip_prefix(existing).unwrap_or(Path::new(""));
                let real = fs::canonicalize(existing).map_err(unreadable)?;
                return Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn below(root: &Path) -> LocalPaths {
        LocalPaths::Below { root: root.to_owned() }
    }

    #[test]
    fn the_command_line_writes_anywhere_but_does_not_climb() {
        let paths = LocalPaths::Anywhere;
        assert_eq!(paths.resolve("shop", "/x/y").unwrap(), Path::new("/x/y"));
        assert_eq!(paths.resolve("shop", "x").unwrap(), Path::new("x"));
        assert!(matches!(paths.resolve("shop", "x/../y"), Err(LocalPathError::Climbs(_))));
        assert!(matches!(paths.resolve("shop", " "), Err(LocalPathError::Blank)));
        assert!(matches!(paths.resolve("shop", "x\0"), Err(LocalPathError::Nul(_))));
    }

    #[test]
    fn what_could_be_made_is_not_made() {
        let root = tempfile::tempdir().unwrap();
        may_write(&root.path().join("a/b")).unwrap();
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
        fs::write(root.path().join("file"), "").unwrap();
        may_write(&root.path().join("file")).unwrap_err();
        may_write(&root.path().join("file/below")).unwrap_err();
        may_write(Path::new("")).unwrap();
    }

    #[test]
    fn without_a_root_the_flag_is_named() {
        let error = LocalPaths::Refused.resolve("shop", "/x").unwrap_err();
        assert!(error.to_string().contains("--local-sink-root"));
    }

    #[test]
    fn a_namespace_has_its_own_directory() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().canonicalize().unwrap().join("shop");
        let paths = below(root.path());
        assert_eq!(paths.resolve("shop", "a/b").unwrap(), home.join("a/b"));
        assert_eq!(paths.resolve("shop", ".").unwrap(), home);
        let absolute = root.path().join("shop/a");
        assert_eq!(paths.resolve("shop", absolute.to_str().unwrap()).unwrap(), home.join("a"));
        for other in ["other/a", "shopping", ""] {
            let other = root.path().join(other);
            let found = paths.resolve("shop", other.to_str().unwrap());
            assert!(matches!(found, Err(LocalPathError::Outside { .. })), "{found:?}");
        }
        for namespace in ["", ".", "..", "a/b", "/", "a/"] {
            let found = paths.resolve(namespace, "a");
            assert!(matches!(found, Err(LocalPathError::Namespace(_))), "{namespace:?} {found:?}");
        }
    }

    #[test]
    fn a_link_does_not_lead_out() {
        let root = tempfile::tempdir().unwrap();
        let paths = below(root.path());
        fs::create_dir_all(root.path().join("shop/inside")).unwrap();
        fs::create_dir_all(root.path().join("other")).unwrap();
        symlink("../other", root.path().join("shop/out")).unwrap();
        symlink("inside", root.path().join("shop/in")).unwrap();
        symlink("shop", root.path().join("alias")).unwrap();
        symlink("nowhere", root.path().join("shop/dangling")).unwrap();
        let inside = root.path().canonicalize().unwrap().join("shop/inside/x");
        assert_eq!(paths.resolve("shop", "in/x").unwrap(), inside);
        for (namespace, path) in [("shop", "out"), ("shop", "out/x/y"), ("alias", "x")] {
            let found = paths.resolve(namespace, path);
            assert!(matches!(found, Err(LocalPathError::Link { .. })), "{found:?}");
        }
        let found = paths.resolve("shop", "dangling/x");
        assert!(matches!(found, Err(LocalPathError::Unreadable { .. })), "{found:?}");
    }
}
