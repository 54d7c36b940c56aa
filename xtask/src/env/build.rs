//! Builds the servers, so that an interrupted build is never taken for a
//! finished one and two at once do no harm.

use std::{
    fs::{self, File, TryLockError},
    io::ErrorKind,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail};

use super::{
    ASSETS, missing,
    recipe::{Recipe, SERVERS, Server, platform},
};
use crate::{clock::Stopwatch, run, say};

/// Directories of this prefix are builds under way, or what is left of them.
const UNFINISHED: &str = "building-";

/// How often a long build says that it is still at it.
const SIGN_OF_LIFE: Duration = Duration::from_secs(30);

/// Builds every server into its directory below the cache.
///
/// They are built beside it and moved when all are done.
pub(super) fn into_cache(root: &Path, cache: &Path, recipe: &Recipe) -> Result<()> {
    say_if_go_is_absent(root, recipe)?;
    fs::create_dir_all(cache)
        .with_context(|| format!("could not create the cache {}", cache.display()))?;
    let finished = cache.join(recipe.directory_name());
    // Held until the end of this function; the system frees it if we are killed.
    let _lock = lock(cache)?;
    if missing(&finished).is_empty() {
        return Ok(());
    }
    remove_unfinished(cache)?;
    let unfinished = cache.join(format!("{UNFINISHED}{}", recipe.directory_name()));
    fs::create_dir(&unfinished)
        .with_context(|| format!("could not create {}", unfinished.display()))?;

    say::progress(&format!(
        "building the servers for tests into {}; the first time this takes some minutes",
        finished.display()
    ));
    let total = Stopwatch::start();
    for (number, server) in (1..).zip(&SERVERS) {
        let Server { name, package, .. } = server;
        say::progress(&format!("building {name} ({number} of {}): {package}", SERVERS.len()));
        let watch = Stopwatch::start();
        let mut command = go(root);
        command.args(recipe.arguments(server)).arg("-o").arg(unfinished.join(name)).arg(package);
        build(&mut command, name, watch)?;
        say::progress(&format!("built {name} in {}", watch.reading()));
    }
    put(&unfinished, &finished)?;
    say::progress(&format!("built the servers in {}", total.reading()));
    Ok(())
}

/// Moves a finished build to its place; what stands there lacks something.
fn put(unfinished: &Path, finished: &Path) -> Result<()> {
    let context = || format!("could not move the servers to {}", finished.display());
    match fs::remove_dir_all(finished) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(context);
        }
        _ => {}
    }
    fs::rename(unfinished, finished).with_context(context)
}

fn go(root: &Path) -> Command {
    let mut command = run::program(&root.join("testenv"), "go");
    // A workspace file somewhere above us must not change what is built.
    command.envs(platform()).env("GOWORK", "off").stdout(Stdio::null());
    command
}

fn say_if_go_is_absent(root: &Path, recipe: &Recipe) -> Result<()> {
    if !run::succeeds(go(root).arg("version")) {
        bail!(
            "the servers for tests are built with Go, and `go version` does not run: \
             install Go {} or newer (https://go.dev/dl), or set {ASSETS} \
             to a directory that holds etcd, kube-apiserver and kubectl",
            recipe.go
        );
    }
    Ok(())
}

/// Runs one build, with a sign of life when it takes long.
fn build(command: &mut Command, name: &str, watch: Stopwatch) -> Result<()> {
    let mut child = command.spawn().map_err(|error| run::not_started(command, error))?;
    let mut next = SIGN_OF_LIFE;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if watch.elapsed() >= next {
            say::progress(&format!("still building {name}, {} so far", watch.reading()));
            next += SIGN_OF_LIFE;
        }
        thread::sleep(Duration::from_millis(100));
    };
    if !status.success() {
        bail!("could not build {name}: `{}` failed ({status})", run::describe(command));
    }
    Ok(())
}

/// Waits until nobody else builds in this cache.
fn lock(cache: &Path) -> Result<File> {
    let path = cache.join("lock");
    let context = || format!("could not lock {}", path.display());
    let file = File::create(&path).with_context(context)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            say::progress("another build of the servers is under way; waiting for it");
            file.lock().with_context(context)?;
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(context),
    }
    Ok(file)
}

/// Removes what interrupted builds left; the lock says that none is under way.
fn remove_unfinished(cache: &Path) -> Result<()> {
    for entry in fs::read_dir(cache)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            fs::remove_dir_all(entry.path()).with_context(|| {
                format!("could not remove the unfinished {}", entry.path().display())
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn what_an_interrupted_build_left_is_removed_and_nothing_else() {
        let scratch = Scratch::new().unwrap();
        fs::create_dir_all(scratch.path().join("building-v1.36.3-0")).unwrap();
        fs::create_dir_all(scratch.path().join("v1.36.2-0")).unwrap();
        remove_unfinished(scratch.path()).unwrap();
        assert!(!scratch.path().join("building-v1.36.3-0").exists());
        assert!(scratch.path().join("v1.36.2-0").exists());
    }

    #[test]
    fn a_directory_that_lacks_something_is_replaced() {
        let scratch = Scratch::new().unwrap();
        let (unfinished, finished) = (scratch.path().join("new"), scratch.path().join("old"));
        fs::create_dir(&unfinished).unwrap();
        fs::create_dir(&finished).unwrap();
        fs::write(unfinished.join("etcd"), "new").unwrap();
        fs::write(finished.join("kubectl"), "old").unwrap();
        put(&unfinished, &finished).unwrap();
        assert!(!unfinished.exists() && !finished.join("kubectl").exists());
        assert_eq!(fs::read_to_string(finished.join("etcd")).unwrap(), "new");
    }

    #[test]
    fn a_second_build_waits_for_the_first() {
        let scratch = Scratch::new().unwrap();
        let first = lock(scratch.path()).unwrap();
        let other = File::create(scratch.path().join("lock")).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(first);
        assert!(lock(scratch.path()).is_ok());
    }
}
