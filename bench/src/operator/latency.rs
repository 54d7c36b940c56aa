//! How long a change takes: from the patch, and from the event.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use http::{Request, header::CONTENT_TYPE};
use http_body_util::BodyExt as _;
use kollect_collect::{Place, connect};
use kube::{Client, client::Body};
use serde_json::Value;
use tokio::{
    sync::Semaphore,
    task::JoinSet,
    time::{MissedTickBehavior, interval, sleep},
};
use tokio_postgres::{AsyncMessage, NoTls};

use super::scene::{MARK, Scene};
use crate::measure::float;

const PER_SECOND: u32 = 200;
/// So many patches are under way at the most, each on a connection of its own.
const AT_ONCE: usize = 16;
/// The first five seconds are not counted: after a minute of rest the API server
/// is slow for two or three.
const LEAD: usize = 1_000;
const CHANGES: usize = 5_000;
/// So long the last of them may take.
const LAST: Duration = Duration::from_secs(10);

pub(super) struct Latency {
    /// Changes a second that were really made.
    pub(super) sent: f64,
    pub(super) patch_p99: f64,
    pub(super) commit_p50: f64,
    pub(super) commit_p99: f64,
}

/// When each mark was seen.
type Times = Arc<Mutex<HashMap<String, Instant>>>;

#[expect(clippy::disallowed_methods, reason = "a benchmark is about the clock")]
fn note(times: &Times, mark: &str) {
    let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
    times.entry(mark.to_owned()).or_insert_with(Instant::now);
}

/// Patches pods at a steady rate, each with a mark of its own, and waits for
/// each mark to come by in a watch, and out of the database.
pub(super) async fn measure(scene: &Scene) -> anyhow::Result<Latency> {
    let client = connect(&Place::Files(vec![scene.kubeconfig().to_owned()]), None).await?;
    let (sent, seen, stored) = (Times::default(), Times::default(), Times::default());
    let mut others = JoinSet::new();
    others.spawn(listen(scene, Arc::clone(&stored)).await?);
    let watching = tokio::spawn(watch(client.clone(), Arc::clone(&seen)));
    sleep(Duration::from_secs(2)).await;
    let (mut patches, turns) = (JoinSet::new(), Arc::new(Semaphore::new(AT_ONCE)));
    let mut ticks = interval(Duration::from_secs(1) / PER_SECOND);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    for (number, (namespace, name)) in Scene::pods().take(CHANGES).enumerate() {
        ticks.tick().await;
        let turn = Arc::clone(&turns).acquire_owned().await?;
        let mark = format!("mark-{number}");
        note(&sent, &mark);
        let work = patch(client.clone(), namespace, name, mark);
        patches.spawn(async move {
            let outcome = work.await;
            drop(turn);
            outcome
        });
    }
    while let Some(patched) = patches.join_next().await {
        patched??;
    }
    let known = |times: &Times| times.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for _ in 0..100 {
        if known(&stored).len() == CHANGES {
            break;
        }
        sleep(LAST / 100).await;
    }
    let (sent, seen, stored) = (known(&sent), known(&seen), known(&stored));
    ensure!(stored.len() == CHANGES, "{} of {CHANGES} changes were stored", stored.len());
    others.shutdown().await;
    if watching.is_finished() {
        watching.await??;
    }
    figures(&sent, &seen, &stored)
}

fn figures(
    sent: &HashMap<String, Instant>,
    seen: &HashMap<String, Instant>,
    stored: &HashMap<String, Instant>,
) -> anyhow::Result<Latency> {
    let mut patch = Vec::new();
    let mut commit = Vec::new();
    for number in LEAD..CHANGES {
        let mark = format!("mark-{number}");
        let stored = stored.get(&mark).context("a change was not stored")?;
        let (sent, seen) = (sent.get(&mark).context("sent")?, seen.get(&mark).context("seen")?);
        patch.push(milliseconds(stored.saturating_duration_since(*sent)));
        commit.push(milliseconds(stored.saturating_duration_since(*seen)));
    }
    let span = sent.values().max().zip(sent.values().min()).context("nothing was sent")?;
    let span = span.0.saturating_duration_since(*span.1).as_secs_f64();
    patch.sort_by(f64::total_cmp);
    commit.sort_by(f64::total_cmp);
    let at = |all: &[f64], percent: usize| all.get(all.len() * percent / 100).copied();
    Ok(Latency {
        sent: float(CHANGES) / span,
        patch_p99: at(&patch, 99).context("too few")?,
        commit_p50: at(&commit, 50).context("too few")?,
        commit_p99: at(&commit, 99).context("too few")?,
    })
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

async fn patch(
    client: Client,
    namespace: String,
    name: String,
    mark: String,
) -> anyhow::Result<()> {
    let body = serde_json::json!({"metadata": {"annotations": {MARK: mark}}});
    let request = Request::patch(format!("/api/v1/namespaces/{namespace}/pods/{name}"))
        .header(CONTENT_TYPE, "application/merge-patch+json")
        .body(serde_json::to_vec(&body)?)?;
    client.request_text(request).await.context("a patch was refused")?;
    Ok(())
}

/// Has the database tell of every row that was committed.
async fn listen(
    scene: &Scene,
    stored: Times,
) -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
    let (server, database) = scene.postgres();
    server.execute(
        database,
        "create function told() returns trigger language plpgsql as $$ begin \
           perform pg_notify('rows', new.payload->'attributes'->>'commit'); return null; \
         end $$; \
         create trigger told after update on inventory_items for each row execute function told()",
    );
    let certificate = server.ca_path();
    let socket = certificate.parent().context("the server is nowhere")?;
    let (listener, mut connection) = tokio_postgres::Config::new()
        .host_path(socket)
        .port(server.address().port())
        .user("kollect")
        .dbname(database)
        .connect(NoTls)
        .await?;
    Ok(async move {
        let asked = async {
            drop(listener.batch_execute("listen rows").await);
            std::future::pending::<()>().await;
        };
        let told = std::future::poll_fn(|context| {
            loop {
                match connection.poll_message(context) {
                    std::task::Poll::Ready(Some(Ok(AsyncMessage::Notification(one)))) => {
                        note(&stored, one.payload());
                    }
                    std::task::Poll::Ready(Some(Ok(_))) => {}
                    std::task::Poll::Ready(_) => return std::task::Poll::Ready(()),
                    std::task::Poll::Pending => return std::task::Poll::Pending,
                }
            }
        });
        tokio::join!(asked, told);
    })
}

/// Sees events when the operator does.
async fn watch(client: Client, seen: Times) -> anyhow::Result<()> {
    let one = client.request::<Value>(get("/api/v1/pods?limit=1")?).await?;
    let version = one["metadata"]["resourceVersion"].as_str().context("a list has a version")?;
    let uri = format!("/api/v1/pods?watch=1&resourceVersion={version}");
    let answer = client.send(get(&uri)?.map(Body::from)).await?;
    ensure!(answer.status().is_success(), "the watch was refused: {}", answer.status());
    let mut body = answer.into_body();
    let start = format!("\"{MARK}\":\"mark-");
    let mut rest = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        rest.extend_from_slice(&data);
        while let Some(end) = memchr::memchr(b'\n', &rest) {
            let line: Vec<u8> = rest.drain(..=end).collect();
            let Some(at) = memchr::memmem::find(&line, start.as_bytes()) else { continue };
            let from = line.get(at + start.len()..).unwrap_or_default();
            let digits: String = from
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .map(|b| char::from(*b))
                .collect();
            note(&seen, &format!("mark-{digits}"));
        }
    }
    bail!("the watch ended")
}

fn get(uri: &str) -> anyhow::Result<Request<Vec<u8>>> {
    Ok(Request::get(uri).body(Vec::new())?)
}
