//! What can be done with lists.

use std::{cmp::Ordering, sync::Arc};

use super::{
    compare,
    functions::{Function, global, method, unfit},
    operators,
    value::Value,
};
use crate::{budget::Budget, eval::Reason};

type Computed<'v, 'a> = Result<Value<'v, 'a>, Reason>;

pub(crate) const FUNCTIONS: &[Function] = &[
    global("lists.range", "int -> list(int)", range),
    method("slice", "list(A), int, int -> list(A)", slice),
    method("flatten", "list(dyn) -> list(dyn)", flatten),
    method("flatten", "list(dyn), int -> list(dyn)", flatten),
    method("distinct", "list(A) -> list(A)", distinct),
    method("sort", "list(A) -> list(A)", sort),
    method("first", "list(A) -> optional(A)", first),
    method("last", "list(A) -> optional(A)", last),
    method("sum", "list(A) -> A", sum),
    method("min", "list(A) -> A", min),
    method("max", "list(A) -> A", max),
    method("isSorted", "list(A) -> bool", is_sorted),
];

const EACH: usize = size_of::<Value<'_, '_>>();

/// The elements of the first argument.
fn all<'v, 'a>(
    budget: &mut Budget,
    args: &[Value<'v, 'a>],
    name: &'static str,
) -> Result<Vec<Value<'v, 'a>>, Reason> {
    let list = args.first().filter(|list| list.items().is_some());
    let list = list.ok_or_else(|| unfit(name, args))?;
    budget.build(list.length().unwrap_or_default() * EACH)?;
    Ok(list.items().map(Iterator::collect).unwrap_or_default())
}

fn range<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Int(count)] = args else { return Err(unfit("lists.range", args)) };
    let count = usize::try_from(*count).unwrap_or_default();
    budget.build(count.saturating_mul(EACH))?;
    let count = i64::try_from(count).map_err(|_| Reason::TooLarge)?;
    Ok(Value::list((0..count).map(Value::Int).collect()))
}

fn slice<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [list, Value::Int(from), Value::Int(to)] = args else { return Err(unfit("slice", args)) };
    let items = list.items().ok_or_else(|| unfit("slice", args))?;
    let length = list.length().unwrap_or_default();
    let bounds = usize::try_from(*from).ok().zip(usize::try_from(*to).ok());
    let bad = || Reason::Invalid(format!("the list has no part from {from} to {to}").into());
    let (from, to) = bounds.filter(|(from, to)| from <= to && *to <= length).ok_or_else(bad)?;
    budget.build((to - from) * EACH)?;
    Ok(Value::list(items.skip(from).take(to - from).collect()))
}

fn flatten<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let depth = match args {
        [_] => 1,
        [_, Value::Int(depth)] if *depth < 0 => {
            return Err(Reason::Invalid("the depth is negative".into()));
        }
        [_, Value::Int(depth)] => *depth,
        _ => return Err(unfit("flatten", args)),
    };
    let list = args.first().filter(|list| list.items().is_some());
    let mut flat = Vec::new();
    unfold(budget, list.ok_or_else(|| unfit("flatten", args))?, depth, &mut flat)?;
    Ok(Value::list(flat))
}

fn unfold<'v, 'a>(
    budget: &mut Budget,
    list: &Value<'v, 'a>,
    depth: i64,
    flat: &mut Vec<Value<'v, 'a>>,
) -> Result<(), Reason> {
    for item in list.items().into_iter().flatten() {
        if depth > 0 && item.items().is_some() {
            budget.take(1)?;
            unfold(budget, &item, depth - 1, flat)?;
        } else {
            budget.build(2 * EACH)?;
            flat.push(item);
        }
    }
    Ok(())
}

fn distinct<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let mut kept: Vec<Value<'v, 'a>> = Vec::new();
    'items: for item in all(budget, args, "distinct")? {
        for earlier in &kept {
            if compare::equal(budget, earlier, &item)? {
                continue 'items;
            }
        }
        budget.build(2 * EACH)?;
        kept.push(item);
    }
    Ok(Value::list(kept))
}

fn sort<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let items = all(budget, args, "sort")?;
    let keyed = items.into_iter().map(|item| (item.clone(), item)).collect();
    sorted(budget, keyed)
}

/// The values in the order of their keys; those with equal keys stay as they
/// were.
pub(crate) fn sorted<'v, 'a>(
    budget: &mut Budget,
    mut keyed: Vec<(Value<'v, 'a>, Value<'v, 'a>)>,
) -> Computed<'v, 'a> {
    let mixed = keyed.windows(2).find_map(|pair| match pair {
        [(one, _), (other, _)] if one.type_name() != other.type_name() => {
            Some(format!("{} cannot be sorted with {}", one.type_name(), other.type_name()))
        }
        [(one, _), (other, _)] if !compare::can_be_ordered(one, other) => {
            Some(format!("{} has no order", one.type_name()))
        }
        _ => None,
    });
    if let Some(text) = mixed {
        return Err(Reason::Invalid(text.into()));
    }
    // Texts may share long beginnings; every comparison reads them.
    let longest = keyed.iter().map(|(key, _)| key.as_text().map_or(0, str::len)).max();
    let comparisons = keyed.len() * (usize::BITS - keyed.len().leading_zeros()) as usize;
    budget.take(comparisons.saturating_mul(8 + longest.unwrap_or_default() / 8))?;
    budget.build(2 * keyed.len() * EACH)?;
    keyed.sort_by(|(one, _), (other, _)| compare::order(one, other).unwrap_or(Ordering::Equal));
    Ok(Value::list(keyed.into_iter().map(|(_, value)| value).collect()))
}

fn first<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [list] if list.items().is_some() => Ok(list.item(0).map_or(Value::NONE, Value::some)),
        _ => Err(unfit("first", args)),
    }
}

fn last<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [list] if list.items().is_some() => {
            let at = list.length().unwrap_or_default().checked_sub(1);
            Ok(at.and_then(|at| list.item(at)).map_or(Value::NONE, Value::some))
        }
        _ => Err(unfit("last", args)),
    }
}

pub(crate) fn reverse<'v, 'a>(
    budget: &mut Budget,
    list: &Value<'v, 'a>,
    args: &[Value<'v, 'a>],
) -> Computed<'v, 'a> {
    if list.items().is_none() {
        return Err(unfit("reverse", args));
    }
    let mut items = all(budget, std::slice::from_ref(list), "reverse")?;
    items.reverse();
    Ok(Value::List(Arc::new(items)))
}

pub(crate) fn index_of<'v, 'a>(
    budget: &mut Budget,
    list: &Value<'v, 'a>,
    value: &Value<'v, 'a>,
    args: &[Value<'v, 'a>],
) -> Computed<'v, 'a> {
    for (at, item) in list.items().ok_or_else(|| unfit("indexOf", args))?.enumerate() {
        if compare::equal(budget, &item, value)? {
            return operators::int(i64::try_from(at).ok());
        }
    }
    Ok(Value::Int(-1))
}

pub(crate) fn last_index_of<'v, 'a>(
    budget: &mut Budget,
    list: &Value<'v, 'a>,
    value: &Value<'v, 'a>,
    args: &[Value<'v, 'a>],
) -> Computed<'v, 'a> {
    let mut found = -1;
    for (at, item) in list.items().ok_or_else(|| unfit("lastIndexOf", args))?.enumerate() {
        if compare::equal(budget, &item, value)? {
            found = i64::try_from(at).map_err(|_| Reason::Overflow)?;
        }
    }
    Ok(Value::Int(found))
}

/// The sum; of nothing it is the integer 0.
fn sum<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let items = args.first().and_then(Value::items).ok_or_else(|| unfit("sum", args))?;
    let mut total: Option<Value<'v, 'a>> = None;
    for item in items {
        budget.take(4)?;
        let before = total.take();
        total = Some(match (before, item) {
            (
                None,
                item @ (Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Duration(_)),
            ) => item,
            (Some(Value::Int(one)), Value::Int(other)) => operators::int(one.checked_add(other))?,
            (Some(Value::Uint(one)), Value::Uint(other)) => {
                operators::uint(one.checked_add(other))?
            }
            (Some(Value::Double(one)), Value::Double(other)) => Value::Double(one + other),
            (Some(Value::Duration(one)), Value::Duration(other)) => {
                Value::Duration(one.checked_add(other).ok_or(Reason::Overflow)?)
            }
            (_, item) => return Err(unfit("sum", &[item])),
        });
    }
    Ok(total.unwrap_or(Value::Int(0)))
}

fn min<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    extreme(budget, args, "min", Ordering::Less)
}

fn max<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    extreme(budget, args, "max", Ordering::Greater)
}

fn extreme<'v, 'a>(
    budget: &mut Budget,
    args: &[Value<'v, 'a>],
    name: &'static str,
    wanted: Ordering,
) -> Computed<'v, 'a> {
    let items = args.first().and_then(Value::items).ok_or_else(|| unfit(name, args))?;
    let mut found: Option<Value<'v, 'a>> = None;
    for item in items {
        budget.take(4 + item.as_text().map_or(0, str::len) / 16)?;
        found = Some(match found {
            None => item,
            Some(best) if !compare::can_be_ordered(&best, &item) => {
                return Err(unfit(name, &[best, item]));
            }
            Some(best) if compare::order(&item, &best) == Some(wanted) => item,
            Some(best) => best,
        });
    }
    found.ok_or_else(|| Reason::Invalid(format!("{name} of an empty list").into()))
}

fn is_sorted<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let items = args.first().and_then(Value::items).ok_or_else(|| unfit("isSorted", args))?;
    let mut before: Option<Value<'v, 'a>> = None;
    let mut sorted = true;
    for item in items {
        budget.take(4 + item.as_text().map_or(0, str::len) / 16)?;
        if let Some(before) = before {
            if !compare::can_be_ordered(&before, &item) {
                return Err(unfit("isSorted", &[before, item]));
            }
            sorted &= compare::order(&before, &item) != Some(Ordering::Greater);
        }
        before = Some(item);
    }
    Ok(Value::Bool(sorted))
}
