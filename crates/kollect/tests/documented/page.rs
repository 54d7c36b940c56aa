//! What a page asks its reader to do, and what it says will happen.

/// Commands that stand together, and what they print together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// The line on which the block begins.
    pub(super) line: usize,
    pub(super) section: String,
    pub(super) commands: Vec<String>,
    pub(super) prints: Option<String>,
}

/// A block of a page, in a language or none.
pub(super) struct Block<'p> {
    /// The line on which it begins.
    pub(super) line: usize,
    section: &'p str,
    pub(super) language: &'p str,
    pub(super) lines: Vec<&'p str>,
}

/// The blocks of a page in Markdown.
pub(super) fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut section = "";
    let mut lines = page.lines().zip(1..);
    while let Some((text, line)) = lines.next() {
        if let Some(title) = text.strip_prefix('#') {
            section = title;
        }
        if let Some(language) = text.strip_prefix("```") {
            let rest = lines.by_ref().map(|(text, _)| text);
            let lines = rest.take_while(|text| *text != "```").collect();
            blocks.push(Block { line, section, language, lines });
        }
    }
    blocks
}

/// The steps of a page.
pub(super) fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for Block { line, section, language, lines } in blocks(page) {
        match language {
            "sh" => steps.push(Step {
                line,
                section: section.to_owned(),
                commands: commands(&lines),
                prints: None,
            }),
            "" => {
                let before = steps.last_mut().filter(|step| step.section == section);
                if let Some(step) = before.filter(|step| step.prints.is_none()) {
                    step.prints = Some(lines.join("\n"));
                }
            }
            _ => {}
        }
    }
    steps
}

/// One command a line, unless a line ends in a backslash.
fn commands(block: &[&str]) -> Vec<String> {
    let text = block.join("\n").replace("\\\n", " ");
    text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

/// Whether that is what was printed, as far as it is said.
pub(super) fn is_printed(expected: &str, printed: &str) -> bool {
    let plain = |text: &str| -> Vec<String> {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.trim().lines().map(words).collect()
    };
    are_lines(&plain(expected), &plain(printed))
}

fn are_lines(expected: &[String], printed: &[String]) -> bool {
    match (expected.split_first(), printed.split_first()) {
        (None, _) => printed.is_empty(),
        (Some((line, rest)), _) if line == "…" => {
            (0..=printed.len()).any(|skipped| are_lines(rest, &printed[skipped..]))
        }
        (Some(_), None) => false,
        (Some((line, rest)), Some((first, others))) => {
            is_line(line, first) && are_lines(rest, others)
        }
    }
}

fn is_line(expected: &str, printed: &str) -> bool {
    let Some((before, after)) = expected.split_once('…') else { return expected == printed };
    let Some(rest) = printed.strip_prefix(before) else { return false };
    let mut ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    ends.any(|at| is_line(after, rest.split_at(at).1))
}

#[test]
fn a_page_is_its_blocks_and_what_follows_them() {
    let page = "# A\n```sh\nkollect a \\\n  b\nkollect c\n```\nSo:\n```\nx\n```\n## B\n```\ny\n```\n```yaml\nz: 1\n```\n";
    let expected = Step {
        line: 2,
        section: " A".to_owned(),
        commands: vec!["kollect a    b".to_owned(), "kollect c".to_owned()],
        prints: Some("x".to_owned()),
    };
    assert_eq!(steps(page), [expected]);
}

#[test]
fn an_ellipsis_stands_for_anything() {
    assert!(is_printed("a\n…\nd 12 … e", "a\nb\nc\nd 12 34 e"));
    assert!(is_printed("a  b", "a b\n"));
    assert!(!is_printed("a\n…\nd", "a\nb\nc"));
    assert!(!is_printed("a", "a\nb"));
    assert!(!is_printed("a … c", "a b"));
}
