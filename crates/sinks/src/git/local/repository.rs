//! A bare repository: what it says about itself, and its branches.

use std::{
    io::{self, Write as _},
    path::Path,
};

use cap_std::{ambient_authority, fs::Dir};

use crate::git::{error::Fault, object::Id};

/// Extensions of the format that change nothing for us.
const HARMLESS: [&str; 3] = ["noop", "worktreeconfig", "preciousobjects"];

/// An open repository, out of which no path and no link leads.
#[derive(Debug)]
pub(in crate::git) struct Repository {
    dir: Dir,
}

impl Repository {
    /// Opens a repository, if it is one that we can use.
    pub(super) fn open(path: &Path) -> Result<Self, Fault> {
        let shown = path.display();
        let none = format!(
            "there is no bare Git repository at {shown}; make one with `git init --bare {shown}`"
        );
        let dir = match Dir::open_ambient_dir(path, ambient_authority()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Fault::Unusable(none));
            }
            opened => opened?,
        };
        let is_git = ["HEAD", "objects", "refs"].into_iter().all(|name| dir.exists(name));
        if !is_git {
            return Err(Fault::Unusable(none));
        }
        let repository = Self { dir };
        repository.judge(&shown.to_string())?;
        Ok(repository)
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Refuses what we would read wrongly.
    fn judge(&self, shown: &str) -> Result<(), Fault> {
        let config = self.text("config")?.unwrap_or_default();
        let unusable =
            |reason: &str| Err(Fault::Unusable(format!("the repository {shown} {reason}")));
        for (section, key, value) in settings(&config) {
            match (section.as_str(), key.as_str(), value.to_ascii_lowercase().as_str()) {
                ("extensions", "objectformat", "sha256") => {
                    return unusable("names its objects by SHA-256, which is not supported");
                }
                ("extensions", "objectformat", "sha1") | ("extensions", "refstorage", "files") => {}
                ("extensions", key, _) if HARMLESS.contains(&key) => {}
                ("extensions", key, _) => {
                    return unusable(&format!("has the extension {key}, which is not supported"));
                }
                ("core", "bare", "false" | "no" | "off" | "0") => {
                    return unusable("is not bare: somebody works in it");
                }
                _ => {}
            }
        }
        if self.dir.exists("objects/info/alternates") {
            return unusable("borrows objects of another (objects/info/alternates)");
        }
        Ok(())
    }

    /// Where a branch is.
    pub(super) fn branch(&self, name: &str) -> Result<Option<Id>, Fault> {
        let path = format!("refs/heads/{name}");
        if let Some(text) = self.text(&path)? {
            let unusable = || Fault::Unusable(format!("{path} does not name a commit"));
            return text.trim().parse().map(Some).map_err(|_| unusable());
        }
        let packed = self.text("packed-refs")?.unwrap_or_default();
        let found = packed.lines().find_map(|line| {
            let (id, of) = line.split_once(' ')?;
            (of == path).then(|| id.parse())?.ok()
        });
        Ok(found)
    }

    /// Moves a branch, which must be locked.
    pub(super) fn set(&self, path: &str, id: Id) -> io::Result<()> {
        // Not beside the branch: whatever is there is taken for one.
        let aside = format!("kollect-{}.tmp", std::process::id());
        let mut file = self.dir.create(&aside)?;
        file.write_all(format!("{id}\n").as_bytes())?;
        file.sync_all()?;
        self.dir.rename(&aside, &self.dir, path)?;
        self.sync(path.rsplit_once('/').map_or(".", |(folder, _)| folder))
    }

    /// Makes the names in a folder durable.
    pub(super) fn sync(&self, folder: &str) -> io::Result<()> {
        match self.dir.open(folder)?.sync_all() {
            // There are file systems that do so on their own, and refuse to be asked.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced,
        }
    }

    /// Makes a file and removes it again.
    pub(super) fn try_out(&self) -> io::Result<()> {
        let path = format!("objects/kollect-{}.tmp", std::process::id());
        self.dir.create(&path)?;
        self.dir.remove_file(path)
    }

    fn text(&self, path: &str) -> Result<Option<String>, Fault> {
        match self.dir.read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            // A folder is where another branch has this one's name as its first part.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::NotADirectory
                        | io::ErrorKind::IsADirectory
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The settings of a configuration: section, key and value.
fn settings(config: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut settings = Vec::new();
    for line in config.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.split([']', ' ']).next().unwrap_or_default().to_ascii_lowercase();
        } else if !line.starts_with(['#', ';']) && !line.is_empty() {
            let (key, value) = line.split_once('=').unwrap_or((line, "true"));
            let value = value.split(['#', ';']).next().unwrap_or_default();
            let value = value.trim().trim_matches('"').to_owned();
            settings.push((section.clone(), key.trim().to_ascii_lowercase(), value));
        }
    }
    settings
}
