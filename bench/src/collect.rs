//! What collecting costs beside reading the same bytes, and what it keeps.

pub(crate) mod stock;
pub(crate) mod cluster;
mod reading;
mod discard;
mod sync;
mod stream;

use std::{
    io::{self, Write as _},
    path::Path,
};

use anyhow::{Context, bail, ensure};
use kollect_collect::use_ring;

use self::{
    discard::Connections,
    reading::{Reading, mebibytes, median},
    stock::{READ, Stock},
};
use crate::measure::{float, print};

/// So many runs of each, in turns; those in the middle count.
const RUNS: usize = 7;

/// Runs all of it, or the part that a process of its own is started for.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    use_ring();
    // One thread: what a collector costs most is waking others.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let stock = |name: &str| Stock::named(name).with_context(|| format!("nobody knows {name}"));
    match arguments {
        ["sync", kubeconfig, name] => {
            runtime.block_on(sync::run(Path::new(kubeconfig), stock(name)?))?.tell()
        }
        [whose @ ("discard" | "discard-ours"), kubeconfig, name] => {
            let ours = *whose == "discard-ours";
            let connections = if ours { Connections::Ours } else { Connections::Kubes };
            let reading = discard::run(Path::new(kubeconfig), stock(name)?, connections);
            runtime.block_on(reading)?.tell()
        }
        ["serve", assets, cache] => serve(Path::new(assets), Path::new(cache)),
        ["source"] => stream::source(),
        ["stream"] => runtime.block_on(stream::run()),
        [assets, cache] => {
            lists(Path::new(assets), Path::new(cache))?;
            runtime.block_on(stream::run())
        }
        _ => bail!("usage: bench collect <directory of the servers> <directory of the cache>"),
    }
}

/// Keeps the server until the standard input ends, for whoever wants to look
/// closer.
fn serve(assets: &Path, cache: &Path) -> anyhow::Result<()> {
    let plane = cluster::start(assets, cache, &READ)?;
    writeln!(io::stdout(), "{}", plane.kubeconfig().display())?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

/// Everything that is measured on the real server.
fn lists(assets: &Path, cache: &Path) -> anyhow::Result<()> {
    let plane = cluster::start(assets, cache, &READ)?;
    let kubeconfig = plane.kubeconfig().to_str().context("a kubeconfig has an odd path")?;
    let discard = |stock: Stock| Reading::of(&["discard", kubeconfig, stock.name()]);
    let sync = |stock: Stock| {
        let reading = Reading::of(&["sync", kubeconfig, stock.name()])?;
        ensure!(reading.rows == stock.count(), "{} became {} rows", stock.name(), reading.rows);
        anyhow::Ok(reading)
    };
    // The server has read it from its own store once, when somebody asked for it.
    let bytes = discard(Stock::Pods)?.bytes;
    print("collect.object_bytes", float(bytes) / float(Stock::Pods.count()))?;
    let (mut discarded, mut our_way, mut synced) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        discarded.push(discard(Stock::Pods)?);
        our_way.push(Reading::of(&["discard-ours", kubeconfig, Stock::Pods.name()])?);
        synced.push(sync(Stock::Pods)?);
    }
    let ratio = |figure: fn(&Reading) -> f64| (median(&discarded, figure), median(&synced, figure));
    let (of_discard, of_sync) = ratio(|one| one.seconds);
    print("collect.discard_s", of_discard)?;
    print("collect.sync_s", of_sync)?;
    print("collect.sync_ratio", of_sync / of_discard)?;
    let (of_discard, of_sync) = ratio(|one| one.cpu_seconds);
    print("collect.discard_cpu_s", of_discard)?;
    print("collect.sync_cpu_s", of_sync)?;
    print("collect.sync_cpu_ratio", of_sync / of_discard)?;
    // What is left when the same connections are used for nothing.
    print("collect.discard_our_way_cpu_s", median(&our_way, |one| one.cpu_seconds))?;
    print("collect.rss_steady_mib", median(&synced, |one| mebibytes(one.steady)))?;
    print("collect.rss_peak_mib", median(&synced, |one| mebibytes(one.peak)))?;
    print("collect.peak_ratio", median(&synced, |one| float(one.peak) / float(one.steady)))?;

    let (mut small, mut large) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        small.push(sync(Stock::Small)?);
        large.push(sync(Stock::Large)?);
    }
    for (name, stock, readings) in [("7k", Stock::Small, &small), ("70k", Stock::Large, &large)] {
        let each = float(discard(stock)?.bytes) / float(stock.count());
        print(&format!("collect.object_bytes.{name}"), each)?;
        print(&format!("collect.rss_mib.{name}"), median(readings, |one| mebibytes(one.steady)))?;
        print(
            &format!("collect.rss_peak_mib.{name}"),
            median(readings, |one| mebibytes(one.peak)),
        )?;
    }
    let steady = |readings: &[Reading]| median(readings, |one| float(one.steady));
    print("collect.rss_ratio_10x_objects", steady(&large) / steady(&small))?;
    Ok(())
}
