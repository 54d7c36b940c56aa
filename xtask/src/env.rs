//! Makes sure that the real servers exist that tests run against.
//!
//! They are built once from the versions in `testenv/go.mod` and kept outside
//! the work tree, in a directory named for everything that decides what is in
//! it: another version is another directory. Servers that every distribution
//! has are Debian's.

mod debian;
mod build;
mod cache;
mod recipe;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use self::recipe::{Recipe, SERVERS};
use crate::{run, say};

/// The variable that names the directory of the servers, to us and to tests.
pub(crate) const ASSETS: &str = "KUBEBUILDER_ASSETS";

/// Prints the directory of the servers, after building what is missing.
pub(crate) fn run(root: &Path) -> Result<()> {
    say::result(&ensure(root)?.display().to_string());
    Ok(())
}

/// The directory that holds the servers; builds them if need be.
pub(crate) fn ensure(root: &Path) -> Result<PathBuf> {
    debian::ensure(root)?;
    if let Some(given) = run::setting(ASSETS)? {
        return given_by_the_user(&given);
    }
    let recipe = Recipe::read(root)?;
    let cache = cache::directory(cache::Settings {
        test_cache: run::setting("KOLLECT_TEST_CACHE")?,
        user_cache: run::setting("XDG_CACHE_HOME")?,
        home: run::setting("HOME")?,
    })?;
    let directory = cache.join(recipe.directory_name());
    if missing(&directory).is_empty() {
        say::progress(&format!("the servers are in {}", directory.display()));
        return Ok(directory);
    }
    build::into_cache(root, &cache, &recipe)?;
    say::progress(&format!("the servers are now in {}", directory.display()));
    Ok(directory)
}

/// What the API server in a directory calls itself, such as `v1.36.3`.
pub(crate) fn server_version(directory: &Path) -> Result<String> {
    let server = directory.join("kube-apiserver");
    let text = run::capture(run::program(directory, server).arg("--version"))?;
    let version = text.split_whitespace().last().context("kube-apiserver has no version")?;
    Ok(version.to_owned())
}

fn given_by_the_user(given: &str) -> Result<PathBuf> {
    let directory = std::path::absolute(given)
        .with_context(|| format!("{ASSETS} holds no usable path: {given}"))?;
    let missing = missing(&directory);
    if !missing.is_empty() {
        bail!(
            "{ASSETS} is set to {} but there is no executable {} in it; \
             add what is missing, or unset the variable to have the servers built",
            directory.display(),
            missing.join(", nor ")
        );
    }
    say::progress(&format!("the servers are those of {ASSETS}: {}", directory.display()));
    Ok(directory)
}

/// The servers that a directory lacks, or holds as something that cannot be run.
fn missing(directory: &Path) -> Vec<&'static str> {
    let runs = |name: &str| {
        fs::metadata(directory.join(name))
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    SERVERS.iter().map(|server| server.name).filter(|name| !runs(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn executable(directory: &Path, name: &str, mode: u32) {
        let path = directory.join(name);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_directory_with_all_three_lacks_nothing() {
        let scratch = Scratch::new().unwrap();
        for name in ["etcd", "kube-apiserver", "kubectl"] {
            executable(scratch.path(), name, 0o755);
        }
        assert!(missing(scratch.path()).is_empty());
        assert_eq!(given_by_the_user(scratch.path().to_str().unwrap()).unwrap(), scratch.path());
    }

    #[test]
    fn a_directory_of_the_user_that_lacks_one_is_refused_by_name() {
        let scratch = Scratch::new().unwrap();
        executable(scratch.path(), "etcd", 0o755);
        executable(scratch.path(), "kubectl", 0o644);
        let error = given_by_the_user(scratch.path().to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("no executable kube-apiserver, nor kubectl in it"), "{error}");
    }

    #[test]
    fn a_directory_that_does_not_exist_lacks_everything() {
        assert_eq!(missing(Path::new("/nowhere")), ["etcd", "kube-apiserver", "kubectl"]);
    }
}
