//! Comments that speak of tickets, or of somebody's machine.

use std::collections::BTreeSet;

use super::{
    Finding, Kind, Source, kind,
    lexer::{self, is_word},
};

/// Directories of one machine; nobody else has them.
const MACHINE_PATHS: [&str; 3] = ["/root/", "/work/", "/tmp/target"];

/// What looks like the code of a ticket and is the name of a standard, or of
/// a document that everybody can read.
const STANDARDS: [&str; 17] = [
    "ADR", "AES", "CRC", "CVE", "DNS", "ECMA", "FIPS", "FNV", "HMAC", "IEEE", "ISO", "KEP", "MD",
    "RFC", "RSA", "SHA", "UTF",
];

/// Marks of unfinished work.
const MARKS: [&str; 2] = ["TODO", "FIXME"];

/// Codes that are ours: a string of the program is nothing else, so users see
/// them, as they see the id of a rule.
pub(super) fn own_codes(sources: &[Source]) -> BTreeSet<&str> {
    let rust = sources.iter().filter(|source| kind(&source.path) == Kind::Rust);
    rust.flat_map(|source| source.text.split('"')).filter(|text| is_code(text)).collect()
}

/// Findings in the comments of a Rust file; it may cite codes of our own.
pub(super) fn check_rust(path: &str, text: &str, own_codes: &BTreeSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, number) in lexer::lines(text).iter().zip(1..) {
        findings.extend(machine_path(path, number, &line.comment));
        findings.extend(ticket(path, number, &line.comment, own_codes));
    }
    findings
}

/// Findings in a page of Markdown, all of which is for reading.
pub(super) fn check_markdown(path: &str, text: &str) -> Vec<Finding> {
    text.lines().zip(1..).filter_map(|(line, number)| machine_path(path, number, line)).collect()
}

fn machine_path(path: &str, number: usize, text: &str) -> Option<Finding> {
    let begins_there = |machine_path: &str| {
        text.match_indices(machine_path).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            !before.is_some_and(|char| is_word(char) || matches!(char, '.' | '-' | '/' | '}'))
        })
    };
    let found = MACHINE_PATHS.into_iter().find(|machine_path| begins_there(machine_path))?;
    Some(Finding::new(path, number, format!("speaks of `{found}`, which is on one machine only")))
}

fn ticket(path: &str, number: usize, comment: &str, own_codes: &BTreeSet<&str>) -> Option<Finding> {
    // What is quoted is spoken of, not used.
    let words = comment.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    if let Some(mark) = MARKS.into_iter().find(|mark| has_word(&words, mark)) {
        let names_an_issue = issue_number(&words).is_some() || words.contains("/issues/");
        return (!names_an_issue).then(|| {
            Finding::new(
                path,
                number,
                format!("has a {mark} that names no issue, as in {mark}(#12)"),
            )
        });
    }
    let foreign = |piece: &&str| is_code(piece) && !own_codes.contains(piece);
    let code = issue_number(&words).or_else(|| pieces(&words).find(foreign))?;
    Some(Finding::new(path, number, format!("cites {code}; give the reason in words")))
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|char: char| !is_word(char)).any(|other| other == word)
}

/// An issue in the form of `#12`.
fn issue_number(text: &str) -> Option<&str> {
    pieces(text).find(|piece| piece.strip_prefix('#').is_some_and(is_number))
}

/// Whether it has the form of `AR-10`.
fn is_code(text: &str) -> bool {
    text.split_once('-').is_some_and(|(project, digits)| {
        let is_project = project.len() > 1 && project.chars().all(|char| char.is_ascii_uppercase());
        is_project && is_number(digits) && !STANDARDS.contains(&project)
    })
}

/// Runs of the characters that codes are made of. A `/` belongs to them, so
/// that the path of a link is one piece and no code.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !is_word(char) && !matches!(char, '#' | '-' | '/' | '[' | '&'))
        .map(|piece| piece.trim_matches(['-', '/', '[']))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|char| char.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_comment(comment: &str, expected: Option<&str>) {
        let found = check_rust(
            "src/a.rs",
            &format!("fn a() {{}} {comment}\n"),
            &BTreeSet::from(["OBJ-02"]),
        );
        let texts: Vec<&str> = found.iter().map(|finding| finding.text.as_str()).collect();
        assert_eq!(texts, expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn ticket_codes_are_found() {
        check_comment("// AR-10", Some("cites AR-10; give the reason in words"));
        check_comment("/* (see KOL-7): late */", Some("cites KOL-7; give the reason in words"));
        check_comment("/// Fixes #123.", Some("cites #123; give the reason in words"));
    }

    #[test]
    fn standards_and_ordinary_words_are_no_tickets() {
        for comment in [
            "// SHA-256 over UTF-8, by RFC-3339, ADR-0007 and CVE-2024-1.",
            "// A DNS-1123 label, a P-256 key, FNV-1a, x-509, top-10, v1.36-3.",
            "// `AR-10` is how a ticket looks.",
            "// #[cfg(test)], &#123; and #123abc.",
            "// https://example.org/browse/AR-10",
        ] {
            check_comment(comment, None);
        }
    }

    #[test]
    fn the_codes_that_users_see_may_be_cited() {
        check_comment("/// OBJ-02: it has a name.", None);
        check_comment("/// OBJ-02, OBJ-99.", Some("cites OBJ-99; give the reason in words"));
        let text = "const ID: &str = \"OBJ-02\"; // OBJ-03\nconst TEXT: &str = \"by OBJ-04\";\n";
        let source = Source { path: "src/rule.rs".into(), text: text.into() };
        assert_eq!(own_codes(&[source]), BTreeSet::from(["OBJ-02"]));
    }

    #[test]
    fn unfinished_work_names_the_issue_that_ends_it() {
        check_comment("// TODO: later", Some("has a TODO that names no issue, as in TODO(#12)"));
        check_comment("// FIXME later", Some("has a FIXME that names no issue, as in FIXME(#12)"));
        check_comment("// TODO(#12): read the rest.", None);
        check_comment("// TODO https://example.org/kollect/issues/12", None);
        check_comment("// Every `TODO` names its issue; a TODOLIST is none.", None);
    }

    #[test]
    fn a_path_of_one_machine_is_found_in_comments() {
        check_comment(
            "// see /work/notes.md",
            Some("speaks of `/work/`, which is on one machine only"),
        );
        check_comment("// below crates/work/src", None);
        check_comment("// see ${HOME}/work/x", None);
    }

    #[test]
    fn strings_are_no_comments() {
        let text = "const A: &str = \"// AR-10 TODO /root/x\";\n";
        assert!(check_rust("src/a.rs", text, &BTreeSet::new()).is_empty());
    }

    #[test]
    fn a_path_of_one_machine_is_found_anywhere_in_a_page() {
        let found = check_markdown("README.md", "one\n    cd /root/kollect\nAR-10\n");
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [2]);
    }
}
