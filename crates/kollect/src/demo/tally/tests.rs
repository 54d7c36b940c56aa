use super::*;

fn key(name: &str) -> RowKey {
    RowKey::new("Deployment", "shop", name)
}

fn change(name: &str, replicas: u32) -> Change {
    Change {
        row: key(name),
        what: format!("replicas to {replicas}"),
        aside: None,
        steps: Vec::new(),
        proof: Proof::Holds("replicas", replicas.to_string()),
    }
}

fn row(replicas: u32) -> Row {
    Row::from([("replicas".to_owned(), replicas.to_string())])
}

fn look(rows: Vec<(RowKey, Option<Row>)>, mark: &str) -> Look {
    Look { rows, mark: mark.to_owned() }
}

fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A tally that has seen both copies with one row.
fn begun() -> Tally {
    let mut tally = Tally::default();
    for copy in Copy::ALL {
        assert_eq!(tally.observe(copy, look(vec![(key("web"), Some(row(1)))], "a"), at(0)), []);
    }
    tally
}

#[test]
fn a_change_has_arrived_when_a_copy_shows_it() {
    let mut tally = begun();
    tally.made(change("web", 2), at(100));
    assert_eq!(tally.missing(Copy::Git).len(), 1);
    let arrived = tally.observe(Copy::Sqlite, look(vec![(key("web"), Some(row(2)))], ""), at(120));
    assert_eq!(arrived.len(), 1);
    assert!(!arrived[0].is_everywhere());
    let arrived = tally.observe(Copy::Git, look(vec![(key("web"), Some(row(2)))], "b"), at(600));
    assert!(arrived[0].is_everywhere());
    assert_eq!(arrived[0].in_git, Some(Arrival { took: Some(at(500)), mark: "b".to_owned() }));
    assert_eq!(tally.percentile(Copy::Sqlite, 50), Some(at(20)));
    assert!(tally.missing(Copy::Git).is_empty());
}

#[test]
fn a_row_of_another_state_is_no_arrival() {
    let mut tally = begun();
    tally.made(change("web", 3), at(100));
    assert_eq!(tally.observe(Copy::Git, look(vec![(key("web"), Some(row(2)))], "b"), at(200)), []);
    assert_eq!(tally.missing(Copy::Git).len(), 1);
}

#[test]
fn who_shows_a_later_change_had_the_earlier_one() {
    let mut tally = begun();
    tally.made(change("web", 2), at(100));
    tally.made(change("web", 3), at(200));
    let arrived = tally.observe(Copy::Git, look(vec![(key("web"), Some(row(3)))], "b"), at(700));
    let took: Vec<_> = arrived.iter().filter_map(|made| made.in_git.as_ref()?.took).collect();
    assert_eq!(took, [at(600), at(500)]);
}

#[test]
fn what_others_change_is_told_in_words() {
    let mut tally = begun();
    let seen = tally.observe(Copy::Sqlite, look(vec![(key("web"), Some(row(5)))], ""), at(300));
    assert_eq!(seen[0].what, "replicas 1 → 5");
    let seen = tally.observe(Copy::Sqlite, look(vec![(key("web"), None)], ""), at(300));
    assert_eq!((seen[0].what.as_str(), seen[0].at), ("deleted", None));
    assert_eq!(tally.percentile(Copy::Sqlite, 50), None);
    assert_eq!(tally.count(), 0);
}

#[test]
fn a_row_that_goes_because_of_a_change_is_no_news() {
    let mut tally = begun();
    let aside = Some(key("web"));
    tally.made(Change { aside, ..change("other", 2) }, at(100));
    assert_eq!(tally.observe(Copy::Git, look(vec![(key("web"), None)], "b"), at(200)), []);
}

#[test]
fn what_nobody_saw_come_is_there_all_the_same() {
    let mut tally = begun();
    // Created and deleted before any copy could show it.
    tally.made(change("brief", 2), at(100));
    tally.made(Change { proof: Proof::Gone, ..change("brief", 0) }, at(110));
    tally.settle(Some(at(5_000)));
    assert_eq!(tally.missing(Copy::Git).len(), 2);
    tally.settle(Some(at(11_000)));
    assert_eq!(tally.missing(Copy::Git), Vec::<&Made>::new());
    assert_eq!(tally.percentile(Copy::Git, 99), None);
}

#[test]
fn what_a_copy_lacks_is_missing_to_the_end() {
    let mut tally = begun();
    tally.made(change("web", 2), at(100));
    tally.settle(None);
    assert_eq!(tally.missing(Copy::Git).len(), 1);
}

#[test]
fn rows_and_changes_are_counted_by_kind() {
    let mut tally = begun();
    assert_eq!(tally.rows(Copy::Git, |key| key.kind == "deployment"), 1);
    assert_eq!(tally.changed(Copy::Git, "Deployment"), 0);
    tally.observe(
        Copy::Git,
        look(vec![(key("web"), Some(row(2))), (key("new"), Some(row(1)))], "b"),
        at(9),
    );
    assert_eq!(tally.rows(Copy::Git, |_| true), 2);
    assert_eq!(tally.changed(Copy::Git, "Deployment"), 2);
}

#[test]
fn of_hundred_times_the_last_but_one_is_the_99th() {
    let mut tally = begun();
    for number in 1..=100 {
        tally.made(change("web", number), at(0));
        let shown = look(vec![(key("web"), Some(row(number)))], "");
        tally.observe(Copy::Git, shown, at(number.into()));
    }
    assert_eq!(tally.percentile(Copy::Git, 50), Some(at(50)));
    assert_eq!(tally.percentile(Copy::Git, 99), Some(at(99)));
}
