//! Starts a control plane and keeps it until the standard input ends.
//!
//! For trying things out by hand, and for the test that kills this process.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use kollect_testenv::ControlPlane;

fn main() -> io::Result<ExitCode> {
    let Some(plane) = ControlPlane::shared() else { return Ok(ExitCode::FAILURE) };
    let processes = plane.processes();
    let mut out = io::stdout();
    writeln!(out, "export KUBECONFIG={}", plane.kubeconfig().display())?;
    writeln!(
        out,
        "# keeper {}, etcd {}, kube-apiserver {}",
        processes.keeper, processes.etcd, processes.apiserver
    )?;
    out.flush()?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(ExitCode::SUCCESS)
}
