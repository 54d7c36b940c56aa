//! Runs other programs, with errors that say which one, and reads settings.

use std::{
    env::{self, VarError},
    ffi::OsStr,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, anyhow, bail};

/// The root of the repository, whatever directory the verb was called in.
pub(crate) fn root() -> Result<PathBuf> {
    // Cargo sets it when it runs us. The path known at compile time may be that
    // of another clone that shares our target directory.
    let manifest =
        setting("CARGO_MANIFEST_DIR")?.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").to_owned());
    let root = Path::new(&manifest).parent().context("xtask has no parent directory")?;
    Ok(root.to_owned())
}

/// An environment variable; one that is empty counts as not set.
#[expect(clippy::disallowed_methods, reason = "the one door through which chores take settings")]
pub(crate) fn setting(name: &str) -> Result<Option<String>> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(error @ VarError::NotUnicode(_)) => {
            Err(error).with_context(|| format!("cannot read the variable {name}"))
        }
    }
}

/// A program that runs at the root of the repository.
pub(crate) fn program(root: &Path, name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root);
    command
}

/// The cargo that runs us.
pub(crate) fn cargo(root: &Path) -> Result<Command> {
    Ok(program(root, setting("CARGO")?.unwrap_or_else(|| "cargo".to_owned())))
}

/// Runs to the end, on our terminal; an exit code other than zero is an error.
pub(crate) fn check(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| not_started(command, error))?;
    if !status.success() {
        bail!("`{}` failed ({status})", describe(command));
    }
    Ok(())
}

/// Runs to the end and returns what was printed on stdout.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| not_started(command, error))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", describe(command), output.status);
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` printed something that is no text", describe(command)))
}

/// Whether the program can be run and is content.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The error for a program that did not even start.
pub(crate) fn not_started(command: &Command, error: std::io::Error) -> anyhow::Error {
    let name = command.get_program().to_string_lossy();
    match error.kind() {
        ErrorKind::NotFound => anyhow!("`{name}` was not found: is it installed and on the PATH?"),
        _ => anyhow::Error::new(error).context(format!("could not start `{name}`")),
    }
}

/// The command as one would type it.
pub(crate) fn describe(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default();
    std::iter::once(name)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = program(Path::new("."), "sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_failure_names_the_command_and_its_exit_code() {
        let error = check(&mut shell("exit 3")).unwrap_err().to_string();
        assert_eq!(error, "`sh -c exit 3` failed (exit status: 3)");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = check(&mut program(Path::new("."), "no-such-program")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`no-such-program` was not found: is it installed and on the PATH?"
        );
    }

    #[test]
    fn what_was_printed_is_captured() {
        assert_eq!(capture(&mut shell("echo out")).unwrap(), "out\n");
    }
}
