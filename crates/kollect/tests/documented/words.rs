use std::{collections::BTreeSet, fs, path::Path};

use kollect_operator::{Word, words, words_of_copies, words_of_coverage};
use kollect_validate::Kind;

/// Texts in backticks that are one word with capitals within.
fn quoted(page: &str) -> BTreeSet<&str> {
    let is_word = |text: &&str| {
        text.starts_with(char::is_uppercase) && text.chars().all(char::is_alphanumeric)
    };
    page.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).filter(is_word).collect()
}

#[test]
fn the_page_about_synced_names_every_reason_and_no_other() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/synced.md");
    let page = fs::read_to_string(path).unwrap();
    let mut quoted = quoted(&page);
    let of_inventories = [words(Kind::Inventory), words(Kind::ClusterInventory)].concat();
    let promised: Vec<Word> = [&of_inventories, words_of_copies(), words_of_coverage()].concat();
    let reasons: BTreeSet<_> = promised.iter().map(|word| word.reason).collect();
    let missing: Vec<_> =
        reasons.iter().filter(|word| **word != "…" && !quoted.contains(*word)).collect();
    assert_eq!(missing, [&""; 0], "the page does not name them");
    for word in promised.iter().chain(&words(Kind::Target)) {
        quoted.remove(word.reason);
        quoted.remove(word.condition);
    }
    assert_eq!(quoted, BTreeSet::new(), "no inventory or target says that");
}
