//! What is left when a process dies, or another one writes.

use std::fs;

use kollect_inventory::{Effect, watermark::Trust};
use kollect_sinks::{SinkError, Wrote};

use super::support::{Directory, Pair, all, export, files, row, since, tree};

/// Trace 5, and the same for every other moment at which a process may die.
#[test]
fn an_export_that_was_killed_at_any_step_is_repaired() {
    let old = [row("shop", "stays", 1), row("shop", "goes", 1), row("shop", "changes", 1)];
    let new = [row("shop", "stays", 1), row("shop", "comes", 1), row("shop", "changes", 2)];
    // A first export has no record to mark.
    let moments = (0..=6).flat_map(|moment| [(moment, First::Yes), (moment, First::No)]);
    for (dead_after, first) in moments {
        for wanted in [&old[..], &new[..], &[]] {
            let directory = Directory::new();
            Pair::new(&directory, "web", tree()).export(all(&old)).unwrap();
            let after = Directory::new();
            Pair::new(&after, "web", tree()).export(all(&new)).unwrap();
            directory.advance(&after, dead_after);
            if first == First::Yes {
                fs::remove_file(directory.path(".kollect/eu-1/shop/web/watermark")).unwrap();
            }

            let mut restarted = Pair::new(&directory, "web", tree());
            let receipt = restarted.export(all(wanted)).unwrap();
            assert_eq!(receipt.warnings, Vec::<String>::new());
            let expected = Directory::new();
            Pair::new(&expected, "web", tree()).export(all(wanted)).unwrap();
            assert_eq!(directory.contents(), expected.contents(), "dead after {dead_after}");
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum First {
    Yes,
    No,
}

#[test]
fn what_a_killed_process_left_unfinished_goes() {
    let directory = Directory::new();
    let mut pair = Pair::new(&directory, "web", tree());
    pair.export(all(&[row("shop", "web", 1)])).unwrap();
    directory.write(".kollect/.unfinished/0", "half a fi");
    directory.write(".kollect/.unfinished/1999", "");
    let mut compared = export("web", all(&[row("shop", "web", 1)]));
    compared.trust = Trust::Nothing;
    pair.run(compared).unwrap();
    assert_eq!(directory.names(".kollect/.unfinished"), Vec::<String>::new());
}

#[test]
fn an_export_that_nobody_waits_for_ends_where_it_is() {
    let directory = Directory::new();
    let mut pair = Pair::new(&directory, "web", tree());
    pair.export(all(&[row("shop", "web", 1)])).unwrap();
    let abandoned = export("web", since(&[row("shop", "web", 2)]));
    abandoned.progress.abandon();
    let error = pair.run(abandoned).unwrap_err();
    assert_eq!(error.effect(), Effect::None);
    assert_eq!(directory.read("eu-1/shop/pod/web.yaml"), "value: 1\n");
}

#[test]
fn a_broken_list_removes_nothing_and_is_written_anew() {
    let directory = Directory::new();
    let rows: Vec<_> = (0..5).map(|at| row("shop", &format!("web-{at}"), 1)).collect();
    Pair::new(&directory, "web", tree()).export(all(&rows)).unwrap();
    for shard in directory.names(".kollect/eu-1/shop/web") {
        directory.write(&format!(".kollect/eu-1/shop/web/{shard}"), "broken");
    }
    let receipt = Pair::new(&directory, "web", tree()).export(all(&rows[..1])).unwrap();
    assert_eq!(receipt.warnings.len(), 6, "{:?}", receipt.warnings);
    assert_eq!(files(&directory).len(), 5);
    assert_eq!(directory.names(".kollect/eu-1/shop/web").len(), 2);
    let receipt = Pair::new(&directory, "web", tree()).export(all(&[])).unwrap();
    assert_eq!(receipt.wrote, Wrote::Files { written: 0, removed: 1 });
}

#[test]
fn another_process_is_kept_out_and_says_so() {
    let directory = Directory::new();
    let mut pair = Pair::new(&directory, "web", tree());
    pair.export(all(&[row("shop", "web", 1)])).unwrap();
    let lock = fs::File::open(directory.path(".kollect/.lock")).unwrap();
    lock.lock().unwrap();
    let error = pair.export(since(&[row("shop", "web", 2)])).unwrap_err();
    assert_eq!(error.effect(), Effect::None);
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.starts_with("another process is writing to "), "{cause}");
    lock.unlock().unwrap();
    pair.export(since(&[row("shop", "web", 2)])).unwrap();
}

#[test]
fn a_second_writer_is_noticed() {
    let directory = Directory::new();
    let mut first = Pair::new(&directory, "web", tree());
    first.export(all(&[row("shop", "web", 1)])).unwrap();
    let mut second = Pair::new(&directory, "web", tree());
    second.export(all(&[row("shop", "web", 2)])).unwrap();
    let error = first.export(since(&[row("shop", "web", 3)])).unwrap_err();
    assert!(matches!(error, SinkError::Conflict { .. }), "{error}");
    assert_eq!(directory.read("eu-1/shop/pod/web.yaml"), "value: 2\n");
}
