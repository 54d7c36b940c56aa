//! Regular expressions, in RE2's dialect and in time linear to the text.
//!
//! A pattern that stands in the program is compiled with it; one that is
//! computed is compiled when it is met, and pays for that.

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};

use super::{
    functions::{Function, global, method, unfit},
    value::Value,
};
use crate::{budget::Budget, eval::Reason};

type Computed<'v, 'a> = Result<Value<'v, 'a>, Reason>;

pub(crate) const FUNCTIONS: &[Function] = &[
    method("matches", "string, string -> bool", |budget, args| run(budget, Use::Matches, args)),
    global("matches", "string, string -> bool", |budget, args| run(budget, Use::Matches, args)),
    method("find", "string, string -> string", |budget, args| run(budget, Use::Find, args)),
    method("findAll", "string, string -> list(string)", find_all),
    method("findAll", "string, string, int -> list(string)", find_all),
    global("regex.extract", "string, string -> optional(string)", |budget, args| {
        run(budget, Use::Extract, args)
    }),
    global("regex.extractAll", "string, string -> list(string)", |budget, args| {
        run(budget, Use::ExtractAll, args)
    }),
    global("regex.replace", "string, string, string -> string", replace),
    global("regex.replace", "string, string, string, int -> string", replace),
];

/// What is done with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Matches,
    Find,
    FindAll,
    Extract,
    ExtractAll,
    Replace,
}

/// What a function does with the pattern that is its second argument.
pub(crate) fn use_of(function: &str) -> Option<Use> {
    Some(match function {
        "matches" => Use::Matches,
        "find" => Use::Find,
        "findAll" => Use::FindAll,
        "regex.extract" => Use::Extract,
        "regex.extractAll" => Use::ExtractAll,
        "regex.replace" => Use::Replace,
        _ => return None,
    })
}

fn find_all<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    run(budget, Use::FindAll, args)
}

fn replace<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    run(budget, Use::Replace, args)
}

fn run<'v, 'a>(budget: &mut Budget, what: Use, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    /// Compiling takes about so long for every place in a pattern.
    const COMPILING: usize = 5_000;
    let [Value::Text(_), Value::Text(pattern), ..] = args else { return Err(what.unfit(args)) };
    let weight = weight(pattern.as_str())?;
    budget.take(100_000 + COMPILING * weight)?;
    Pattern::compile(pattern.as_str())?.run(budget, what, args)
}

/// The places at which a match can stand while a text is read. At worst all
/// of them are looked at for every byte, so that they are what a byte costs.
fn weight(pattern: &str) -> Result<usize, Reason> {
    /// More makes a pattern costly to compile and useless on longer texts.
    const MOST: usize = 1_000;
    let hir = regex_syntax::ParserBuilder::new().nest_limit(50).build().parse(&dialect(pattern)?);
    let hir = hir.map_err(|_| invalid(pattern))?;
    match places(&hir) {
        Some(places) if places <= MOST => Ok(places.max(1)),
        _ => Err(Reason::Invalid("the pattern is too large".into())),
    }
}

fn invalid(pattern: &str) -> Reason {
    super::convert::no_such("regular expression", pattern)
}

fn places(hir: &Hir) -> Option<usize> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(0),
        HirKind::Literal(literal) => Some(literal.0.len()),
        HirKind::Class(_) => Some(1),
        HirKind::Capture(capture) => places(&capture.sub),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            // Even what matches nothing takes a place for each time.
            places(&repetition.sub)?.max(1).checked_mul(usize::try_from(times).ok()?)
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().try_fold(0_usize, |sum, part| sum.checked_add(places(part)?))
        }
    }
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    weight: usize,
}

impl Pattern {
    pub(crate) fn compile(pattern: &str) -> Result<Self, Reason> {
        const MOST_BYTES: usize = 512 * 1024;
        let weight = weight(pattern)?;
        let regex = RegexBuilder::new(&dialect(pattern)?)
            .size_limit(MOST_BYTES)
            .dfa_size_limit(MOST_BYTES)
            .nest_limit(50)
            .build()
            .map_err(|_| Reason::Invalid("the pattern is too large".into()))?;
        Ok(Self { regex, weight })
    }

    pub(crate) fn run<'v, 'a>(
        &self,
        budget: &mut Budget,
        what: Use,
        args: &[Value<'v, 'a>],
    ) -> Computed<'v, 'a> {
        /// What a byte costs for every place in the pattern.
        const EACH: usize = 4;
        let Some(Value::Text(text)) = args.first() else { return Err(what.unfit(args)) };
        let text = text.as_str();
        budget.take(50 + text.len().saturating_mul(self.weight).saturating_mul(EACH))?;
        let more = args.get(2..).unwrap_or_default();
        match (what, more) {
            (Use::Matches, []) => Ok(Value::Bool(self.regex.is_match(text))),
            (Use::Find, []) => {
                let found = self.regex.find(text).map_or("", |found| found.as_str());
                budget.build(2 * found.len() + 16)?;
                Ok(Value::text(found))
            }
            (Use::FindAll, []) => self.find_all(budget, text, usize::MAX),
            (Use::FindAll, [Value::Int(limit)]) => {
                self.find_all(budget, text, usize::try_from(*limit).unwrap_or(usize::MAX))
            }
            (Use::Extract, []) => {
                Ok(self.extract(budget, text, 1)?.pop().map_or(Value::NONE, Value::some))
            }
            (Use::ExtractAll, []) => self.extract(budget, text, usize::MAX).map(Value::list),
            (Use::Replace, [Value::Text(by)]) => {
                self.replace(budget, text, by.as_str(), usize::MAX)
            }
            (Use::Replace, [Value::Text(by), Value::Int(limit)]) => {
                let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
                self.replace(budget, text, by.as_str(), limit)
            }
            _ => Err(what.unfit(args)),
        }
    }

    fn find_all<'v, 'a>(&self, budget: &mut Budget, text: &str, limit: usize) -> Computed<'v, 'a> {
        let mut found = Vec::new();
        for one in self.regex.find_iter(text).take(limit) {
            budget.build(2 * size_of::<Value<'_, '_>>() + 16 + one.len())?;
            found.push(Value::text(one.as_str()));
        }
        Ok(Value::list(found))
    }

    /// What the only group matched, or all of a match if there is no group.
    fn extract<'v, 'a>(
        &self,
        budget: &mut Budget,
        text: &str,
        limit: usize,
    ) -> Result<Vec<Value<'v, 'a>>, Reason> {
        let group = self.regex.captures_len() - 1;
        if group > 1 {
            return Err(Reason::Invalid("the pattern has more than one group".into()));
        }
        let mut found = Vec::new();
        for captures in self.regex.captures_iter(text).take(limit) {
            let Some(one) = captures.get(group) else { continue };
            budget.build(2 * size_of::<Value<'_, '_>>() + 64 + one.len())?;
            found.push(Value::text(one.as_str()));
        }
        Ok(found)
    }

    /// `\1` in what takes the place of a match stands for its first group.
    fn replace<'v, 'a>(
        &self,
        budget: &mut Budget,
        text: &str,
        by: &str,
        limit: usize,
    ) -> Computed<'v, 'a> {
        let mut out = String::new();
        let mut end = 0;
        for captures in self.regex.captures_iter(text).take(limit) {
            let Some(whole) = captures.get(0) else { continue };
            let before = text.get(end..whole.start()).unwrap_or_default();
            budget.build(64 + 2 * (before.len() + by.len()))?;
            out.push_str(before);
            end = whole.end();
            let mut parts = by.split('\\');
            out.push_str(parts.next().unwrap_or_default());
            while let Some(part) = parts.next() {
                let digit = part.chars().next().and_then(|c| c.to_digit(10));
                match (digit, part.is_empty()) {
                    (Some(group), _) => {
                        let index = usize::try_from(group).unwrap_or_default();
                        if index >= self.regex.captures_len() {
                            let text = format!("the pattern has no group {group}");
                            return Err(Reason::Invalid(text.into()));
                        }
                        let matched = captures.get(index).map_or("", |found| found.as_str());
                        budget.build(2 * matched.len())?;
                        out.push_str(matched);
                        out.push_str(part.get(1..).unwrap_or_default());
                    }
                    (None, true) => {
                        out.push('\\');
                        out.push_str(parts.next().unwrap_or_default());
                    }
                    (None, false) => {
                        return Err(Reason::Invalid("\\ stands before a digit or \\".into()));
                    }
                }
            }
        }
        let rest = text.get(end..).unwrap_or_default();
        budget.build(2 * rest.len() + out.len())?;
        out.push_str(rest);
        Ok(Value::text(out))
    }
}

impl Use {
    fn unfit(self, args: &[Value<'_, '_>]) -> Reason {
        let name = match self {
            Self::Matches => "matches",
            Self::Find => "find",
            Self::FindAll => "findAll",
            Self::Extract => "regex.extract",
            Self::ExtractAll => "regex.extractAll",
            Self::Replace => "regex.replace",
        };
        unfit(name, args)
    }
}

/// The pattern in the words of our engine: RE2's `\d`, `\w`, `\s` and `\b` are
/// of ASCII, it has no classes within classes, and `\Q…\E` quotes.
fn dialect(pattern: &str) -> Result<String, Reason> {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut in_class = false;
    let mut letters = pattern.chars().peekable();
    let mut opened = false;
    while let Some(c) = letters.next() {
        let first_in_class = std::mem::take(&mut opened);
        match c {
            '\\' => match letters.next() {
                Some('Q') if !in_class => {
                    let rest: String = letters.by_ref().collect();
                    let (quoted, after) = rest.split_once("\\E").unwrap_or((&rest, ""));
                    out.push_str(&regex_syntax::escape(quoted));
                    out.push_str(&dialect(after)?);
                    return Ok(out);
                }
                Some(letter) => escape(letter, in_class, &mut out),
                None => return Err(invalid(pattern)),
            },
            '[' if !in_class => {
                in_class = true;
                opened = true;
                out.push(c);
            }
            '^' if first_in_class => {
                opened = true;
                out.push(c);
            }
            ']' if in_class && first_in_class => out.push_str("\\]"),
            ']' if in_class => {
                in_class = false;
                out.push(c);
            }
            '[' if letters.peek() == Some(&':') => {
                out.push(c);
                for c in letters.by_ref() {
                    out.push(c);
                    if c == ']' {
                        break;
                    }
                }
            }
            '[' | '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    Ok(out)
}

fn escape(letter: char, in_class: bool, out: &mut String) {
    let plain = match (letter, in_class) {
        ('d', false) => "[0-9]",
        ('d', true) => "0-9",
        ('D', _) => "[^0-9]",
        ('w', false) => "[0-9A-Za-z_]",
        ('w', true) => "0-9A-Za-z_",
        ('W', _) => "[^0-9A-Za-z_]",
        ('s', false) => "[\\t\\n\\x0C\\r ]",
        ('s', true) => "\\t\\n\\x0C\\r ",
        ('S', _) => "[^\\t\\n\\x0C\\r ]",
        ('b', false) => "(?-u:\\b)",
        _ => {
            out.push('\\');
            out.push(letter);
            return;
        }
    };
    out.push_str(plain);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, text: &str, expected: bool) {
        let pattern = Pattern::compile(pattern).unwrap();
        assert_eq!(pattern.regex.is_match(text), expected, "{pattern:?} on {text}");
    }

    #[test]
    fn classes_are_those_of_re2() {
        check(r"^\d+$", "123", true);
        check(r"^\d+$", "٣", false);
        check(r"^[\w-]+$", "a-b_1", true);
        check(r"^\w+$", "é", false);
        check(r"^[^\d]+$", "abc", true);
        check(r"^[\D]+$", "abc", true);
        check(r"^.$", "é", true);
        check(r"\bfoo\b", "a foo b", true);
        check(r"^[[a]+$", "[a", true);
        check(r"^[a&&b]+$", "a&b", true);
        check(r"^[]a]+$", "]a", true);
        check(r"^[^]a]+$", "bc", true);
        check(r"^[[:alpha:]]+$", "abc", true);
        check(r"^\Qa.b\E+$", "a.bbb", true);
        check(r"^\pL+$", "é", true);
    }

    #[test]
    fn what_is_too_large_is_refused() {
        for pattern in ["(a{1000}){1000}", "((a{100}){100}){100}", r"[\pL\pN]{900}"] {
            assert!(Pattern::compile(pattern).is_err(), "{pattern}");
        }
        let deep = format!("{}a{}", "(".repeat(200), ")".repeat(200));
        assert!(Pattern::compile(&deep).is_err());
    }
}
