//! What can be done with texts. Places in a text are counted in characters.

use super::{
    functions::{Function, global, method, unfit},
    operators,
    value::Value,
};
use crate::{budget::Budget, eval::Reason};

type Computed<'v, 'a> = Result<Value<'v, 'a>, Reason>;

pub(crate) const FUNCTIONS: &[Function] = &[
    method("contains", "string, string -> bool", contains),
    method("startsWith", "string, string -> bool", starts_with),
    method("endsWith", "string, string -> bool", ends_with),
    method("charAt", "string, int -> string", char_at),
    method("indexOf", "string, string -> int", index_of),
    method("indexOf", "list(A), A -> int", index_of),
    method("indexOf", "string, string, int -> int", index_of),
    method("lastIndexOf", "string, string -> int", last_index_of),
    method("lastIndexOf", "list(A), A -> int", last_index_of),
    method("lastIndexOf", "string, string, int -> int", last_index_of),
    method("lowerAscii", "string -> string", lower),
    method("upperAscii", "string -> string", upper),
    method("replace", "string, string, string -> string", replace),
    method("replace", "string, string, string, int -> string", replace),
    method("split", "string, string -> list(string)", split),
    method("split", "string, string, int -> list(string)", split),
    method("substring", "string, int -> string", substring),
    method("substring", "string, int, int -> string", substring),
    method("trim", "string -> string", trim),
    method("reverse", "string -> string", reverse),
    method("reverse", "list(A) -> list(A)", reverse),
    method("join", "list(string) -> string", join),
    method("join", "list(string), string -> string", join),
    global("strings.quote", "string -> string", quote),
];

/// Looking through so many bytes is one step.
const AT_ONCE: usize = 4;

fn contains<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Text(text), Value::Text(part)] => {
            budget.take(text.as_str().len() / AT_ONCE)?;
            Ok(Value::Bool(text.as_str().contains(part.as_str())))
        }
        _ => Err(unfit("contains", args)),
    }
}

fn starts_with<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Text(text), Value::Text(part)] => {
            budget.take(part.as_str().len() / AT_ONCE)?;
            Ok(Value::Bool(text.as_str().starts_with(part.as_str())))
        }
        _ => Err(unfit("startsWith", args)),
    }
}

fn ends_with<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Text(text), Value::Text(part)] => {
            budget.take(part.as_str().len() / AT_ONCE)?;
            Ok(Value::Bool(text.as_str().ends_with(part.as_str())))
        }
        _ => Err(unfit("endsWith", args)),
    }
}

/// The byte at which a character begins; the end of the text is a place too.
fn place(text: &str, index: i64) -> Result<usize, Reason> {
    let out = || Reason::Invalid(format!("there is no character {index}").into());
    let index = usize::try_from(index).map_err(|_| out())?;
    let ends = [text.len()];
    let mut places = text.char_indices().map(|(at, _)| at).chain(ends);
    places.nth(index).ok_or_else(out)
}

fn part<'v, 'a>(budget: &mut Budget, part: &str) -> Computed<'v, 'a> {
    budget.build(2 * part.len() + 16)?;
    Ok(Value::text(part))
}

fn char_at<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(text), Value::Int(index)] = args else { return Err(unfit("charAt", args)) };
    let text = text.as_str();
    budget.take(text.len() / AT_ONCE)?;
    let rest = text.get(place(text, *index)?..).unwrap_or_default();
    let end = rest.chars().next().map_or(0, char::len_utf8);
    part(budget, rest.get(..end).unwrap_or_default())
}

/// The place of a text in characters, from its place in bytes.
fn index<'v, 'a>(text: &str, found: Option<usize>) -> Computed<'v, 'a> {
    let before = found.and_then(|at| text.get(..at));
    match before {
        Some(before) => operators::int(i64::try_from(before.chars().count()).ok()),
        None => Ok(Value::Int(-1)),
    }
}

fn index_of<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Text(text), Value::Text(part), more @ ..] => {
            let text = text.as_str();
            budget.take(text.len() / AT_ONCE * 2)?;
            let from = match more {
                [] => 0,
                [Value::Int(from)] => place(text, *from)?,
                _ => return Err(unfit("indexOf", args)),
            };
            let rest = text.get(from..).unwrap_or_default();
            index(text, rest.find(part.as_str()).map(|at| at + from))
        }
        [list, value] => super::lists::index_of(budget, list, value, args),
        _ => Err(unfit("indexOf", args)),
    }
}

fn last_index_of<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Text(text), Value::Text(part), more @ ..] => {
            let text = text.as_str();
            budget.take(text.len() / AT_ONCE * 2)?;
            let reach = match more {
                [] => text.len(),
                // The last place at which it may begin.
                [Value::Int(last)] => {
                    let last = place(text, *last)? + part.as_str().len();
                    (last..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
                }
                _ => return Err(unfit("lastIndexOf", args)),
            };
            index(
                text,
                text.get(..reach.min(text.len())).and_then(|text| text.rfind(part.as_str())),
            )
        }
        [list, value] => super::lists::last_index_of(budget, list, value, args),
        _ => Err(unfit("lastIndexOf", args)),
    }
}

fn lower<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(text)] = args else { return Err(unfit("lowerAscii", args)) };
    budget.build(2 * text.as_str().len())?;
    Ok(Value::text(text.as_str().to_ascii_lowercase()))
}

fn upper<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(text)] = args else { return Err(unfit("upperAscii", args)) };
    budget.build(2 * text.as_str().len())?;
    Ok(Value::text(text.as_str().to_ascii_uppercase()))
}

fn replace<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(text), Value::Text(from), Value::Text(to), more @ ..] = args else {
        return Err(unfit("replace", args));
    };
    let limit = match more {
        [] => usize::MAX,
        [Value::Int(limit)] => usize::try_from(*limit).unwrap_or(usize::MAX),
        _ => return Err(unfit("replace", args)),
    };
    let (text, from, to) = (text.as_str(), from.as_str(), to.as_str());
    budget.take(text.len() / AT_ONCE)?;
    let count = text.matches(from).take(limit).count();
    let length = text.len().saturating_add(count.saturating_mul(to.len()));
    budget.build(length.saturating_mul(2))?;
    Ok(Value::text(text.replacen(from, to, limit)))
}

fn split<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(text), Value::Text(by), more @ ..] = args else {
        return Err(unfit("split", args));
    };
    let limit = match more {
        [] => usize::MAX,
        [Value::Int(limit)] => usize::try_from(*limit).unwrap_or(usize::MAX),
        _ => return Err(unfit("split", args)),
    };
    let (text, by) = (text.as_str(), by.as_str());
    budget.take(text.len() / AT_ONCE)?;
    let mut parts = Vec::new();
    let mut add = |part: &str| {
        budget.build(2 * size_of::<Value<'_, '_>>() + 16 + part.len())?;
        parts.push(Value::text(part));
        Ok(())
    };
    if by.is_empty() {
        // Between any two characters, but not around the text.
        let mut rest = text;
        for _ in 1..limit {
            let Some(first) = rest.chars().next().filter(|c| c.len_utf8() < rest.len()) else {
                break;
            };
            let (one, after) = rest.split_at(first.len_utf8());
            add(one)?;
            rest = after;
        }
        if limit > 0 && !text.is_empty() {
            add(rest)?;
        }
    } else {
        text.splitn(limit, by).try_for_each(add)?;
    }
    Ok(Value::list(parts))
}

fn substring<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let (text, from, to) = match args {
        [Value::Text(text), Value::Int(from)] => (text.as_str(), from, None),
        [Value::Text(text), Value::Int(from), Value::Int(to)] => (text.as_str(), from, Some(to)),
        _ => return Err(unfit("substring", args)),
    };
    budget.take(text.len() / AT_ONCE)?;
    let start = place(text, *from)?;
    let end = to.map_or(Ok(text.len()), |to| place(text, *to))?;
    let found = text.get(start..end);
    part(budget, found.ok_or_else(|| Reason::Invalid("the part ends before it begins".into()))?)
}

fn trim<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(text)] = args else { return Err(unfit("trim", args)) };
    part(budget, text.as_str().trim())
}

fn reverse<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Text(text)] => {
            budget.build(2 * text.as_str().len())?;
            Ok(Value::text(text.as_str().chars().rev().collect::<String>()))
        }
        [list] => super::lists::reverse(budget, list, args),
        _ => Err(unfit("reverse", args)),
    }
}

fn join<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let (list, between) = match args {
        [list] => (list, ""),
        [list, Value::Text(between)] => (list, between.as_str()),
        _ => return Err(unfit("join", args)),
    };
    let mut joined = String::new();
    for (at, item) in list.items().ok_or_else(|| unfit("join", args))?.enumerate() {
        let text = item.as_text().ok_or_else(|| unfit("join", std::slice::from_ref(&item)))?;
        budget.build(2 * (text.len() + between.len()) + 1)?;
        if at > 0 {
            joined.push_str(between);
        }
        joined.push_str(text);
    }
    Ok(Value::text(joined))
}

/// As it would stand in a source, in double quotes.
fn quote<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(text)] = args else { return Err(unfit("strings.quote", args)) };
    budget.build(4 * text.as_str().len() + 2)?;
    let mut quoted = String::from("\"");
    for c in text.as_str().chars() {
        match c {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    Ok(Value::text(quoted))
}
