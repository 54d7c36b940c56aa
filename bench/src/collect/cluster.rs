//! The real server with the objects in it, which are made once and kept.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use anyhow::{Context, ensure};
use http::{Request, header::CONTENT_TYPE};
use kollect_collect::{Place, connect};
use kollect_testenv::{Assets, ControlPlane};
use kube::Client;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::stock::Stock;

/// So many objects are created at the same time.
const WRITERS: usize = 16;
/// One object in so many decides the name of all.
const SAMPLE: usize = 100;

/// Starts the servers in `assets` with these objects and no others, from what
/// is kept in `cache`. What is kept there is not changed.
pub(crate) fn start(assets: &Path, cache: &Path, stocks: &[Stock]) -> anyhow::Result<ControlPlane> {
    let servers = Assets::in_directory(assets)?;
    let saved = cache.join(name(assets, stocks)?);
    if !saved.exists() {
        fill(&servers, &saved, stocks)?;
    }
    Ok(ControlPlane::start_from(&servers, &saved)?)
}

/// A name that changes with anything that decides what is kept.
fn name(assets: &Path, stocks: &[Stock]) -> anyhow::Result<String> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        // The byte between two texts occurs in none of them.
        for byte in bytes.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for server in ["etcd", "kube-apiserver"] {
        let said = Command::new(assets.join(server)).arg("--version").output()?;
        add(&said.stdout);
    }
    for stock in stocks {
        add(stock.count().to_string().as_bytes());
        for number in (0..stock.count()).step_by(SAMPLE) {
            add(stock.object(number).to_string().as_bytes());
        }
    }
    Ok(format!("objects-{hash:016x}"))
}

/// Creates all objects, and keeps them. It is done beside the place where they
/// are looked for, so that an interrupted attempt is not taken for the whole.
fn fill(servers: &Assets, saved: &Path, stocks: &[Stock]) -> anyhow::Result<()> {
    let cache = saved.parent().context("there is no cache")?;
    fs::create_dir_all(cache).with_context(|| format!("could not create {}", cache.display()))?;
    let mut plane = ControlPlane::start(servers)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(create_all(plane.kubeconfig(), stocks))?;
    let unfinished = unfinished(saved);
    match fs::remove_dir_all(&unfinished) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    plane.save(&unfinished)?;
    fs::rename(&unfinished, saved).with_context(|| format!("could not keep {}", saved.display()))
}

fn unfinished(saved: &Path) -> PathBuf {
    let mut name = saved.file_name().unwrap_or_default().to_owned();
    name.push(format!("-unfinished-{}", std::process::id()));
    saved.with_file_name(name)
}

async fn create_all(kubeconfig: &Path, stocks: &[Stock]) -> anyhow::Result<()> {
    let client = connect(&Place::Files(vec![kubeconfig.to_owned()]), None).await?;
    for stock in stocks {
        for namespace in stock.namespaces() {
            let namespace =
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
            create(&client, "/api/v1/namespaces", &namespace).await?;
        }
        let next = Arc::new(AtomicUsize::new(0));
        let mut writers = JoinSet::new();
        for _ in 0..WRITERS {
            writers.spawn(write(client.clone(), *stock, Arc::clone(&next)));
        }
        while let Some(written) = writers.join_next().await {
            written??;
        }
    }
    Ok(())
}

/// Creates the next object until there is none.
async fn write(client: Client, stock: Stock, next: Arc<AtomicUsize>) -> anyhow::Result<()> {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= stock.count() {
            return Ok(());
        }
        let uri = format!("/api/v1/namespaces/{}/{}", stock.namespace(number), stock.plural());
        create(&client, &uri, &stock.object(number)).await?;
    }
}

async fn create(client: &Client, uri: &str, object: &Value) -> anyhow::Result<()> {
    let request = Request::post(uri)
        .header(CONTENT_TYPE, "application/json")
        .body(serde_json::to_vec(object)?)?;
    let answer = client.request_text(request).await;
    ensure!(answer.is_ok(), "{object} was refused: {answer:?}");
    Ok(())
}
