//! The page as a whole.

use jiff::Timestamp;
use kollect_inventory::{
    Freshness, Identity, PartitionKey, Row, Store, Sweep, TargetKey, schedule::ErrorClass,
};
use kollect_sinks::{Failed, Family, InventoryKey, Receipt, Work};
use serde_json::{Value, json};

use super::{
    counts::Class,
    gauges::{Coverage, TargetGauge},
    *,
};

/// A hundred seconds after the start, for ever.
#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn moment(&self) -> Moment {
        Duration::from_secs(100)
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::from_second(1_800_000_100).unwrap()
    }

    fn chance(&self) -> f64 {
        0.0
    }
}

fn metrics(held: Option<watch::Receiver<bool>>) -> Metrics {
    Metrics::new(Build { version: "1.2.3", commit: "abc" }, Arc::new(Stopped), held)
}

fn target(namespace: Option<&str>, name: &str) -> TargetKey {
    TargetKey { namespace: namespace.map(str::to_owned), name: name.to_owned() }
}

fn pair(sink: &str) -> PairKey {
    let inventory = InventoryKey { namespace: "shop".to_owned(), name: "all".to_owned() };
    let (namespace, name) = ("shop".to_owned(), sink.to_owned());
    PairKey { inventory, sink: SinkKey { family: Family::Database, namespace, name } }
}

/// What a look at everything might find.
fn gauges() -> Gauges {
    let (good, bad) = (pair("good"), pair("bad"));
    let well = TargetGauge {
        profile: "web".to_owned(),
        is_ready: true,
        coverage: Coverage { covered: 3, uncovered: [("forbidden", 1)].into() },
    };
    let ill = TargetGauge { profile: "web".to_owned(), ..TargetGauge::default() };
    Gauges {
        rows: 7,
        targets: [(target(Some("shop"), "t"), well), (target(None, "everything"), ill)].into(),
        inventories: [(good.inventory.clone(), 5)].into(),
        sinks: [(good.sink.clone(), false), (bad.sink.clone(), true)].into(),
        pairs: [(good, Some(Timestamp::from_millisecond(1_800_000_090_500).unwrap())), (bad, None)]
            .into(),
    }
}

fn judged() -> BTreeMap<(Kind, Name), Judged> {
    let well = Judged { is_well: true, references: vec![("profile", "ok")], ..Judged::default() };
    let ill = Judged {
        is_well: false,
        is_pending: false,
        troubles: [(Class::Terminal, "SinkNotFound".to_owned())].into(),
        references: vec![("database", "ok"), ("database", "not_found")],
    };
    BTreeMap::from([
        ((Kind::Target, Name::new("shop", "t")), well),
        ((Kind::Inventory, Name::new("shop", "all")), ill),
    ])
}

fn put(store: &mut Store, key: &PartitionKey, name: &str, attributes: &Value) {
    let identity = Identity {
        target_namespace: key.target_namespace().into(),
        target_name: key.target.name.as_str().into(),
        namespace: key.namespace.as_str().into(),
        name: name.into(),
        uid: name.into(),
        group: "apps".into(),
        version: "v1".into(),
        kind: "Deployment".into(),
    };
    let partition = store.join(key);
    let list = store.begin_list(partition);
    let row = Row::of_value(&identity, attributes);
    store.upsert(partition, Freshness { list, version: 1 }, &row);
    store.end_list(partition, list, Sweep::No);
}

/// Everything that has happened to a process with one profile and two sinks.
fn scene() -> Metrics {
    let (_lead, held) = watch::channel(true);
    let metrics = metrics(Some(held));
    let spec = json!({
        "targetGVK": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "metrics": [
            {"name": "replicas", "path": "replicas"},
            {"name": "by_team", "path": "replicas", "labels": ["team"]},
        ],
    });
    let recipe = Recipe::of(&serde_json::from_value(spec).unwrap());
    let mut store = Store::new(0);
    store.tell(metrics.witness());
    let of = target(Some("shop"), "t");
    let wanted = [(Name::new("shop", "web"), (Some(recipe), BTreeSet::from([of.clone()])))];
    metrics.0.series.follow(wanted.into(), &store);
    let key = PartitionKey { target: of, namespace: "shop".to_owned() };
    put(&mut store, &key, "a", &json!({"replicas": 2, "team": "blue"}));
    put(&mut store, &key, "b", &json!({"replicas": "1.5", "team": "red\n\"ish\""}));
    unpoisoned(&metrics.0.counts).know([(pair("good").sink, "postgres")].into());
    let receipt = Receipt { bytes: 812, ..Receipt::unchanged(None) };
    let took = Duration::from_millis(30);
    metrics.turned(&pair("good"), &Turn { work: Work::Export, took, outcome: Ok(&receipt) });
    let failed = Failed { class: ErrorClass::Terminal, is_refused: true, message: "no" };
    let turn = Turn { work: Work::Export, took, outcome: Err(failed) };
    metrics.turned(&pair("good"), &turn);
    metrics.lags(&pair("bad"), Some(Duration::from_millis(40_500)));
    metrics.lags(&pair("good"), None);
    metrics.lags(&pair("gone"), Some(Duration::ZERO));
    metrics.looked(gauges(), judged(), Duration::from_millis(4));
    metrics.probed("git", true);
    metrics
}

/// What the machine says is another thing each time.
fn without_the_machine(text: &str) -> String {
    let is_ours = |line: &&str| {
        let of_process = line.contains("process_") && !line.contains("process_start_time");
        !of_process
    };
    text.split_inclusive('\n').filter(is_ours).collect()
}

/// Dashboards and alerts go by these names and labels.
#[test]
fn the_page_is_as_recorded() {
    let found = without_the_machine(&scene().text());
    let recorded = include_str!("../../tests/golden/metrics.txt");
    assert_eq!(found, recorded, "the page is another:\n{found}");
}

#[test]
fn whoever_waits_for_the_lease_says_so_and_nothing_of_what_others_do() {
    let (lead, held) = watch::channel(false);
    let metrics = metrics(Some(held));
    let says = |line: &str| metrics.text().lines().any(|one| one == line);
    let name = format!("leader_election_master_status{{name=\"{}\"}}", lease::NAME);
    assert!(says(&format!("{name} 0")));
    assert!(!metrics.text().contains("kollect_collect_items_total"));
    lead.send_replace(true);
    assert!(says(&format!("{name} 1")));
}

#[test]
fn what_is_gone_is_not_shown() {
    let metrics = scene();
    assert!(metrics.text().contains("sink=\"bad\""));
    let mut left = gauges();
    left.pairs.remove(&pair("bad"));
    left.sinks.clear();
    left.targets.clear();
    metrics.looked(left, BTreeMap::new(), Duration::ZERO);
    let text = metrics.text();
    assert!(!text.contains("sink=\"bad\"") && !text.contains("kollect_sink_circuit_open"));
    assert!(!text.contains("kollect_target_ready"), "{text}");
    assert_eq!(unpoisoned(&metrics.0.lags).len(), 1);
    metrics.0.series.follow(Wanted::new(), &Store::new(0));
    assert!(!metrics.text().contains("profile="), "{}", metrics.text());
}

/// Every line is what a reader of the format expects.
#[test]
fn the_page_can_be_read() {
    let text = scene().text();
    let mut declared = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(declared.insert(name.to_owned(), kind).is_none(), "twice: {name}");
            continue;
        }
        if line.starts_with('#') {
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
        assert!(seen.insert(series.to_owned()), "twice: {series}");
        let name = series.split('{').next().unwrap();
        let of_spread = ["_bucket", "_sum", "_count"];
        let base = of_spread.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let kind = declared.get(base).or_else(|| declared.get(name));
        assert!(kind.is_some(), "nobody said what {name} is");
        let is_counter = kind == Some(&"counter");
        assert!(!is_counter || name.ends_with("_total"), "{name}");
    }
}

#[test]
fn a_gap_of_a_whole_target_is_one_of_each_of_its_partitions() {
    use kollect_collect::{Gap, Presence, Reason, TargetReport};
    let report = |effective: &[&str], gaps: &[(&str, Reason)]| TargetReport {
        kind: Presence::Unasked,
        matched: BTreeSet::new(),
        effective: effective.iter().map(|name| (*name).to_owned()).collect(),
        gaps: gaps
            .iter()
            .map(|(name, reason)| {
                let since = tokio::time::Instant::now();
                ((*name).to_owned(), Gap { reason: *reason, message: String::new(), since })
            })
            .collect(),
        is_settled: true,
    };
    let check = |report: &TargetReport, covered: usize, uncovered: &[(&'static str, usize)]| {
        let uncovered = uncovered.iter().copied().collect();
        assert_eq!(Coverage::of(report), Coverage { covered, uncovered });
    };
    let (forbidden, pending) = (Reason::Forbidden, Reason::Pending);
    check(&report(&["a", "b"], &[]), 2, &[]);
    check(&report(&["a", "b"], &[("b", forbidden)]), 1, &[("forbidden", 1)]);
    let both = report(&["a", "b", "c"], &[("", pending), ("b", forbidden)]);
    check(&both, 0, &[("forbidden", 1), ("pending", 2)]);
    check(&report(&[], &[("", pending)]), 0, &[("pending", 1)]);
    check(&report(&[""], &[]), 1, &[]);
    check(&report(&[""], &[("", forbidden)]), 0, &[("forbidden", 1)]);
}
