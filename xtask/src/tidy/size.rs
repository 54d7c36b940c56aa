//! Files that have grown too long.

use super::Finding;

/// How many lines a file may have, not counting the tests at its end.
const PRODUCTION: usize = 400;

/// How many lines a file of tests may have.
const TESTS: usize = 800;

/// How far down the reason for a longer file is looked for.
const REASON_WITHIN: usize = 30;

const REASON: &str = "// tidy: long because";

/// Findings about the length of one Rust file.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let (lines, limit, what) = if is_test(path) {
        (text.lines().count(), TESTS, "lines of tests")
    } else {
        (production_lines(text), PRODUCTION, "lines before its tests")
    };
    let reason = text
        .lines()
        .zip(1..)
        .take(REASON_WITHIN)
        .find_map(|(line, number)| Some((line.trim().strip_prefix(REASON)?.trim(), number)));
    match reason {
        Some(("" | "…" | "...", number)) => {
            vec![Finding::new(path, number, "gives no reason for being long")]
        }
        None if lines > limit => vec![Finding::new(
            path,
            limit + 1,
            format!("has {lines} {what}; {limit} is the limit: split it by meaning"),
        )],
        Some(_) | None => Vec::new(),
    }
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}

/// The number of lines before the test module.
fn production_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begins_tests = |number: &usize| {
        let mut from_here = lines.iter().skip(*number);
        from_here.next() == Some(&"#[cfg(test)]")
            && from_here
                .find(|line| !line.is_empty() && !line.starts_with("#["))
                .is_some_and(|line| line.starts_with("mod tests"))
    };
    (0..lines.len()).find(begins_tests).unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST_MODULE: &str = "#[cfg(test)]\nmod tests {\n}\n";

    #[track_caller]
    fn check_lines(path: &str, text: &str, expected: Option<usize>) {
        let lines: Vec<usize> = check(path, text).iter().map(|finding| finding.line).collect();
        assert_eq!(lines, expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_file_may_have_four_hundred_lines_before_its_tests() {
        let code = "a\n".repeat(400);
        check_lines("src/a.rs", &format!("{code}{TEST_MODULE}{code}"), None);
        check_lines("src/a.rs", &format!("{code}a\n{TEST_MODULE}"), Some(401));
    }

    #[test]
    fn a_test_function_in_between_does_not_end_the_count() {
        let code = format!("#[cfg(test)]\nfn helper() {{}}\n{}", "a\n".repeat(400));
        check_lines("src/a.rs", &code, Some(401));
    }

    #[test]
    fn a_file_of_tests_may_be_twice_as_long() {
        for path in ["crates/api/tests/golden.rs", "src/store/tests.rs", "src/tests/a.rs"] {
            check_lines(path, &"a\n".repeat(800), None);
            check_lines(path, &"a\n".repeat(801), Some(801));
        }
    }

    #[test]
    fn a_longer_file_may_say_why() {
        let code = "a\n".repeat(500);
        check_lines("src/a.rs", &format!("//! A.\n{REASON} one table\n{code}"), None);
        check_lines("src/a.rs", &format!("//! A.\n{REASON}\n{code}"), Some(2));
        check_lines("src/a.rs", &format!("{code}{REASON} it is late\n"), Some(401));
    }
}
