//! A control group for everything that a measurement starts.
//!
//! Outside of one Linux shares its processors among sessions. Each connection
//! of Postgres is a session, which sleeps most of the time and so counts for
//! little: beside a busy API server it waits a tenth of a second for its turn.
//! On a node everything is in control groups, and nothing is shared that way.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
};

/// We are in it until it is dropped.
pub(crate) struct Group {
    directory: PathBuf,
    parent: PathBuf,
}

impl Group {
    /// Nothing, where it would change nothing.
    pub(crate) fn enter() -> io::Result<Option<Self>> {
        let shared = fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled");
        if shared.is_ok_and(|enabled| enabled.trim() == "0") {
            return Ok(None);
        }
        let Some(parent) = at_the_root(&fs::read_to_string("/proc/self/cgroup")?) else {
            return Ok(None);
        };
        let directory = parent.join(format!("kollect-bench-{}", process::id()));
        fs::create_dir(&directory)?;
        let group = Self { directory, parent };
        join(&group.directory, &process::id().to_string())?;
        Ok(Some(group))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Who is still about to end does so elsewhere; a group that stays is no harm.
        let left = fs::read_to_string(self.directory.join("cgroup.procs")).unwrap_or_default();
        for process in left.lines() {
            drop(join(&self.parent, process));
        }
        drop(fs::remove_dir(&self.directory));
    }
}

fn join(group: &Path, process: &str) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), process)
}

/// The group of all processes, if this one is in no other, by either version
/// of control groups.
fn at_the_root(groups: &str) -> Option<PathBuf> {
    let all = Path::new("/sys/fs/cgroup");
    for line in groups.lines() {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        if controllers.split(',').any(|controller| controller == "cpu") {
            return (path == "/").then(|| all.join(controllers));
        }
    }
    let controllers = fs::read_to_string(all.join("cgroup.subtree_control")).ok()?;
    (groups == "0::/\n" && controllers.split(' ').any(|one| one.trim() == "cpu"))
        .then(|| all.to_owned())
}
