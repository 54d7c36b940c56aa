use kollect_sinks::{Failed, Family, InventoryKey, Receipt};

use super::*;

fn pair(namespace: &str, sink: &str) -> PairKey {
    PairKey {
        inventory: InventoryKey { namespace: namespace.to_owned(), name: "i".to_owned() },
        sink: sink_key(sink),
    }
}

fn sink_key(name: &str) -> SinkKey {
    SinkKey { family: Family::Database, namespace: "shop".to_owned(), name: name.to_owned() }
}

fn wrote(bytes: u64) -> Receipt {
    Receipt { bytes, ..Receipt::unchanged(None) }
}

/// The lines of a family that are not zero, without its name.
fn shown(counts: &Counts, family: &str) -> Vec<String> {
    let mut page = Page::default();
    counts.write(&mut page, (0, 0));
    let text = page.text();
    let lines = text.lines().filter_map(|line| line.strip_prefix(family));
    lines.filter(|line| !line.ends_with(" 0")).map(str::to_owned).collect()
}

fn export<'a>(took: Duration, outcome: Result<&'a Receipt, Failed<'a>>) -> Turn<'a> {
    Turn { work: Work::Export, took, outcome }
}

#[test]
fn an_export_is_counted_by_the_type_of_its_sink_and_a_look_is_none() {
    let mut counts = Counts::default();
    counts.know([(sink_key("db"), "sqlite")].into());
    let receipt = wrote(100);
    counts.turned(&pair("shop", "db"), &export(Duration::from_millis(20), Ok(&receipt)));
    counts.turned(&pair("shop", "db"), &export(Duration::from_secs(90), Ok(&receipt)));
    let verify = Turn { work: Work::Verify, took: Duration::from_secs(1), outcome: Ok(&wrote(0)) };
    counts.turned(&pair("shop", "db"), &verify);
    assert_eq!(shown(&counts, "kollect_export_bytes_total"), ["{sink_type=\"sqlite\"} 200"]);
    let spread = shown(&counts, "kollect_export_duration_seconds");
    assert!(spread.contains(&"_bucket{sink_type=\"sqlite\",le=\"0.025\"} 1".to_owned()));
    assert!(spread.contains(&"_bucket{sink_type=\"sqlite\",le=\"120\"} 2".to_owned()));
    assert!(spread.contains(&"_count{sink_type=\"sqlite\"} 2".to_owned()), "{spread:?}");
    assert!(spread.contains(&"_sum{sink_type=\"sqlite\"} 90.02".to_owned()), "{spread:?}");
}

#[test]
fn a_failed_export_counts_for_its_sink_and_for_its_kind_of_inventory() {
    let mut counts = Counts::default();
    let failed = |class, is_refused| Failed { class, is_refused, message: "" };
    for (namespace, failed) in [
        ("shop", failed(ErrorClass::Transient, false)),
        ("cluster", failed(ErrorClass::Terminal, false)),
        ("cluster", failed(ErrorClass::Terminal, true)),
    ] {
        counts.turned(&pair(namespace, "db"), &export(Duration::ZERO, Err(failed)));
    }
    assert_eq!(
        shown(&counts, "kollect_sink_errors_total"),
        ["{reason=\"transient\"} 1", "{reason=\"terminal\"} 1", "{reason=\"forbidden\"} 1"]
    );
    assert_eq!(
        shown(&counts, "kollect_reconcile_errors_total"),
        [
            "{kind=\"KollectClusterInventory\",error_class=\"terminal\"} 1",
            "{kind=\"KollectClusterInventory\",error_class=\"forbidden\"} 1",
            "{kind=\"KollectInventory\",error_class=\"transient\"} 1",
        ]
    );
}

#[test]
fn a_trouble_counts_when_it_begins_and_again_when_it_comes_back() {
    let mut counts = Counts::default();
    let look = |troubles: &[&str]| {
        let troubles = troubles.iter().map(|word| (Class::Forbidden, (*word).to_owned()));
        let judged = Judged {
            is_well: false,
            is_pending: false,
            troubles: troubles.collect(),
            references: vec![("profile", "ok")],
        };
        BTreeMap::from([((Kind::Target, Name::new("shop", "t")), judged)])
    };
    let looks: [&[&str]; 5] = [&["a"], &["a"], &["a", "b"], &[], &["a"]];
    for troubles in looks {
        counts.looked(look(troubles), Duration::from_millis(1));
    }
    let errors = shown(&counts, "kollect_reconcile_errors_total");
    assert_eq!(errors, ["{kind=\"KollectTarget\",error_class=\"forbidden\"} 3"]);
    let reconciles = shown(&counts, "kollect_reconcile_total");
    assert_eq!(reconciles, ["{controller=\"kollecttarget\",result=\"failure\"} 5"]);
    let references = shown(&counts, "kollect_static_ref_resolution_total");
    assert_eq!(references, ["{kind=\"KollectTarget\",ref_type=\"profile\",result=\"ok\"} 5"]);
    counts.looked(BTreeMap::new(), Duration::ZERO);
    assert!(counts.troubles.is_empty(), "what is gone is forgotten");
}

/// Who is refused asks whether he may, and is refused again.
#[test]
fn a_trouble_that_is_looked_into_has_not_ended() {
    let mut counts = Counts::default();
    let trouble = || BTreeSet::from([(Class::Forbidden, "a".to_owned())]);
    for (is_pending, troubles) in
        [(false, trouble()), (true, BTreeSet::new()), (true, BTreeSet::new()), (false, trouble())]
    {
        let judged = Judged { is_pending, troubles, ..Judged::default() };
        let judged = BTreeMap::from([((Kind::ClusterTarget, Name::new("", "t")), judged)]);
        counts.looked(judged, Duration::ZERO);
    }
    let errors = shown(&counts, "kollect_reconcile_errors_total");
    assert_eq!(errors, ["{kind=\"KollectClusterTarget\",error_class=\"forbidden\"} 1"]);
}

/// A counter that appears with its first error shows no increase.
#[test]
fn what_can_go_wrong_is_there_before_it_does() {
    let mut page = Page::default();
    Counts::default().write(&mut page, (2, 1));
    let text = page.text();
    let zeros = text.lines().filter(|line| line.ends_with(" 0"));
    let zeros = zeros.filter(|line| line.contains("_errors_total"));
    assert_eq!(zeros.count(), 4 * 3 - 2 + 3, "{text}");
    let objects =
        "kollect_reconcile_errors_total{kind=\"KollectTarget\",error_class=\"terminal\"} 2";
    assert!(text.lines().any(|line| line == objects), "{text}");
}
