//! Where everything of a run is on disk.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use tempfile::TempDir;

use super::samples::{GIT, HOME, SQLITE};

/// A directory, and whether it stays.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    /// Removed when it is dropped.
    temporary: Option<TempDir>,
}

impl Place {
    /// The directory that was named, or one that goes at the end; with an empty
    /// repository in it, if there is none.
    pub(super) fn open(named: Option<&Path>) -> anyhow::Result<Self> {
        let (path, temporary) = if let Some(path) = named {
            let made = fs::create_dir_all(path);
            made.with_context(|| format!("cannot make the directory {}", path.display()))?;
            (path.to_owned(), None)
        } else {
            let made = tempfile::Builder::new().prefix("kollect-demo-").tempdir();
            let made = made.context("cannot make a temporary directory")?;
            (made.path().to_owned(), Some(made))
        };
        // Whoever reads a path in another directory must find it, too.
        let path = path.canonicalize().context("cannot find the directory")?;
        let place = Self { path, temporary };
        init_bare(&place.repository()).context("cannot make a repository")?;
        Ok(place)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where everything is, and what becomes of it.
    pub(super) fn remark(&self) -> String {
        let fate = match self.temporary {
            Some(_) => "which is removed at the end; --dir DIR keeps it",
            None => "which stays",
        };
        format!("Copies, kubeconfig and the operator's log are in {}, {fate}.", self.path.display())
    }

    /// What becomes of it, when it is over.
    pub(super) fn farewell(&self) -> String {
        let path = self.path.display();
        match self.temporary {
            Some(_) => format!("{path} is removed; --dir DIR keeps it"),
            None => format!("the copies stay in {path}/{HOME}"),
        }
    }

    pub(super) fn repository(&self) -> PathBuf {
        self.path.join(HOME).join(GIT.1)
    }

    pub(super) fn database(&self) -> PathBuf {
        self.path.join(HOME).join(SQLITE.1)
    }

    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.path.join("kubeconfig")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.path.join("operator.log")
    }

    /// The file that the operator speaks to.
    pub(super) fn open_log(&self) -> anyhow::Result<File> {
        let path = self.log();
        let opened = File::options().create(true).append(true).open(&path);
        opened.with_context(|| format!("cannot write {}", path.display()))
    }

    /// Removes it, if it does not stay.
    pub(super) fn close(self) -> anyhow::Result<()> {
        match self.temporary {
            Some(directory) => directory.close().context("cannot remove the directory"),
            None => Ok(()),
        }
    }
}

/// Makes an empty bare repository, as `git init --bare` would; one that is
/// there stays as it is.
fn init_bare(path: &Path) -> io::Result<()> {
    if path.join("HEAD").exists() {
        return Ok(());
    }
    for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
        fs::create_dir_all(path.join(folder))?;
    }
    let config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";
    fs::write(path.join("config"), config)?;
    fs::write(path.join("HEAD"), "ref: refs/heads/main\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_was_named_stays_and_another_goes() {
        let outer = tempfile::tempdir().unwrap();
        let named = Place::open(Some(&outer.path().join("a/b"))).unwrap();
        let path = named.path().to_owned();
        named.close().unwrap();
        assert!(path.join("kollect-demo/inventory.git/HEAD").exists());
        let unnamed = Place::open(None).unwrap();
        let path = unnamed.path().to_owned();
        assert!(path.exists());
        unnamed.close().unwrap();
        assert!(!path.exists());
    }
}
