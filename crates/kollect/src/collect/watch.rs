//! `kollect collect --watch`: goes on until it is told to stop.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
    task::Poll,
    time::Duration,
};

use kollect_collect::{Collector, Habits, Order, Reason, Report, connect};
use kollect_inventory::TargetKey;
use kollect_operator::Kept;
use kollect_sinks::{Delivery, PairKey, PairState, Phase, Scrub};
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinSet};

use super::{
    config::{Config, InventoryPlan},
    copy::{self, Outlet},
    print,
    shown::{News, Shown},
    visit::{Source, Then},
    world::World,
};
use crate::{args::RowFormat, signals::signalled};

/// How long it waits before it looks for a server again that was not there.
const AGAIN: Duration = Duration::from_secs(5);
/// A first export waits for so long for targets of which nothing can be known.
const WARMUP: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(10);

/// What all contexts share.
pub(super) struct Stage<W> {
    pub(super) config: Arc<Config>,
    pub(super) format: RowFormat,
    /// Whether rows are told apart by their cluster.
    pub(super) is_many: bool,
    out: Mutex<W>,
}

impl<W: Write + Send + 'static> Stage<W> {
    pub(super) fn new(config: Arc<Config>, format: RowFormat, is_many: bool, out: W) -> Self {
        Self { config, format, is_many, out: Mutex::new(out) }
    }

    /// Follows all sources until a signal comes, or nobody reads any longer.
    pub(super) async fn play(self, sources: Vec<Source>, then: Then) -> anyhow::Result<()> {
        let stage = Arc::new(self);
        let (over, is_over) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for source in sources {
            let (stage, is_over) = (Arc::clone(&stage), is_over.clone());
            tasks.spawn(async move { stage.follow(source, then, is_over).await });
        }
        let mut failure = None;
        tokio::select! {
            () = signalled() => {}
            Some(Ok(Err(error))) = tasks.join_next() => failure = Some(error),
        }
        over.send_replace(true);
        while tasks.join_next().await.is_some() {}
        match failure {
            // Whoever reads has seen enough, as with `| head`.
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Follows one cluster. Ends only if nothing can be printed any longer.
    async fn follow(
        &self,
        source: Source,
        then: Then,
        mut is_over: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let Source::Cluster { cluster, place, context } = source else { return Ok(()) };
        let client = loop {
            match connect(&place, context.as_deref()).await {
                Ok(client) => break client,
                Err(error) => self.say(&cluster, &Scrub::default().error(&error))?,
            }
            tokio::select! {
                () = tokio::time::sleep(AGAIN) => {}
                _ = is_over.wait_for(|over| *over) => return Ok(()),
            }
        };
        let world = Arc::new(World::new(&self.config, jiff::Timestamp::now().as_microsecond()));
        let keeper = Arc::new(Kept(world.ledger().clone()));
        let collector = Collector::start(client, keeper, Habits::default());
        let order = self.order(&world);
        collector.order(order);
        let mut report = collector.report();
        let works = async {
            match then {
                Then::Keep => self.prints(&cluster, &world, collector.report()).await,
                Then::Copy => self.copies(&cluster, &world, is_over.clone()).await,
            }
        };
        tokio::pin!(works);
        let mut known = Report::default();
        let mut over = is_over.clone();
        loop {
            tokio::select! {
                ended = &mut works => return ended,
                _ = over.wait_for(|over| *over), if then == Then::Keep => return Ok(()),
                changed = report.changed() => {
                    changed.map_err(|_| io::Error::other("the collector has ended by a bug in Kollect"))?;
                    let now = report.borrow_and_update().clone();
                    self.settle(&world, &now);
                    self.remark(&cluster, &known, &now)?;
                    known = (*now).clone();
                }
            }
        }
    }

    /// Everything that the configuration asks for.
    fn order(&self, world: &Arc<World>) -> Order {
        let targets = &self.config.targets;
        let assignments = targets.iter().map(|target| Arc::new(target.assignment.clone()));
        let keys: BTreeMap<TargetKey, usize> = targets
            .iter()
            .enumerate()
            .map(|(at, target)| (target.assignment.target().clone(), at))
            .collect();
        let (config, world) = (Arc::clone(&self.config), Arc::clone(world));
        let feeds = Arc::new(move |target: &TargetKey, namespace: &str, about: Option<&_>| {
            keys.get(target)
                .map(|at| world.feeds(&config, *at, namespace, about))
                .unwrap_or_default()
        });
        Order::new(assignments.collect(), feeds)
    }

    /// Says of inventories whose targets are all known where they are that
    /// there is nothing else in them.
    fn settle(&self, world: &World, report: &Report) {
        let is_settled = |at: &usize| {
            let target = self.config.targets.get(*at).map(|target| target.assignment.target());
            let known = target.and_then(|target| report.targets.get(target));
            known.is_some_and(|known| known.is_settled)
        };
        world.settle_where(&self.config, |inventory: &InventoryPlan| {
            inventory.targets.iter().all(is_settled)
        });
    }

    /// Says what is in the way of targets, and when it no longer is.
    fn remark(&self, cluster: &str, before: &Report, now: &Report) -> io::Result<()> {
        for (key, report) in &now.targets {
            let target = match &key.namespace {
                Some(namespace) => format!("target {namespace}/{}", key.name),
                None => format!("target {}", key.name),
            };
            let known = before.targets.get(key).map(|known| &known.gaps);
            for (namespace, gap) in &report.gaps {
                let was = known.and_then(|known| known.get(namespace)).map(|gap| gap.reason);
                if gap.reason == Reason::Pending || was == Some(gap.reason) {
                    continue;
                }
                let place =
                    if namespace.is_empty() { String::new() } else { format!(" in {namespace}") };
                let (reason, message) = (gap.reason.as_str(), Scrub::default().text(&gap.message));
                self.say(cluster, &format!("skipped: {target}{place}: {reason}: {message}"))?;
            }
            let had_any =
                known.is_some_and(|known| known.values().any(|gap| gap.reason != Reason::Pending));
            if had_any && report.is_covered() {
                self.say(cluster, &format!("{target} is well again"))?;
            }
        }
        Ok(())
    }

    fn say(&self, cluster: &str, text: &str) -> io::Result<()> {
        let prefix = if self.is_many { format!("{cluster}: ") } else { String::new() };
        writeln!(io::stderr().lock(), "{prefix}{text}")
    }

    /// Prints rows, and then what changes about them.
    async fn prints(
        &self,
        cluster: &str,
        world: &World,
        mut report: watch::Receiver<Arc<Report>>,
    ) -> io::Result<()> {
        let is_pending = |report: &Arc<Report>| {
            let gaps = report.targets.values().flat_map(|target| target.gaps.values());
            report.order == 0 || gaps.into_iter().any(|gap| gap.reason == Reason::Pending)
        };
        // The first look is at everything that can be seen.
        if report.wait_for(|report| !is_pending(report)).await.is_err() {
            return Ok(());
        }
        let views = (0..self.config.inventories.len()).filter_map(|at| Some((at, world.view(at)?)));
        let mut tails: Vec<_> =
            views.map(|(at, view)| (at, world.ledger().tail(view), Shown::default())).collect();
        let turns = tails.iter_mut().map(|(at, tail, shown)| {
            let at = *at;
            async move {
                loop {
                    let news = shown.news(tail.next().await);
                    self.print(cluster, at, &news)?;
                }
            }
        });
        first_of(turns.collect()).await
    }

    fn print(&self, cluster: &str, at: usize, news: &[News]) -> io::Result<()> {
        let Some(inventory) = self.config.inventories.get(at) else { return Ok(()) };
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        for News { what, row } in news {
            if self.format == RowFormat::Table {
                let context = self.is_many.then_some(cluster);
                let cells = print::cells(&inventory.schema, row, context)?;
                writeln!(out, "{} {}", what.sign(), cells.join("  "))?;
            } else {
                let row: Value = serde_json::from_slice(row.as_json())?;
                let record = json!({
                    "change": what.as_str(),
                    "context": cluster,
                    "inventory": inventory.key.to_string(),
                    "row": row,
                });
                writeln!(out, "{record}")?;
            }
        }
        out.flush()
    }

    /// Keeps the sinks current, and says what was written.
    async fn copies(
        &self,
        cluster: &str,
        world: &World,
        mut is_over: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let mut delivery = copy::delivery(world);
        let pairs = copy::pairs(&self.config, world, cluster, Outlet::Lasting { warmup: WARMUP });
        let mut states = Vec::new();
        for (inventory, sink, settings) in pairs {
            match settings {
                Ok(settings) => {
                    let name = format!("{inventory} -> {}", copy::named(&sink));
                    let state = delivery.set(PairKey { inventory, sink }, settings);
                    states.push((name, state));
                }
                Err(error) => {
                    let sink = copy::named(&sink);
                    self.say(cluster, &format!("{inventory} -> {sink}: failed: {error}"))?;
                }
            }
        }
        let turns = states.into_iter().map(|(name, state)| self.tells(cluster, name, state));
        let told = first_of(turns.collect());
        tokio::select! {
            ended = told => ended?,
            _ = is_over.wait_for(|over| *over) => {}
        }
        Delivery::shut_down(delivery, GRACE).await;
        Ok(())
    }

    /// Says what a pair writes, and what is in its way.
    async fn tells(
        &self,
        cluster: &str,
        name: String,
        mut state: watch::Receiver<PairState>,
    ) -> io::Result<()> {
        let mut before = PairState::default();
        while state.changed().await.is_ok() {
            let now = state.borrow_and_update().clone();
            if now.phase == before.phase && now.receipt == before.receipt {
                continue;
            }
            let text = match &now.phase {
                Phase::Exported => {
                    let rows = now.content.map(|content| format!(", {} rows there", content.rows));
                    Some(format!("{}{}", copy::written(&now), rows.unwrap_or_default()))
                }
                Phase::Partial { total, .. } => Some(format!("{total} rows were refused")),
                Phase::Failed { message, .. } => Some(format!("failed: {message}")),
                Phase::Progressing(why) => Some(why.clone()),
                Phase::Starting => None,
            };
            if let Some(text) = text {
                self.say(cluster, &format!("{name}: {text}"))?;
            }
            before = now;
        }
        Ok(())
    }
}

/// Works on all; ends with the first that fails.
async fn first_of<F: Future<Output = io::Result<()>>>(turns: Vec<F>) -> io::Result<()> {
    let mut turns: Vec<_> = turns.into_iter().map(Box::pin).collect();
    std::future::poll_fn(move |context| {
        let mut failure = None;
        turns.retain_mut(|turn| match turn.as_mut().poll(context) {
            Poll::Pending => true,
            Poll::Ready(Ok(())) => false,
            Poll::Ready(Err(error)) => {
                failure = Some(error);
                false
            }
        });
        failure.map_or(Poll::Pending, |error| Poll::Ready(Err(error)))
    })
    .await
}
