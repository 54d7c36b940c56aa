//! A cluster in memory, and an operator beside it.

use std::{collections::BTreeSet, fs, sync::Arc, time::Duration};

use jiff::Timestamp;
use kollect_collect::{Habits, Pace, Place, connect, use_ring};
use kollect_inventory::schedule::Moment;
use kollect_operator::{Build, Metrics, Settings, Surroundings, operate};
use kollect_sandbox::{ResourceDefinition, Sandbox};
use kollect_sinks::{Alone, Clock, LocalPaths};
use kollect_validate::Policy;
use kube::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{Instant, sleep, timeout};

/// Longer than anything takes.
const LIMIT: Duration = Duration::from_mins(1);
const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct RealClock(Instant);

impl Clock for RealClock {
    fn moment(&self) -> Moment {
        self.0.elapsed()
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::now()
    }

    fn chance(&self) -> f64 {
        0.5
    }
}

pub(super) struct Scene {
    pub(super) sandbox: Sandbox,
    metrics: Metrics,
    place: TempDir,
}

impl Scene {
    /// Runs what happens beside an operator, which is gone afterwards.
    pub(super) async fn play(happens: impl AsyncFnOnce(&Scene)) {
        let sandbox = Sandbox::start().unwrap();
        for crd in kollect_api::crds() {
            sandbox.define(ResourceDefinition {
                group: crd.spec.group,
                version: kollect_api::VERSION.to_owned(),
                kind: crd.spec.names.kind,
                plural: crd.spec.names.plural,
                namespaced: crd.spec.scope == "Namespaced",
            });
        }
        sandbox.define(ResourceDefinition {
            group: "shop.example".to_owned(),
            version: "v1".to_owned(),
            kind: "Widget".to_owned(),
            plural: "widgets".to_owned(),
            namespaced: true,
        });
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
        sandbox.put(namespace).unwrap();
        let clock = Arc::new(RealClock(Instant::now()));
        let build = Build { version: "1.2.3", commit: "abc" };
        let metrics = Metrics::new(build, Arc::clone(&clock) as _, None);
        let place = tempfile::tempdir().unwrap();
        let client = client(&sandbox, &place).await;
        let around = Surroundings {
            clock,
            lease: Arc::new(Alone::default()),
            writer: "w".to_owned(),
            vitals: Arc::default(),
            metrics: metrics.clone(),
        };
        let settings = settings(&place);
        let scene = Self { sandbox, metrics, place };
        tokio::select! {
            ended = operate(client, settings, around, std::future::pending()) => {
                panic!("the operator has ended: {ended:?}");
            }
            () = happens(&scene) => {}
        }
    }

    /// Puts an object of ours into the namespace.
    pub(super) fn apply(&self, kind: &str, name: &str, spec: Value) {
        let object = json!({
            "apiVersion": "kollect.dev/v1alpha1", "kind": kind,
            // It would be given to inventories, which the sandbox does not take.
            "metadata": {
                "name": name, "namespace": "shop", "finalizers": ["kollect.dev/inventory-cleanup"],
            },
            "spec": spec,
        });
        self.sandbox.put(object).unwrap();
    }

    pub(super) fn widget(&self, name: &str, size: Value, colour: &str) {
        let object = json!({
            "apiVersion": "shop.example/v1", "kind": "Widget",
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {"size": size, "colour": colour},
        });
        self.sandbox.put(object).unwrap();
    }

    /// Waits until the page has all of these lines. A number that is not
    /// known beforehand is any but zero, and written as one.
    #[track_caller]
    pub(super) fn shows<'s>(&'s self, wanted: &'s [&str]) -> impl Future<Output = ()> + 's {
        let is_there = |text: &str, wanted: &str| {
            text.lines().any(|line| match wanted.strip_suffix(" *") {
                None => line == wanted,
                Some(series) => {
                    let value = line.strip_prefix(series).map(str::trim);
                    value.is_some_and(|value| value != "0")
                }
            })
        };
        self.until(move |text| wanted.iter().all(|line| is_there(text, line)), wanted)
    }

    /// Waits until the page speaks of none of these.
    #[track_caller]
    pub(super) fn is_silent_of<'s>(&'s self, words: &'s [&str]) -> impl Future<Output = ()> + 's {
        self.until(move |text| !words.iter().any(|word| text.contains(word)), words)
    }

    async fn until(&self, holds: impl Fn(&str) -> bool, about: &[&str]) {
        let waited = timeout(LIMIT, async {
            while !holds(&self.metrics.text()) {
                sleep(Duration::from_millis(20)).await;
            }
        });
        assert!(waited.await.is_ok(), "waited for {about:#?}, there is\n{}", self.metrics.text());
    }

    /// Whether a file was written below what sinks may write to.
    pub(super) fn has_copies(&self) -> bool {
        self.place.path().join("shop").is_dir()
    }
}

async fn client(sandbox: &Sandbox, place: &TempDir) -> Client {
    use_ring();
    let file = place.path().join("config");
    fs::write(&file, sandbox.kubeconfig()).unwrap();
    connect(&Place::Files(vec![file]), None).await.unwrap()
}

fn settings(place: &TempDir) -> Settings {
    let root = place.path().to_owned();
    let defaults = Settings::default();
    Settings {
        watch_namespaces: BTreeSet::new(),
        policy: Policy {
            local_paths: kollect_validate::LocalPaths::Below(root.clone()),
            ..defaults.policy.clone()
        },
        local_paths: LocalPaths::Below { root },
        habits: Habits {
            // Who may no longer watch notices it when the next watch begins.
            pace: Pace { session: (SECOND, SECOND), ..Pace::default() },
            review: Duration::from_millis(100),
            ..Habits::default()
        },
        ..defaults
    }
}
