//! The one binary: what a person or a cluster runs.
//!
//! Records go to standard output, everything else to standard error, and the
//! exit code says how it went. Each command is a file of its own; they share
//! the arguments in `args`.

mod args;
mod clock;
mod collect;
mod crds;
mod demo;
mod eval;
mod init;
mod kinds;
mod logs;
mod operator;
mod rbac;
mod rules;
mod sandbox;
mod secrets;
mod signals;
mod sink;
mod validate;
mod yaml;

use std::{
    env,
    io::{self, ErrorKind, Write},
    process::ExitCode,
};

use anyhow::Context;
use clap::{CommandFactory, Parser};

use args::{Args, Command, SinkCommand, VERSION};

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    kollect_collect::use_ring();
    let args = Args::parse();
    match run(args.command) {
        Ok(code) => code,
        // Whoever reads our output has seen enough; `head` does this.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::from(2)
        }
    }
}

fn complain(error: &anyhow::Error) {
    let chain: Vec<_> = error.chain().map(ToString::to_string).collect();
    // Nothing is left to do when even this cannot be written.
    drop(writeln!(io::stderr(), "kollect: {}", chain.join(": ")));
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match command {
        Command::Crds(options) => crds::run(&options, &mut out)?,
        Command::Demo(options) => return demo::run(&options, &mut out),
        Command::Rbac(options) => rbac::run(&options, &mut out)?,
        Command::Rules(options) => rules::run(&options, &mut out)?,
        Command::Kinds(options) => kinds::run(&options, &mut out)?,
        Command::Collect(options) => return collect::run(&options, &mut out),
        Command::Operator(options) => {
            return Ok(match options.with_file(env::args_os()) {
                Ok(options) => operator::run(&options),
                Err(error) => {
                    complain(&error);
                    ExitCode::FAILURE
                }
            });
        }
        Command::Sink(SinkCommand::Test { files, addresses }) => {
            return sink::test(&files, &addresses, &mut out);
        }
        Command::Sandbox(options) => return sandbox::run(&options, &mut out),
        Command::Init(options) => return init::run(&options, &mut out),
        Command::Eval(options) => return eval::run(&options, &mut out),
        Command::Validate(options) => return validate::run(&options, &mut out),
        Command::Version => writeln!(out, "kollect {VERSION}")?,
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "kollect", &mut script);
            out.write_all(&script).context("cannot write the completion script")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let of_io = |cause: &&(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
    };
    error.chain().any(|cause| of_io(&cause))
}
