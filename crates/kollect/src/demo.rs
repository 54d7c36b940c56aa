//! `kollect demo`: the first ten minutes with Kollect in one.
//!
//! A cluster is simulated (or a real one is read), the operator runs on it as
//! it would anywhere, things change, and whoever looks on sees where each
//! change stands. What decides is pure: the company (`company`), what happens
//! there (`script`), which change stands in which copy (`tally`), how it looks
//! (`board`) and what it came to (`summary`).

mod board;
mod change;
mod cluster;
mod company;
mod copies;
mod frame;
mod hints;
mod operator;
mod place;
mod real;
mod row;
mod samples;
mod screen;
mod script;
mod show;
mod stage;
mod status;
mod summary;
mod tally;

use std::{
    io::{self, Write},
    pin::Pin,
    process::ExitCode,
    sync::Mutex,
    time::Duration,
};

use anyhow::{Context as _, bail};
use kollect_sinks::Clock as _;
use tokio::time::{MissedTickBehavior, interval};

use self::{
    board::{Board, Phase},
    copies::{GitCopy, SqliteCopy},
    operator::Operator,
    place::Place,
    show::Show,
    stage::Stage,
    status::Status,
    summary::{Counted, Summary},
    tally::{Copy, Made, Tally},
};
use crate::{
    args::{
        demo::DemoArgs,
        operator::logs::{LogFormat, LogLevel, Speech, TimeFormat},
    },
    clock::ProcessClock,
    logs,
    signals::signalled,
};

/// How the operator speaks to its log.
const SPEECH: Speech =
    Speech { format: LogFormat::Console, level: LogLevel::Info, time: TimeFormat::Iso8601 };
/// So often the copies are looked at; no time is measured more exactly.
const LOOK: Duration = Duration::from_millis(5);
/// And when that takes long, so many times as long passes before the next time.
const LONG: Duration = Duration::from_millis(200);
const REST: u32 = 10;
/// So often the operator is asked how it is doing.
const ASK: Duration = Duration::from_millis(250);
/// So long it is shown what could not be done.
const NOTICE: Duration = Duration::from_secs(3);
/// So long copies may take to catch up when no more changes are made, and when
/// somebody wants it to end.
const PATIENCE: Duration = Duration::from_mins(1);
const HASTE: Duration = Duration::from_secs(3);

/// Plays until the time is over or somebody interrupts it.
pub(crate) fn run(args: &DemoArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start")?.block_on(async {
        let mut stop: Stop = Box::pin(signalled());
        let place = Place::open(args.dir.as_deref())?;
        logs::start(SPEECH, Mutex::new(place.open_log()?));
        let played = play(args, &place, &mut stop, out).await;
        place.close()?;
        played
    })
}

/// Whoever can interrupt it.
type Stop = Pin<Box<dyn Future<Output = ()>>>;

/// Opens the stage, plays on it, and leaves it as it was found.
async fn play(
    args: &DemoArgs,
    place: &Place,
    stop: &mut Stop,
    out: &mut impl Write,
) -> anyhow::Result<ExitCode> {
    let clock = ProcessClock::start();
    let mut stage = tokio::select! {
        opened = Stage::open(args, place) => opened?,
        () = &mut *stop => bail!("it was interrupted; nothing was created"),
    };
    let performed = perform((args, place, clock), &mut stage, stop, out).await;
    let left = stage.clear().await;
    for one in &left {
        writeln!(io::stderr(), "kollect: left behind: {one}")?;
    }
    let (code, lines) = performed?;
    for line in lines {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{}", place.farewell())?;
    out.flush()?;
    Ok(if left.is_empty() { code } else { ExitCode::FAILURE })
}

/// Everything between the first look and the last.
async fn perform(
    (args, place, clock): (&DemoArgs, &Place, ProcessClock),
    stage: &mut Stage,
    stop: &mut Stop,
    out: &mut impl Write,
) -> anyhow::Result<(ExitCode, Vec<String>)> {
    let mut run = Run {
        clock,
        show: Show::begin(out, &stage.scene)?,
        stage,
        tally: Tally::default(),
        status: Status::default(),
        git: GitCopy::new(place.repository())?,
        sqlite: SqliteCopy::new(place.database()),
        asked: None,
        rest: Duration::ZERO,
        trouble: None,
        phase: Phase::Starting,
    };
    run.show(&[])?;
    tokio::select! {
        done = run.stage.set_up(place) => done?,
        () = &mut *stop => return Ok((ExitCode::SUCCESS, Vec::new())),
    }
    let (kubeconfig, context) = (run.stage.kubeconfig.as_deref(), run.stage.context.as_deref());
    let mut operator = Operator::start(kubeconfig, context, place.path())?;
    run.phase = Phase::Changing;
    let ended = run.go(args, &mut operator, stop).await;
    let summary = run.summary();
    operator.stop().await.context("the operator could not stop")?;
    Ok(judged(ended?, &summary?))
}

/// The exit code, and the lines that explain it.
fn judged(ended: Ended, summary: &Summary) -> (ExitCode, Vec<String>) {
    let (mut lines, differences) = (summary.lines(), summary.differences());
    match (ended, differences.is_empty()) {
        (_, true) => {
            lines.push("  all three agree".to_owned());
            (ExitCode::SUCCESS, lines)
        }
        (Ended::Interrupted, false) => {
            lines.push("  it was interrupted before the copies had caught up".to_owned());
            (ExitCode::SUCCESS, lines)
        }
        (Ended::Over, false) => {
            lines.extend(differences.into_iter().map(|one| format!("  differs: {one}")));
            (ExitCode::FAILURE, lines)
        }
    }
}

/// Why no more changes are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Over,
    Interrupted,
}

/// A run under way.
struct Run<'a, W: Write> {
    clock: ProcessClock,
    stage: &'a mut Stage,
    show: Show<'a, W>,
    tally: Tally,
    status: Status,
    git: GitCopy,
    sqlite: SqliteCopy,
    /// When the operator was last asked how it is doing.
    asked: Option<Duration>,
    /// Until then the copies are not looked at: a look at large ones takes time.
    rest: Duration,
    /// What could not be done just now, and since when.
    trouble: Option<(String, Duration)>,
    phase: Phase,
}

impl<W: Write> Run<'_, W> {
    /// Makes changes until it is over, and then lets the copies catch up.
    async fn go(
        &mut self,
        args: &DemoArgs,
        operator: &mut Operator,
        stop: &mut Stop,
    ) -> anyhow::Result<Ended> {
        let apart = Duration::from_secs_f64(1.0 / args.rate);
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut next = None;
        let ended = loop {
            let now = self.clock.moment();
            if args.duration.is_some_and(|most| now >= most) {
                break Ended::Over;
            }
            // Before the copies are there nobody could see a change.
            if next.is_none_or(|next| now >= next) && self.is_filled() {
                match self.stage.change().await {
                    Ok(change) => self.tally.made(change, now),
                    // Somebody may have deleted it, or the cluster is busy.
                    Err(error) => self.note(&error),
                }
                next = Some(next.unwrap_or(now) + apart);
            }
            self.look().await?;
            tokio::select! {
                _ = ticks.tick() => {}
                () = &mut *stop => break Ended::Interrupted,
                error = operator.failed() => return Err(error),
            }
        };
        self.phase = Phase::Settling;
        let patience = if ended == Ended::Over { PATIENCE } else { HASTE };
        let until = self.clock.moment() + patience;
        while self.clock.moment() < until && !self.is_settled() {
            self.look().await?;
            tokio::select! {
                _ = ticks.tick() => {}
                error = operator.failed() => return Err(error),
            }
        }
        Ok(ended)
    }

    /// Looks at the copies and at what the operator says, and shows it.
    async fn look(&mut self) -> anyhow::Result<()> {
        let mut arrived = Vec::new();
        let began = self.clock.moment();
        if began >= self.rest {
            for copy in Copy::ALL {
                let look = match copy {
                    Copy::Git => self.git.look()?,
                    Copy::Sqlite => self.sqlite.look()?,
                };
                if let Some(look) = look {
                    let now = self.clock.moment();
                    arrived.extend(self.tally.observe(copy, look, now));
                }
            }
            let now = self.clock.moment();
            let took = now.saturating_sub(began);
            self.rest = if took > LONG { now + took * REST } else { now };
        }
        let now = self.clock.moment();
        self.tally.settle(Some(now));
        if self.asked.is_none_or(|asked| now >= asked + ASK) {
            self.asked = Some(now);
            match self.stage.cluster.status().await {
                Ok(status) => self.status = status,
                Err(error) => self.note(&error),
            }
        }
        self.show(&arrived)
    }

    /// Shows what is known, and which changes have just arrived.
    fn show(&mut self, arrived: &[Made]) -> anyhow::Result<()> {
        let now = self.clock.moment();
        let Self { stage, show, tally, status, git, phase, trouble, .. } = self;
        let trouble = trouble.as_ref().filter(|(_, since)| now < *since + NOTICE);
        let trouble = trouble.map(|(trouble, _)| trouble.as_str());
        let (commits, tip) = (git.commits, git.tip());
        let (scene, phase) = (&stage.scene, *phase);
        let board = Board { scene, tally, status, commits, tip, now, phase, trouble };
        Ok(show.look(&board, arrived)?)
    }

    /// Remembers what could not be done; the next try may go better.
    fn note(&mut self, error: &anyhow::Error) {
        let chain: Vec<_> = error.chain().map(ToString::to_string).collect();
        let trouble = chain.join(": ");
        self.trouble = Some((trouble, self.clock.moment()));
    }

    /// Whether both copies have shown something.
    fn is_filled(&self) -> bool {
        Copy::ALL.into_iter().all(|copy| self.tally.rows(copy, |_| true) > 0)
    }

    /// Whether everything that was changed is everywhere.
    fn is_settled(&self) -> bool {
        let rows = |copy| self.tally.rows(copy, |_| true);
        let is_everywhere =
            |copy| self.tally.missing(copy).is_empty() && self.status.rows == Some(rows(copy));
        self.status.is_synced && Copy::ALL.into_iter().all(is_everywhere)
    }

    /// What it came to, counted anew.
    fn summary(&mut self) -> anyhow::Result<Summary> {
        self.tally.settle(None);
        let counted = |tally: &Tally, copy: Copy, rows: usize| Counted {
            rows,
            missing: tally.missing(copy).into_iter().map(board::named).collect(),
            half: tally.percentile(copy, 50),
            most: tally.percentile(copy, 99),
        };
        let (git, sqlite) = (self.git.count()?, self.sqlite.count()?);
        Ok(Summary {
            took: self.clock.moment(),
            inventory: self.status.rows,
            git: counted(&self.tally, Copy::Git, git),
            sqlite: counted(&self.tally, Copy::Sqlite, sqlite),
            changes: self.tally.count(),
            commits: self.git.commits,
            tip: self.git.tip().map(str::to_owned),
            is_synced: self.status.is_synced,
        })
    }
}
