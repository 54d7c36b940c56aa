//! Copies a cluster that keeps changing, until it is killed.
//!
//! `churn KIND PLACE SEED FROM UNTIL` starts with the cluster at step FROM and
//! prints the number of each step that the destination has acknowledged. The
//! test `killed` ends it with SIGKILL at random moments.

use std::{
    env,
    io::{self, Write},
};

use kollect_sinks::{
    InventoryKey,
    conformance::{Churn, Process},
};

#[path = "../tests/conformance/local.rs"]
mod local;
#[path = "../tests/conformance/reach.rs"]
mod reach;

/// Objects that the cluster begins with.
const OBJECTS: usize = 200;

fn main() -> Result<(), String> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [kind, path, seed, from, until] = &arguments[..] else {
        return Err("usage: churn KIND PLACE SEED FROM UNTIL".to_owned());
    };
    let number = |text: &String| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
    let (seed, from, until) = (number(seed)?, number(from)?, number(until)?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let mut churn = Churn::new(seed, OBJECTS);
    churn.forward_to(from);
    runtime.block_on(async {
        let (sink, unit) = local::open(kind, path.as_ref(), "eu-1")?;
        let inventory = InventoryKey { namespace: "shop".to_owned(), name: "web".to_owned() };
        let mut process = Process::start(sink, unit, churn.cluster(), inventory)?;
        loop {
            process.copy().await?;
            writeln!(io::stdout(), "{}", churn.step()).map_err(|error| error.to_string())?;
            if churn.step() >= until {
                return Ok(());
            }
            for (namespace, name) in churn.advance() {
                process.watch(churn.cluster(), namespace, &name);
            }
        }
    })
}
