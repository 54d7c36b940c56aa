//! What can be known of a value's type before there is a value.
//!
//! The object is dynamic, so most is not known. What is known catches mistakes
//! such as `1 + 'a'` at admission instead of on every object.

use std::fmt;

/// A type; what is dynamic fits everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Dynamic,
    /// One that is the same at all places of a signature.
    Parameter(char),
    List(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Optional(Box<Type>),
    /// Any other, by its name.
    Named(&'static str),
}

impl Type {
    pub(crate) const BOOL: Self = Self::Named("bool");
    pub(crate) const INT: Self = Self::Named("int");
    pub(crate) const NULL: Self = Self::Named("null_type");

    pub(crate) fn list(of: Self) -> Self {
        Self::List(Box::new(of))
    }

    pub(crate) fn optional(of: Self) -> Self {
        Self::Optional(Box::new(of))
    }

    /// The type that covers both.
    pub(crate) fn join(self, other: Self) -> Self {
        if self == other { self } else { Self::Dynamic }
    }

    /// Whether values of both types can stand at one place; null can anywhere.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        *self == Self::NULL || *other == Self::NULL || self.fits(other, &mut Bound::default())
    }

    /// Whether a value of the given type can stand where this one is asked for.
    pub(crate) fn fits(&self, given: &Self, bound: &mut Bound) -> bool {
        match (self, given) {
            (Self::Dynamic, _) | (_, Self::Dynamic) => true,
            (Self::Parameter(name), _) => match bound.get(*name).cloned() {
                Some(Self::Dynamic) => true,
                Some(earlier) if *given == Self::NULL || earlier == Self::NULL => true,
                Some(earlier) => earlier.fits(given, bound),
                None => {
                    bound.0.push((*name, given.clone()));
                    true
                }
            },
            (Self::List(wanted), Self::List(given))
            | (Self::Optional(wanted), Self::Optional(given)) => wanted.fits(given, bound),
            (Self::Map(key, value), Self::Map(given_key, given_value)) => {
                key.fits(given_key, bound) && value.fits(given_value, bound)
            }
            _ => self == given,
        }
    }

    /// The same with its parameters filled in.
    fn filled(&self, bound: &Bound) -> Self {
        match self {
            Self::Parameter(name) => bound.get(*name).cloned().unwrap_or(Self::Dynamic),
            Self::List(of) => Self::list(of.filled(bound)),
            Self::Optional(of) => Self::optional(of.filled(bound)),
            Self::Map(key, value) => {
                Self::Map(Box::new(key.filled(bound)), Box::new(value.filled(bound)))
            }
            Self::Dynamic | Self::Named(_) => self.clone(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dynamic => f.write_str("dyn"),
            Self::Parameter(name) => write!(f, "{name}"),
            Self::List(of) => write!(f, "list({of})"),
            Self::Map(key, value) => write!(f, "map({key}, {value})"),
            Self::Optional(of) => write!(f, "optional({of})"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// What the parameters of a signature stand for.
#[derive(Default)]
pub(crate) struct Bound(Vec<(char, Type)>);

impl Bound {
    fn get(&self, name: char) -> Option<&Type> {
        self.0.iter().find(|(one, _)| *one == name).map(|(_, bound)| bound)
    }
}

/// What a function takes and gives.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    parameters: Vec<Type>,
    result: Type,
    /// The last parameter may be there any number of times, but once at least.
    pub(crate) repeats: bool,
}

impl Signature {
    /// Reads `string, list(A) -> A`; dots at the end of the parameters say
    /// that the last one repeats.
    pub(crate) fn read(text: &'static str) -> Self {
        let (parameters, result) = text.split_once("->").unwrap_or((text, "dyn"));
        let parameters = parameters.trim();
        let repeats = parameters.ends_with("...");
        let mut rest = parameters.trim_end_matches("...");
        let mut found = Vec::new();
        while !rest.is_empty() {
            found.push(read_type(&mut rest));
            rest = rest.trim_start_matches([',', ' ']);
        }
        Self { parameters: found, result: read_type(&mut result.trim()), repeats }
    }

    /// How many values it takes at least.
    pub(crate) fn arity(&self) -> usize {
        self.parameters.len()
    }

    pub(crate) fn takes(&self, count: usize) -> bool {
        count == self.arity() || self.repeats && count >= self.arity()
    }

    /// What it gives for values of these types, if it takes them.
    pub(crate) fn apply(&self, given: &[Type]) -> Option<Type> {
        let mut bound = Bound::default();
        let last = self.parameters.last();
        let wanted = self.parameters.iter().chain(last.into_iter().cycle());
        let fits = self.takes(given.len())
            && given.iter().zip(wanted).all(|(given, wanted)| wanted.fits(given, &mut bound));
        fits.then(|| self.result.filled(&bound))
    }
}

fn read_type(rest: &mut &'static str) -> Type {
    let end = rest.find([',', '(', ')', ' ']).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    *rest = after;
    let mut inner = Vec::new();
    if let Some(after) = rest.strip_prefix('(') {
        *rest = after;
        while !rest.is_empty() && !rest.starts_with(')') {
            inner.push(read_type(rest));
            *rest = rest.trim_start_matches([',', ' ']);
        }
        *rest = rest.strip_prefix(')').unwrap_or(rest);
    }
    let mut inner = inner.into_iter();
    let mut of = || Box::new(inner.next().unwrap_or(Type::Dynamic));
    match name {
        "dyn" => Type::Dynamic,
        "list" => Type::List(of()),
        "optional" => Type::Optional(of()),
        "map" => Type::Map(of(), of()),
        "duration" => Type::Named("google.protobuf.Duration"),
        "timestamp" => Type::Named("google.protobuf.Timestamp"),
        _ => match (name.len(), name.chars().next()) {
            (1, Some(parameter)) => Type::Parameter(parameter),
            _ => Type::Named(name),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(signature: &'static str, given: &[&'static str], expected: Option<&str>) {
        let given: Vec<_> = given.iter().map(|text| read_type(&mut { *text })).collect();
        let found = Signature::read(signature).apply(&given).map(|result| result.to_string());
        assert_eq!(found.as_deref(), expected, "{signature}");
    }

    #[test]
    fn a_signature_says_what_comes_of_what() {
        check("string, string -> bool", &["string", "string"], Some("bool"));
        check("string, string -> bool", &["string", "int"], None);
        check("string, string -> bool", &["string", "dyn"], Some("bool"));
        check("string, string -> bool", &["string"], None);
        check("list(A), list(A) -> list(A)", &["list(int)", "list(int)"], Some("list(int)"));
        check("list(A), list(A) -> list(A)", &["list(int)", "list(string)"], None);
        check("A, A -> bool", &["int", "null_type"], Some("bool"));
        check("map(A, B) -> list(A)", &["map(string, int)"], Some("list(string)"));
        check("int... -> int", &["int", "int", "int"], Some("int"));
        check("int... -> int", &[], None);
        check(" -> optional(dyn)", &[], Some("optional(dyn)"));
    }
}
