//! Replays what was worth keeping.

use std::{fs, path::Path};

use fuzz::CHECKS;

#[test]
fn every_seed_of_the_corpus_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, check) in CHECKS {
        let mut seeds = 0;
        for seed in fs::read_dir(corpus.join(name)).unwrap() {
            let path = seed.unwrap().path();
            println!("{}", path.display());
            check(&fs::read(path).unwrap());
            seeds += 1;
        }
        assert!(seeds >= 12, "{name} has only {seeds} seeds");
    }
}

#[test]
fn every_corpus_has_its_check() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for folder in fs::read_dir(corpus).unwrap() {
        let name = folder.unwrap().file_name();
        assert!(CHECKS.iter().any(|(check, _)| name == *check), "{name:?} is replayed by nobody");
    }
}
