//! Every function by its name.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    convert, encoders, format, kubernetes, lists, math, operators, optionals, patterns, sets,
    strings, time,
    types::{Signature, Type},
    value::Value,
};
use crate::{budget::Budget, eval::Reason};

/// Computes a value from others.
pub(crate) type Run =
    for<'v, 'a> fn(&mut Budget, &[Value<'v, 'a>]) -> Result<Value<'v, 'a>, Reason>;

/// One way to call a function. Ways that differ in their types only share
/// what they run, which looks at the values it gets.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) style: Style,
    pub(crate) signature: &'static str,
    pub(crate) run: Run,
}

/// How a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Style {
    /// `f(a, b)`, `space.f(a, b)`.
    Global,
    /// `a.f(b)`.
    Method,
}

pub(crate) const fn global(name: &'static str, signature: &'static str, run: Run) -> Function {
    Function { name, style: Style::Global, signature, run }
}

pub(crate) const fn method(name: &'static str, signature: &'static str, run: Run) -> Function {
    Function { name, style: Style::Method, signature, run }
}

/// One way to call a function, with its signature read.
pub(crate) struct Overload {
    signature: Signature,
    pub(crate) run: Run,
}

static TABLE: LazyLock<HashMap<(&'static str, Style), Vec<Overload>>> = LazyLock::new(|| {
    let mut table: HashMap<_, Vec<_>> = HashMap::new();
    for functions in LIBRARIES {
        for Function { name, style, signature, run } in *functions {
            let overload = Overload { signature: Signature::read(signature), run: *run };
            table.entry((*name, *style)).or_default().push(overload);
        }
    }
    table
});

const LIBRARIES: &[&[Function]] = &[
    operators::FUNCTIONS,
    convert::FUNCTIONS,
    strings::FUNCTIONS,
    format::FUNCTIONS,
    lists::FUNCTIONS,
    sets::FUNCTIONS,
    math::FUNCTIONS,
    encoders::FUNCTIONS,
    time::FUNCTIONS,
    optionals::FUNCTIONS,
    patterns::FUNCTIONS,
    kubernetes::FUNCTIONS,
    kubernetes::NETWORK,
];

/// Why a call leads to no function.
pub(crate) enum Missing {
    Name,
    Count,
    Types,
}

/// Whether there is a function of the name.
pub(crate) fn is_known(name: &str, style: Style) -> bool {
    TABLE.contains_key(&(name, style))
}

/// What a call runs, if there is a function that takes so many values.
pub(crate) fn find(name: &str, style: Style, count: usize) -> Result<Run, Missing> {
    let overloads = TABLE.get(&(name, style)).ok_or(Missing::Name)?;
    let found = overloads.iter().find(|overload| overload.signature.takes(count));
    found.map(|overload| overload.run).ok_or(Missing::Count)
}

/// What type a call gives; if several ways are possible and they differ, it is
/// not known.
pub(crate) fn result(name: &str, style: Style, given: &[Type]) -> Result<Type, Missing> {
    let overloads = TABLE.get(&(name, style)).ok_or(Missing::Name)?;
    let mut possible = overloads.iter().filter_map(|overload| overload.signature.apply(given));
    let first = possible.next().ok_or(Missing::Types)?;
    Ok(possible.fold(first, Type::join))
}

/// No function of the name takes such values.
pub(crate) fn unfit(name: &'static str, values: &[Value<'_, '_>]) -> Reason {
    let types: Vec<_> = values.iter().map(Value::type_name).collect();
    Reason::NoOverload { name, types: types.join(", ").into() }
}
