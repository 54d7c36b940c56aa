//! Tells code from comments in Rust, line by line.
//!
//! Not a parser: it knows comments, strings and character literals, which is
//! what it takes not to mistake one for the other.

/// A line of Rust, cut in two.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Without comments; what stands in strings is blanked out.
    pub(super) code: String,
    /// With the signs that make it one.
    pub(super) comment: String,
}

#[derive(Clone, Copy)]
enum State {
    Code,
    LineComment,
    /// Block comments nest.
    Block(usize),
    Text,
    /// A raw string, which ends at a quote and this many `#`.
    Raw(usize),
}

/// Where characters go.
enum To {
    Code,
    Comment,
    Blank,
}

/// What to do with the next characters: how many, where they go, what follows.
struct Step(usize, To, State);

/// Cuts every line of a file.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let chars: Vec<char> = text.chars().collect();
    let mut rest = chars.as_slice();
    let mut lines = Vec::new();
    let mut line = Line::default();
    let mut state = State::Code;
    while let [first, after @ ..] = rest {
        if *first == '\n' {
            if let State::LineComment = state {
                state = State::Code;
            }
            lines.push(std::mem::take(&mut line));
            rest = after;
            continue;
        }
        let Step(count, to, next) = step(state, rest, line.code.chars().next_back());
        let (taken, others) = rest.split_at(count.min(rest.len()));
        match to {
            To::Code => line.code.extend(taken),
            To::Comment => line.comment.extend(taken),
            To::Blank => line.code.extend(taken.iter().map(|_| ' ')),
        }
        (rest, state) = (others, next);
    }
    if line != Line::default() {
        lines.push(line);
    }
    lines
}

/// Never takes a line break, unless it is the first character.
fn step(state: State, rest: &[char], previous: Option<char>) -> Step {
    match (state, rest) {
        (State::Code, _) => in_code(rest, previous),

        (State::Block(1), ['*', '/', ..]) => Step(2, To::Comment, State::Code),
        (State::Block(depth), ['*', '/', ..]) => Step(2, To::Comment, State::Block(depth - 1)),
        (State::Block(depth), ['/', '*', ..]) => Step(2, To::Comment, State::Block(depth + 1)),
        (State::LineComment | State::Block(_), _) => Step(1, To::Comment, state),

        (State::Text, ['"', ..]) => Step(1, To::Code, State::Code),
        (State::Text, ['\\', next, ..]) if *next != '\n' => Step(2, To::Blank, state),
        (State::Raw(hashes), ['"', after @ ..]) if count(after, '#') >= hashes => {
            Step(1 + hashes, To::Code, State::Code)
        }
        (State::Text | State::Raw(_), _) => Step(1, To::Blank, state),
    }
}

fn in_code(rest: &[char], previous: Option<char>) -> Step {
    match rest {
        ['/', '/', ..] => Step(2, To::Comment, State::LineComment),
        ['/', '*', ..] => Step(2, To::Comment, State::Block(1)),
        ['"', ..] => Step(1, To::Code, State::Text),
        // A quote and one character and a quote, or an escape; else a lifetime.
        ['\'', '\\', _, after @ ..] => {
            let end = after.iter().take_while(|char| !matches!(char, '\'' | '\n')).count();
            Step(4 + end, To::Blank, State::Code)
        }
        ['\'', char, '\'', ..] if *char != '\n' => Step(3, To::Blank, State::Code),
        _ => match raw_string(rest) {
            Some((length, hashes)) if !previous.is_some_and(is_word) => {
                Step(length, To::Code, State::Raw(hashes))
            }
            _ => Step(1, To::Code, State::Code),
        },
    }
}

/// Length and number of `#` of the beginning of a raw string, as in `br#"`.
fn raw_string(rest: &[char]) -> Option<(usize, usize)> {
    let (prefix, after) = match rest {
        ['r', after @ ..] => (1, after),
        ['b' | 'c', 'r', after @ ..] => (2, after),
        _ => return None,
    };
    let hashes = count(after, '#');
    (after.get(hashes) == Some(&'"')).then_some((prefix + hashes + 1, hashes))
}

fn count(chars: &[char], wanted: char) -> usize {
    chars.iter().take_while(|char| **char == wanted).count()
}

/// Whether a character can be part of a name or a number.
pub(super) fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = lines(text);
        let found: Vec<(&str, &str)> =
            found.iter().map(|line| (line.code.trim_end(), line.comment.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_comment_goes_to_the_end_of_its_line() {
        check("let a = 1; // one\nlet b;\n", &[("let a = 1;", "// one"), ("let b;", "")]);
        check("/// doc", &[("", "/// doc")]);
    }

    #[test]
    fn block_comments_nest_and_span_lines() {
        check("a /* b /* c */\nd */ e\n", &[("a", "/* b /* c */"), (" e", "d */")]);
    }

    #[test]
    fn what_looks_like_a_comment_in_a_string_is_none() {
        check(r#"let a = "// \" no"; // yes"#, &[(r#"let a = "        ";"#, "// yes")]);
        check("let a = \"one\n// two\"; b\n", &[("let a = \"", ""), ("      \"; b", "")]);
    }

    #[test]
    fn raw_strings_end_at_their_own_sign() {
        check(r##"let a = r#"" // no"#; // yes"##, &[(r##"let a = r#"       "#;"##, "// yes")]);
        check(r#"let a = br"\"; // yes"#, &[(r#"let a = br" ";"#, "// yes")]);
        check(r#"let bar = bar"";"#, &[(r#"let bar = bar"";"#, "")]);
    }

    #[test]
    fn quotes_as_characters_open_no_string_and_lifetimes_are_none() {
        check(r#"('"', '\'', '\u{1F}', 'a) // yes"#, &[("(   ,     ,         , 'a)", "// yes")]);
        check("fn a<'a>(b: &'a str) {} // yes", &[("fn a<'a>(b: &'a str) {}", "// yes")]);
    }

    #[test]
    fn a_line_break_behind_a_backslash_still_ends_the_line() {
        check("\"a\\\nb\" // yes\n", &[("\"", ""), (" \"", "// yes")]);
    }
}
