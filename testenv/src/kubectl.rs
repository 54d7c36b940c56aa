//! Runs the real kubectl without touching the home directory of whoever runs the tests.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Seek as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// One call of kubectl, made ready by [`ControlPlane::kubectl`](crate::ControlPlane::kubectl).
#[derive(Debug)]
#[must_use = "it does nothing until it is run"]
pub struct Kubectl {
    command: Command,
    config: PathBuf,
    input: Option<Vec<u8>>,
}

/// What kubectl wrote, and whether it was content.
#[derive(Clone, Debug)]
pub struct Output {
    pub stdout: String,
    pub stderr: String,
    pub success: bool,
}

impl Kubectl {
    /// Prepares a call; home and cache are in `directory`.
    pub(crate) fn new(program: &Path, directory: &Path, config: &Path) -> Self {
        let mut command = Command::new(program);
        command
            .env("HOME", directory.join("home"))
            .env("KUBECACHEDIR", directory.join("cache"))
            .env_remove("KUBERC");
        Self { command, config: config.to_owned(), input: None }
    }

    pub(crate) fn args<I>(mut self, args: I) -> Self
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        self.command.args(args);
        self
    }

    /// Acts as the user of another kubeconfig than the administrator's.
    pub fn as_config(mut self, config: &Path) -> Self {
        config.clone_into(&mut self.config);
        self
    }

    /// Gives kubectl this to read, for `-f -`.
    pub fn stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Runs to the end; fails only when kubectl could not be run at all.
    pub fn run(self) -> io::Result<Output> {
        let Self { mut command, config, input } = self;
        let stdin = match input {
            Some(input) => Stdio::from(file_with(&input)?),
            None => Stdio::null(),
        };
        let output = command.env("KUBECONFIG", config).stdin(stdin).output()?;
        Ok(Output {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            success: output.status.success(),
        })
    }

    /// Begins to run, for calls that go on; what it writes to standard output
    /// can be read while it does. It is the caller's to end it.
    pub fn start(self) -> io::Result<Child> {
        let Self { mut command, config, .. } = self;
        command.env("KUBECONFIG", config).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    }

    /// Runs to the end and returns what was written to standard output.
    ///
    /// # Panics
    ///
    /// When kubectl fails, with all that it wrote.
    #[track_caller]
    #[expect(clippy::panic, reason = "only tests call this, and they fail by panicking")]
    pub fn stdout(self) -> String {
        let call = format!("{:?}", self.command.get_args().collect::<Vec<_>>());
        match self.run() {
            Ok(Output { stdout, success: true, .. }) => stdout,
            Ok(Output { stdout, stderr, success: false }) => {
                panic!("kubectl {call} failed\n{stdout}{stderr}")
            }
            Err(error) => panic!("kubectl could not be run: {error}"),
        }
    }
}

/// Makes a nameless file, which unlike a pipe never waits for its reader.
fn file_with(input: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(input)?;
    file.rewind()?;
    Ok(file)
}
