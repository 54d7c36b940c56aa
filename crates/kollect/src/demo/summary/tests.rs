use super::*;

fn well() -> Summary {
    let counted = |half, most| Counted {
        rows: 186,
        missing: Vec::new(),
        half: Some(Duration::from_millis(half)),
        most: Some(Duration::from_millis(most)),
    };
    Summary {
        took: Duration::from_millis(15_250),
        inventory: Some(186),
        git: counted(82, 1_483),
        sqlite: counted(6, 12),
        changes: 21,
        commits: 19,
        tip: Some("8997e3f58aa01".to_owned()),
        is_synced: true,
    }
}

#[test]
fn copies_that_agree_differ_in_nothing() {
    assert_eq!(well().differences(), Vec::<String>::new());
    assert_eq!(
        well().lines(),
        [
            "after 15.2 s:",
            "  rows     186 in the inventory, 186 in Git, 186 in SQLite",
            "  changes  21 made, 21 in Git, 21 in SQLite",
            "  commits  19, the newest 8997e3f58",
            "  latency  Git p50 82 ms, p99 1.48 s; SQLite p50 6 ms, p99 12 ms",
        ]
    );
}

#[test]
fn a_copy_with_other_rows_is_named() {
    let mut summary = well();
    summary.git.rows = 185;
    assert_eq!(summary.differences(), ["Git has 185 rows, and the inventory 186"]);
}

#[test]
fn a_change_that_did_not_arrive_is_named() {
    let mut summary = well();
    summary.sqlite.missing = vec!["deployment shop/web: replicas 2 → 3".to_owned()];
    let said = "SQLite lacks 1 of the changes, the first: deployment shop/web: replicas 2 → 3";
    assert_eq!(summary.differences(), [said]);
    assert_eq!(summary.lines()[2], "  changes  21 made, 21 in Git, 20 in SQLite");
}

#[test]
fn nothing_at_all_is_not_taken_for_agreement() {
    let nothing = Summary { inventory: Some(0), is_synced: true, ..Summary::default() };
    assert_eq!(nothing.differences(), ["the inventory is empty"]);
    let silent = Summary { git: Counted { rows: 3, ..Counted::default() }, ..Summary::default() };
    assert_eq!(silent.differences().len(), 2);
}
