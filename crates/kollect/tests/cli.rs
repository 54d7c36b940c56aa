//! The binary as a user runs it.

mod cli {
    #[cfg(test)]
    mod support;
    mod crds;
    mod rights;
    mod samples;
    mod collecting;
    mod init;
    mod sinks;
    mod validating;
    mod bad_input;
    mod evaluating;
    mod operating;
    mod small_commands;
}
