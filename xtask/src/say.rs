//! The one door for output: results on stdout, everything else on stderr, so
//! that `$(cargo xtask env)` holds the result alone.

use std::io::{self, Write};

/// Prints a line that the caller asked for.
#[expect(clippy::print_stdout, reason = "a chore's result goes to whoever runs it")]
pub(crate) fn result(text: &str) {
    println!("{text}");
}

/// Prints a line about what is going on.
#[expect(clippy::print_stderr, reason = "a chore tells whoever runs it how far it is")]
pub(crate) fn progress(text: &str) {
    eprintln!("{text}");
}

/// Passes on what another program wrote, as it is and at once.
pub(crate) fn pass_on(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}
