//! Keeps the server from outliving us, and ends it on request.
//!
//! As for a control plane, a shell reads its standard input, of which we hold
//! the only other end: when that is closed, it ends the server and removes the
//! directory.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use crate::keeper::is_running;

/// Arguments: the directory and the program. A line `run` is followed by the
/// server's arguments, one a line, and an empty line.
///
/// SIGQUIT ends the server and all its processes without a checkpoint, which
/// is what a crash leaves behind.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT PIPE TERM
directory=$1 program=$2 server=
cd "$directory" || exit
while read -r order; do
  case $order in
    run)
      set --
      while read -r line && [ -n "$line" ]; do set -- "$@" "$line"; done
      "$program" "$@" </dev/null >>postgres.log 2>&1 &
      server=$!
      echo "$server" ;;
    crash)
      kill -QUIT "$server"
      wait "$server"
      server=
      echo 0 ;;
  esac
done
[ -z "$server" ] || { kill -QUIT "$server"; wait "$server"; }
cd / && rm -rf "$directory"
"#;

/// As whom the server runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    Us,
    /// The user and the group with this number.
    Other(u32),
}

impl Owner {
    /// Makes a command run as the owner.
    pub(super) fn takes(self, command: &mut Command) {
        if let Self::Other(id) = self {
            command.uid(id).gid(id);
        }
    }
}

/// The running shell. Dropping it ends the server and returns when it is gone.
pub(super) struct Keeper {
    shell: Child,
    answers: BufReader<ChildStdout>,
    server: u32,
}

impl Keeper {
    pub(super) fn start(directory: &Path, owner: Owner, program: &Path) -> io::Result<Self> {
        let mut command = Command::new("sh");
        command
            .args(["-c", SCRIPT, "keeper"])
            .arg(directory)
            .arg(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0);
        owner.takes(&mut command);
        let mut shell = command.spawn()?;
        let output = shell.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        Ok(Self { shell, answers: BufReader::new(output), server: 0 })
    }

    /// Starts the server.
    pub(super) fn run(&mut self, arguments: &[String]) -> io::Result<()> {
        self.server = self.order(&format!("run\n{}\n\n", arguments.join("\n")))?;
        Ok(())
    }

    /// Ends the server, and returns when it is gone.
    pub(super) fn crash(&mut self) -> io::Result<()> {
        self.server = self.order("crash\n")?;
        Ok(())
    }

    pub(super) fn is_running(&self) -> bool {
        is_running(self.server)
    }

    fn order(&mut self, text: &str) -> io::Result<u32> {
        let gone = || io::Error::other("the shell is gone");
        self.shell.stdin.as_mut().ok_or_else(gone)?.write_all(text.as_bytes())?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        line.trim().parse().map_err(|_| gone())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        self.shell.wait().ok();
    }
}
