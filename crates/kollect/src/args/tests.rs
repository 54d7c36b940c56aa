//! Every command line that our pages show is one that we take.

use std::{fs, path::Path};

use clap::{CommandFactory as _, Parser as _};

use super::Args;

/// Pages with commands, by folder, or one by one.
const PAGES: [&str; 6] = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/guide",
    "deploy/samples/README.md",
    "deploy/samples/shop/README.md",
    "docs/performance.md",
];

/// The words of a command as a shell would hand them over, up to what the shell
/// itself would take: a pipe, a redirection, a comment.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quote, mut is_word) = (None, false);
    for char in line.chars() {
        match (quote, char) {
            (Some(open), char) if open == char => quote = None,
            (None, '\'' | '"') => (quote, is_word) = (Some(char), true),
            (None, '|' | '>' | '#') => break,
            (None, char) if char.is_whitespace() => {
                if is_word {
                    words.push(String::new());
                }
                is_word = false;
            }
            (_, char) => {
                is_word = true;
                words.last_mut().unwrap().push(char);
            }
        }
    }
    if !is_word {
        words.pop();
    }
    words
}

/// The command lines of ours in the `sh` blocks of a page.
fn commands(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let lines: Vec<_> = blocks
        .flat_map(|block| block.replace("\\\n", " ").lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let parts = lines.iter().flat_map(|line| line.split(" | "));
    let ours = parts.filter_map(|part| {
        let part = part.trim_start();
        part.strip_prefix("cargo run --release -- ").or_else(|| part.strip_prefix("kollect "))
    });
    ours.map(str::to_owned).collect()
}

fn pages(path: &Path) -> Vec<(String, String)> {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        return entries.flat_map(|path| pages(&path)).collect();
    }
    vec![(path.display().to_string(), fs::read_to_string(path).unwrap())]
}

#[test]
fn every_documented_command_line_is_one_that_we_take() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for (name, page) in PAGES.iter().flat_map(|page| pages(&repository.join(page))) {
        for command in commands(&page) {
            let words = ["kollect".to_owned()].into_iter().chain(words(&command));
            let taken = Args::try_parse_from(words);
            assert!(taken.is_ok(), "{name}: kollect {command}\n{}", taken.unwrap_err());
            count += 1;
        }
    }
    assert!(count > 20, "only {count} commands were found");
}

#[test]
fn a_line_is_split_as_a_shell_would() {
    assert_eq!(words("a 'b c' \"d\"e  # f"), ["a", "b c", "de"]);
    assert_eq!(words("a '' | b"), ["a", ""]);
}

#[test]
fn the_command_line_is_well_formed() {
    Args::command().debug_assert();
}
