//! Evaluates programs over borrowed JSON, within bounds.

use std::{borrow::Cow, cmp::Ordering};

use crate::{
    budget::Budget,
    cel,
    json::Json,
    program::{Expr, Filter, Operator, Program, Root, Slot, Step, StepKind},
};

/// Why an expression has no value, and where in its text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct EvalError {
    /// The byte of the source at which the failing part begins.
    pub at: usize,
    pub reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    #[error("there is no element {index} in a list of {length}")]
    OutOfBounds { index: i64, length: usize },
    #[error("the slice ends before it begins")]
    BackwardSlice,
    #[error("only a list can be indexed, and this is {0}")]
    NotAList(&'static str),
    #[error("{0} cannot be compared with {1}")]
    Incomparable(&'static str, &'static str),
    #[error("a comparison needs one value on each side")]
    ManyValues,
    #[error("the expression looks at too many values")]
    TooCostly,
    #[error("the expression builds too much")]
    TooLarge,
    #[error("there is no key {0}")]
    NoKey(Box<str>),
    #[error("{name} does not take {types}")]
    NoOverload { name: &'static str, types: Box<str> },
    #[error("there is no {0}")]
    Unknown(Box<str>),
    #[error("the number is out of range")]
    Overflow,
    #[error("division by zero")]
    DividedByZero,
    #[error("{0}")]
    Invalid(Box<str>),
    #[error("the value is computed, and stands nowhere in the object")]
    Computed,
}

impl Reason {
    /// Whether nothing can make up for it: an alternative would cost more.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::TooCostly | Self::TooLarge)
    }
}

impl Program {
    /// All values that a path leads to, in order.
    pub fn evaluate<'v, 'a>(
        &self,
        object: &'v Json<'a>,
        budget: &mut Budget,
    ) -> Result<Vec<&'v Json<'a>>, EvalError> {
        let scope = Scope { object, element: object };
        match &self.root {
            Root::Path(Expr::Walk { from, steps }) => walk(scope.slot(*from), steps, scope, budget),
            Root::Path(Expr::Text(_) | Expr::Number(_) | Expr::Bool(_)) => Ok(Vec::new()),
            Root::Cel(root) => Err(EvalError { at: root.at, reason: Reason::Computed }),
        }
    }

    /// The value as an attribute holds it: nothing is null, one value stands
    /// for itself, several are a list.
    pub fn value<'a>(&self, object: &Json<'a>, budget: &mut Budget) -> Result<Json<'a>, EvalError> {
        let scope = Scope { object, element: object };
        let (from, steps) = match &self.root {
            Root::Path(Expr::Walk { from, steps }) => (from, steps),
            Root::Path(_) => return Ok(Json::Null),
            Root::Cel(root) => return cel::json(root, object, budget),
        };
        let (value, rest) = walk_one(scope.slot(*from), steps, budget)?;
        let Some(value) = value else { return Ok(Json::Null) };
        if rest.is_empty() {
            return Ok(value.clone());
        }
        let found = walk_on(value, rest, scope, budget)?;
        Ok(match &found[..] {
            [] => Json::Null,
            [one] => (*one).clone(),
            several => {
                // One is no larger than the object, but a path can lead to the
                // same value a million times.
                for one in several {
                    budget.spend_on_copy(one)?;
                }
                Json::List(several.iter().map(|one| (*one).clone()).collect())
            }
        })
    }
}

/// What the slots hold.
#[derive(Clone, Copy)]
struct Scope<'v, 'a> {
    object: &'v Json<'a>,
    element: &'v Json<'a>,
}

impl<'v, 'a> Scope<'v, 'a> {
    fn slot(&self, slot: Slot) -> &'v Json<'a> {
        match slot {
            Slot::Object => self.object,
            Slot::Element => self.element,
        }
    }
}

fn walk<'v, 'a>(
    from: &'v Json<'a>,
    steps: &[Step],
    scope: Scope<'v, 'a>,
    budget: &mut Budget,
) -> Result<Vec<&'v Json<'a>>, EvalError> {
    match walk_one(from, steps, budget)? {
        (None, _) => Ok(Vec::new()),
        (Some(value), []) => Ok(vec![value]),
        (Some(value), rest) => walk_on(value, rest, scope, budget),
    }
}

/// Follows a path as far as each step leads to one value or none; most paths
/// are names to their end. What is left of it stands beside the value.
fn walk_one<'v, 'a, 's>(
    from: &'v Json<'a>,
    steps: &'s [Step],
    budget: &mut Budget,
) -> Result<(Option<&'v Json<'a>>, &'s [Step]), EvalError> {
    let mut value = from;
    let mut rest = steps;
    while let [step, after @ ..] = rest {
        let below = match &step.kind {
            StepKind::Field(name) => {
                budget.spend(step.at)?;
                value.get(name)
            }
            StepKind::Index(index) => {
                budget.spend(step.at)?;
                element(value, *index).map_err(|reason| EvalError { at: step.at, reason })?
            }
            _ => break,
        };
        rest = after;
        match below {
            Some(below) => value = below,
            None => return Ok((None, rest)),
        }
    }
    Ok((Some(value), rest))
}

/// Follows the rest of a path, at each step from all values that were found.
fn walk_on<'v, 'a>(
    from: &'v Json<'a>,
    steps: &[Step],
    scope: Scope<'v, 'a>,
    budget: &mut Budget,
) -> Result<Vec<&'v Json<'a>>, EvalError> {
    let Some((first, rest)) = steps.split_first() else { return Ok(vec![from]) };
    let mut values = Vec::new();
    take(from, first, scope, budget, &mut values)?;
    let mut next = Vec::new();
    for step in rest {
        if let StepKind::Field(name) = &step.kind {
            values.iter().try_for_each(|_| budget.spend(step.at))?;
            values.retain_mut(|value| match value.get(name) {
                Some(below) => {
                    *value = below;
                    true
                }
                None => false,
            });
            continue;
        }
        for value in values.drain(..) {
            take(value, step, scope, budget, &mut next)?;
        }
        std::mem::swap(&mut values, &mut next);
    }
    Ok(values)
}

/// Adds what one step leads to from one value.
fn take<'v, 'a>(
    value: &'v Json<'a>,
    step: &Step,
    scope: Scope<'v, 'a>,
    budget: &mut Budget,
    found: &mut Vec<&'v Json<'a>>,
) -> Result<(), EvalError> {
    budget.spend(step.at)?;
    let fail = |reason| EvalError { at: step.at, reason };
    match &step.kind {
        StepKind::Field(name) => found.extend(value.get(name)),
        StepKind::Index(index) => found.extend(element(value, *index).map_err(fail)?),
        StepKind::Slice { from, to, step } => {
            let Some(items) = list(value).map_err(fail)? else { return Ok(()) };
            for item in slice(items, (*from, *to, *step)).map_err(fail)? {
                budget.spend(0)?;
                found.push(item);
            }
        }
        StepKind::Every => every(value, budget, found)?,
        StepKind::Descend => descend(value, step.at, budget, found)?,
        StepKind::Union(steps) => {
            for step in steps {
                take(value, step, scope, budget, found)?;
            }
        }
        StepKind::Filter(filter) => {
            // Unlike the others, a filter does not pass over null; kubectl's does not.
            let missing = || fail(Reason::NotAList(value.kind()));
            for item in list(value).map_err(fail)?.ok_or_else(missing)? {
                if holds(filter, Scope { element: item, ..scope }, step.at, budget)? {
                    found.push(item);
                }
            }
        }
    }
    Ok(())
}

/// The elements of a list; nothing for null, which is as good as absent.
fn list<'v, 'a>(value: &'v Json<'a>) -> Result<Option<&'v [Json<'a>]>, Reason> {
    match value {
        Json::List(items) => Ok(Some(items)),
        Json::Null => Ok(None),
        other => Err(Reason::NotAList(other.kind())),
    }
}

/// An element of a list; nothing of null.
fn element<'v, 'a>(value: &'v Json<'a>, index: i64) -> Result<Option<&'v Json<'a>>, Reason> {
    let Some(items) = list(value)? else { return Ok(None) };
    let at = if index < 0 { index + length(items) } else { index };
    let item = usize::try_from(at).ok().and_then(|at| items.get(at));
    item.map(Some).ok_or(Reason::OutOfBounds { index, length: items.len() })
}

fn length(items: &[Json<'_>]) -> i64 {
    i64::try_from(items.len()).unwrap_or(i64::MAX)
}

type Bounds = (Option<i64>, Option<i64>, i64);

fn slice<'v, 'a>(
    items: &'v [Json<'a>],
    (from, to, step): Bounds,
) -> Result<impl Iterator<Item = &'v Json<'a>>, Reason> {
    let length = length(items);
    let settle = |bound: i64| if bound < 0 { bound + length } else { bound };
    let from = from.map_or(0, settle);
    let to = to.map_or(length, settle);
    let step = usize::try_from(step).unwrap_or(1).max(1);
    if from == to {
        return Ok([].iter().step_by(step));
    }
    let out_of_bounds = |index| Reason::OutOfBounds { index, length: items.len() };
    if from < 0 || from >= length {
        return Err(out_of_bounds(from));
    }
    if to < 0 || to > length {
        return Err(out_of_bounds(to - 1));
    }
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let part = range.and_then(|(from, to)| items.get(from..to)).ok_or(Reason::BackwardSlice)?;
    Ok(part.iter().step_by(step))
}

/// The values of a map in the order of its keys, or the elements of a list.
fn every<'v, 'a>(
    value: &'v Json<'a>,
    budget: &mut Budget,
    found: &mut Vec<&'v Json<'a>>,
) -> Result<(), EvalError> {
    match value {
        Json::Map(fields) => {
            for (_, value) in fields {
                budget.spend(0)?;
                found.push(value);
            }
        }
        Json::List(items) => {
            for item in items {
                budget.spend(0)?;
                found.push(item);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
    }
    Ok(())
}

/// The value itself, if it holds others, and everything of that kind below it.
fn descend<'v, 'a>(
    value: &'v Json<'a>,
    at: usize,
    budget: &mut Budget,
    found: &mut Vec<&'v Json<'a>>,
) -> Result<(), EvalError> {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        budget.spend(at)?;
        match value {
            Json::Map(fields) => waiting.extend(fields.iter().rev().map(|(_, value)| value)),
            Json::List(items) => waiting.extend(items.iter().rev()),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => continue,
        }
        found.push(value);
    }
    Ok(())
}

/// Whether an element passes a filter. One that lacks the left side does not.
fn holds(
    filter: &Filter,
    scope: Scope<'_, '_>,
    at: usize,
    budget: &mut Budget,
) -> Result<bool, EvalError> {
    let left = operand(&filter.left, scope, budget)?;
    let Some((operator, right)) = &filter.test else {
        return Ok(matches!(left, Operand::One(_) | Operand::Many));
    };
    let right = operand(right, scope, budget)?;
    match (left, right) {
        (Operand::None, _) | (_, Operand::None) => Ok(false),
        (Operand::Many, _) | (_, Operand::Many) => {
            Err(EvalError { at, reason: Reason::ManyValues })
        }
        (Operand::One(left), Operand::One(right)) => {
            if let (Json::Text(left), Json::Text(right)) = (&*left, &*right) {
                /// So many bytes are compared in the time of one step.
                const AT_ONCE: usize = 64;
                budget.spend_many(at, left.len().min(right.len()) / AT_ONCE)?;
            }
            compare(&left, *operator, &right).map_err(|reason| EvalError { at, reason })
        }
    }
}

enum Operand<'v, 'a> {
    None,
    One(Cow<'v, Json<'a>>),
    Many,
}

fn operand<'v, 'a>(
    expr: &Expr,
    scope: Scope<'v, 'a>,
    budget: &mut Budget,
) -> Result<Operand<'v, 'a>, EvalError> {
    let literal = |value| Operand::One(Cow::Owned(value));
    Ok(match expr {
        Expr::Walk { from, steps } => match &walk(scope.slot(*from), steps, scope, budget)?[..] {
            [] => Operand::None,
            [one] => Operand::One(Cow::Borrowed(one)),
            _ => Operand::Many,
        },
        Expr::Text(text) => literal(Json::Text(text.to_string().into())),
        Expr::Number(number) => literal(Json::Number(*number)),
        Expr::Bool(bool) => literal(Json::Bool(*bool)),
    })
}

/// Compares two values of one kind; only numbers and texts have an order.
fn compare(left: &Json<'_>, operator: Operator, right: &Json<'_>) -> Result<bool, Reason> {
    let incomparable = || Reason::Incomparable(left.kind(), right.kind());
    let ordering = match (left, right) {
        (Json::Number(left), Json::Number(right)) => {
            left.as_f64().partial_cmp(&right.as_f64()).ok_or_else(incomparable)?
        }
        (Json::Text(left), Json::Text(right)) => left.cmp(right),
        (Json::Bool(left), Json::Bool(right)) => match operator {
            Operator::Equal | Operator::NotEqual => left.cmp(right),
            _ => return Err(incomparable()),
        },
        _ => return Err(incomparable()),
    };
    Ok(match operator {
        Operator::Equal => ordering == Ordering::Equal,
        Operator::NotEqual => ordering != Ordering::Equal,
        Operator::Less => ordering == Ordering::Less,
        Operator::LessOrEqual => ordering != Ordering::Greater,
        Operator::Greater => ordering == Ordering::Greater,
        Operator::GreaterOrEqual => ordering != Ordering::Less,
    })
}
