//! Keeps the servers from outliving us.
//!
//! The servers are children of a shell that does nothing but read its
//! standard input. We hold the only other end of that pipe, so the shell sees
//! the end of its input when we close it and also when we are killed. It then
//! kills the servers, waits for them and removes their directory.

use std::{
    fs,
    io::{self, BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::launch::Launch;

/// Arguments: the directory, the etcd program, the API server's command line.
///
/// The signals are ignored so that none of them can end the shell before its
/// work is done; a broken pipe counts, because we may die before we have read
/// the ids. A server that has ended stays unreaped until `wait`, so its id
/// cannot come to mean another process before `kill`.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT PIPE TERM
directory=$1 etcd=$2
shift 2
cd "$directory" || exit
"$etcd" --config-file=etcd.json </dev/null >etcd.log 2>&1 &
etcd=$!
"$@" </dev/null >kube-apiserver.log 2>&1 &
apiserver=$!
echo "$etcd $apiserver"
while read -r line; do :; done
kill -9 "$etcd" "$apiserver"
wait
cd / && rm -rf "$directory"
"#;

/// The ids of the processes that make up a control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processes {
    /// The shell that ends the other two.
    pub keeper: u32,
    pub etcd: u32,
    pub apiserver: u32,
}

/// The running shell. Dropping it ends the servers and returns when they are gone.
pub(crate) struct Keeper {
    shell: Child,
    processes: Processes,
}

impl Processes {
    /// The ids among these that still belong to a running process.
    ///
    /// An ended process that nobody has reaped yet does not count. Without
    /// `/proc` every process counts as running.
    pub fn running(&self) -> Vec<u32> {
        let Self { keeper, etcd, apiserver } = *self;
        [keeper, etcd, apiserver].into_iter().filter(|id| is_running(*id)).collect()
    }
}

impl Keeper {
    /// Starts the servers as the launch says, with `directory` as their working directory.
    pub(crate) fn start(directory: &Path, launch: &Launch) -> io::Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "keeper"])
            .arg(directory)
            .arg(&launch.etcd)
            .arg(&launch.apiserver)
            .args(&launch.apiserver_flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Whoever waits for the end of our own output must not wait for the servers.
            .stderr(Stdio::null())
            // What is sent to our process group, by a terminal or a test runner, is not for it.
            .process_group(0)
            .spawn()?;
        let mut keeper =
            Self { processes: Processes { keeper: shell.id(), etcd: 0, apiserver: 0 }, shell };
        let mut ids = String::new();
        if let Some(output) = keeper.shell.stdout.take() {
            BufReader::new(output).read_line(&mut ids)?;
        }
        let (etcd, apiserver) = server_ids(&ids)
            .ok_or_else(|| io::Error::other(format!("the shell gave no process ids: {ids:?}")))?;
        keeper.processes.etcd = etcd;
        keeper.processes.apiserver = apiserver;
        Ok(keeper)
    }

    pub(crate) fn processes(&self) -> Processes {
        self.processes
    }

    /// Names the server that is no longer running, if there is one.
    pub(crate) fn ended(&self) -> Option<&'static str> {
        let Processes { keeper: _, etcd, apiserver } = self.processes;
        [(etcd, "etcd"), (apiserver, "kube-apiserver")]
            .into_iter()
            .find_map(|(id, name)| (!is_running(id)).then_some(name))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        self.shell.wait().ok();
    }
}

fn server_ids(line: &str) -> Option<(u32, u32)> {
    let (etcd, apiserver) = line.trim().split_once(' ')?;
    Some((etcd.parse().ok()?, apiserver.parse().ok()?))
}

pub(crate) fn is_running(id: u32) -> bool {
    match fs::read_to_string(format!("/proc/{id}/stat")) {
        Ok(stat) => !has_ended(&stat),
        Err(_) => !Path::new("/proc/self/stat").exists(),
    }
}

/// Reads the state in a line of `/proc`, which follows the name in parentheses.
fn has_ended(stat: &str) -> bool {
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, None | Some('Z' | 'X'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreaped_process_has_ended() {
        assert!(has_ended("12 (etcd) Z 1 12 12 0"));
        assert!(!has_ended("12 (etcd) S 1 12 12 0"));
        assert!(!has_ended("12 (odd) Z (name) R 1 12 12 0"));
    }

    #[test]
    fn this_process_is_running() {
        assert!(is_running(std::process::id()));
    }

    #[test]
    fn the_ids_are_read_from_one_line() {
        assert_eq!(server_ids("12 34\n"), Some((12, 34)));
        assert_eq!(server_ids(""), None);
    }
}
