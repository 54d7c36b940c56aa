//! A temporary directory that goes when its value goes.

use std::{
    env, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process,
};

use anyhow::{Context, Result};

use crate::say;

/// Owns a fresh directory.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Result<Self> {
        let mut number = 0_u32;
        loop {
            let path = env::temp_dir().join(format!("kollect-xtask-{}-{number}", process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => {
                    return Err(error)
                        .with_context(|| format!("could not create {}", path.display()));
                }
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            say::progress(&format!("could not remove {}: {error}", self.0.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_directories_are_different_and_go_with_their_values() {
        let (one, two) = (Scratch::new().unwrap(), Scratch::new().unwrap());
        assert_ne!(one.path(), two.path());
        let path = one.path().to_owned();
        assert!(path.is_dir());
        drop(one);
        assert!(!path.exists());
    }
}
