//! White space that nobody sees and every diff shows.

use super::Finding;

/// Findings about the white space of one file.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, number) in text.split('\n').zip(1..) {
        let content = line.trim_start();
        if line.strip_suffix(content).is_some_and(|indent| indent.contains('\t')) {
            findings.push(Finding::new(path, number, "is indented with a tab"));
        }
        if line.ends_with(char::is_whitespace) {
            findings.push(Finding::new(path, number, "ends in white space"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(text: &str, expected: &[&str]) {
        let found = check("README.md", text);
        let found: Vec<String> =
            found.iter().map(|finding| format!("{} {}", finding.line, finding.text)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn white_space_at_the_end_of_a_line_is_found() {
        check_text("one\ntwo \n", &["2 ends in white space"]);
        check_text("one\r\n", &["1 ends in white space"]);
    }

    #[test]
    fn a_tab_is_found_where_it_indents() {
        check_text("\tone\n  \ttwo\n", &["1 is indented with a tab", "2 is indented with a tab"]);
        check_text("a\tb\n", &[]);
    }
}
