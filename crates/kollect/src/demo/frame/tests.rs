use std::collections::BTreeMap;

use super::*;
use crate::demo::{
    change::{Change, Proof},
    row::{Row, RowKey},
    samples::samples,
    status::{SinkState, Status, TargetState},
    tally::{Look, Tally},
};

fn key(name: &str) -> RowKey {
    RowKey::new("Deployment", "shop", name)
}

/// One change of one row, which has arrived in both copies.
fn tally() -> Tally {
    let row = |replicas: &str| Some(Row::from([("replicas".to_owned(), replicas.to_owned())]));
    let look =
        |replicas| Look { rows: vec![(key("web"), row(replicas))], mark: "8997e3f58aa".into() };
    let mut tally = Tally::default();
    for copy in Copy::ALL {
        tally.observe(copy, look("2"), Duration::ZERO);
    }
    let change = Change {
        row: key("web"),
        what: "replicas 2 → 3".to_owned(),
        aside: None,
        steps: Vec::new(),
        proof: Proof::Holds("replicas", "3".to_owned()),
    };
    tally.made(change, Duration::from_secs(2));
    tally.observe(Copy::Sqlite, look("3"), Duration::from_millis(2_010));
    tally.observe(Copy::Git, look("3"), Duration::from_millis(2_500));
    tally
}

fn lines(status: &Status, size: (usize, usize)) -> Vec<Line> {
    let scene = Scene {
        title: "a simulated cluster of 192 objects".to_owned(),
        samples: samples().into_iter().take(1).collect(),
        notes: Vec::new(),
        hints: vec![("git -C /tmp/x log -p".to_owned(), "")],
    };
    let tally = tally();
    let board = Board {
        scene: &scene,
        tally: &tally,
        status,
        commits: 2,
        tip: Some("8997e3f58aa"),
        now: Duration::from_secs(72),
        phase: Phase::Changing,
        trouble: None,
    };
    frame(&board, size)
}

fn texts(status: &Status, size: (usize, usize)) -> Vec<String> {
    lines(status, size).iter().map(|line| line.text().trim_end().to_owned()).collect()
}

fn synced() -> Status {
    let state = TargetState { rows: Some(1), trouble: None };
    let sink = |name: &str, is_synced, reason: &str| SinkState {
        name: name.to_owned(),
        is_synced,
        reason: reason.to_owned(),
    };
    Status {
        rows: Some(1),
        is_synced: true,
        sinks: vec![
            sink("snapshot/history", true, ""),
            sink("database/rows", false, "Progressing"),
        ],
        targets: BTreeMap::from([("deployments".to_owned(), state)]),
        ..Status::default()
    }
}

#[test]
fn a_terminal_of_usual_size_shows_everything() {
    assert_eq!(
        texts(&synced(), (80, 18)),
        [
            " kollect demo  a simulated cluster of 192 objects                           1:12",
            "",
            " target            kind                      rows   changed       Git    SQLite",
            " deployments       Deployment                   1         1         1         1",
            " all                                            1         1         1         1",
            "",
            " Synced=True   every sink has acknowledged everything",
            " Git    synced      p50  500 ms   p99  500 ms   2 commits, now 8997e3f58",
            " SQLite Progressing p50   10 ms   p99   10 ms",
            "",
            " change                                              SQLite      Git     commit",
            " 2.0s    shop/web            replicas 2 → 3           10 ms   500 ms  8997e3f58",
            "",
            "",
            "",
            "",
            " try in another terminal; ^C ends this:",
            " git -C /tmp/x log -p",
        ]
    );
}

#[test]
fn no_line_is_wider_than_the_terminal_and_none_too_many() {
    for columns in [20, 40, 50, 60, 70, 71, 72, 80, 99, 100, 118, 200] {
        for rows in [3, 10, 18, 24, 60] {
            let lines = lines(&synced(), (columns, rows));
            assert!(lines.len() <= rows, "{columns}x{rows}");
            // Commands are whole, so that they can be copied.
            for line in lines
                .iter()
                .filter(|line| !line.text().contains("try") && !line.text().contains("git -C"))
            {
                assert!(line.width() <= columns, "{columns}x{rows}: {:?}", line.text());
            }
        }
    }
}

#[test]
fn what_a_target_cannot_do_is_said_in_its_row() {
    let mut status = synced();
    let trouble = Some("Forbidden: may not list".to_owned());
    status.targets.insert("deployments".to_owned(), TargetState { rows: None, trouble });
    let lines = lines(&status, (80, 24));
    let line = lines.iter().find(|line| line.text().contains("Forbidden")).unwrap();
    assert!(line.text().starts_with(" deployments "));
    assert_eq!(line.0.last().map(|(tone, _)| *tone), Some(Tone::Bad));
}

#[test]
fn a_copy_that_is_behind_is_not_shown_as_good() {
    let status = Status { rows: Some(2), reason: "Progressing".to_owned(), ..Status::default() };
    let lines = lines(&status, (80, 24));
    let all = lines.iter().find(|line| line.text().starts_with(" all")).unwrap();
    assert!(all.0.iter().all(|(tone, _)| *tone != Tone::Good));
    assert!(lines.iter().any(|line| line.text() == " Synced=False  Progressing"));
}

#[test]
fn a_low_terminal_keeps_the_changes_and_drops_the_hints() {
    for (rows, hints) in [(18, 2), (16, 1), (13, 0)] {
        let texts = texts(&synced(), (80, rows));
        assert!(texts.iter().any(|line| line.contains("replicas 2 → 3")), "{texts:#?}");
        let found = texts.iter().filter(|line| line.contains("git -C") || line.contains("try"));
        assert_eq!(found.count(), hints, "{texts:#?}");
    }
}
