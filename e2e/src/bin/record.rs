//! Records what a real server says of its built-in kinds into a directory.

use std::{env, fs, path::PathBuf};

use anyhow::{Context as _, Result};
use kollect_testenv::ControlPlane;

#[tokio::main]
async fn main() -> Result<()> {
    let directory: PathBuf = env::args_os().nth(1).context("which directory?")?.into();
    let plane = ControlPlane::shared().context("the servers are not there")?;
    let recording = e2e::record::record(plane.kubeconfig()).await?;
    let wire = recording.wire()?;
    for (name, text) in
        [("kinds.json", recording.kinds), ("schemas.json", recording.schemas), ("wire.json", wire)]
    {
        let file = directory.join(name);
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}
