//! What an expression computes with.
//!
//! Lists and maps of the object are borrowed and never copied; what an
//! expression builds is shared. A program's constants live as long as the
//! program, so everything can be handed out without a copy of its text.

use std::{borrow::Cow, cmp::Ordering, sync::Arc};

use super::{instant::Instant, kubernetes::Special};
use crate::{
    eval::Reason,
    json::{Json, Number},
};

/// A value; `'v` is how long the program and the object are borrowed, `'a` how
/// long the bytes that the object was read from.
#[derive(Clone, Debug)]
pub enum Value<'v, 'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Text<'v, 'a>),
    Bytes(Arc<[u8]>),
    /// In nanoseconds.
    Duration(i64),
    Timestamp(Instant),
    /// A list or a map of the object; what [`Value::of`] makes of others is
    /// another variant.
    Json(&'v Json<'a>),
    List(Arc<Vec<Value<'v, 'a>>>),
    Map(Arc<Map<'v, 'a>>),
    /// A type, by its name.
    Type(&'static str),
    Optional(Option<Arc<Value<'v, 'a>>>),
    /// What only Kubernetes has.
    Special(Arc<Special>),
}

/// A text: of the object, of the program, or built.
#[derive(Clone, Debug)]
pub enum Text<'v, 'a> {
    Object(&'v Cow<'a, str>),
    Part(&'v str),
    Built(Arc<str>),
}

/// A map that an expression built, in the order of its keys.
#[derive(Clone, Debug, Default)]
pub struct Map<'v, 'a> {
    entries: Vec<(Key<'v, 'a>, Value<'v, 'a>)>,
}

/// A key of a map.
#[derive(Clone, Debug)]
pub enum Key<'v, 'a> {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Text(Text<'v, 'a>),
}

impl<'v, 'a> Value<'v, 'a> {
    /// What a part of the object is; numbers without a fraction are integers.
    #[inline]
    pub fn of(json: &'v Json<'a>) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(bool) => Self::Bool(*bool),
            Json::Number(Number::Int(int)) => Self::Int(*int),
            Json::Number(Number::Uint(uint)) => Self::Uint(*uint),
            Json::Number(Number::Float(float)) => Self::Double(*float),
            Json::Text(text) => Self::Text(Text::Object(text)),
            Json::List(_) | Json::Map(_) => Self::Json(json),
        }
    }

    /// A text that was built.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(Text::Built(text.into()))
    }

    /// A list that was built.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(Arc::new(items))
    }

    /// The name of its type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::Text(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Json(Json::List(_)) | Self::List(_) => "list",
            Self::Json(_) | Self::Map(_) => "map",
            Self::Type(_) => "type",
            Self::Optional(_) => "optional_type",
            Self::Special(special) => special.type_name(),
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_str()),
            _ => None,
        }
    }

    pub(crate) fn some(value: Self) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    pub(crate) const NONE: Self = Self::Optional(None);

    /// How many elements or entries there are, if it has any.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            Self::Json(Json::List(items)) => Some(items.len()),
            Self::Json(Json::Map(fields)) => Some(fields.len()),
            Self::List(items) => Some(items.len()),
            Self::Map(map) => Some(map.entries.len()),
            _ => None,
        }
    }

    /// The elements, if it is a list.
    pub(crate) fn items(&self) -> Option<Items<'_, 'v, 'a>> {
        match self {
            Self::Json(Json::List(items)) => Some(Items::Json(items.iter())),
            Self::List(items) => Some(Items::Built(items.iter())),
            _ => None,
        }
    }

    /// An element of a list.
    pub(crate) fn item(&self, at: usize) -> Option<Self> {
        match self {
            Self::Json(Json::List(items)) => items.get(at).map(Self::of),
            Self::List(items) => items.get(at).cloned(),
            _ => None,
        }
    }

    /// The value of a name, if it is a map that has it.
    pub(crate) fn field(&self, name: &str) -> Option<Self> {
        match self {
            Self::Json(json) => json.get(name).map(Self::of),
            Self::Map(map) => map.get(&Key::Text(Text::Part(name))).cloned(),
            _ => None,
        }
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self, Self::Json(Json::Map(_)) | Self::Map(_))
    }

    /// The entries, if it is a map.
    pub(crate) fn entries(&self) -> Option<Entries<'_, 'v, 'a>> {
        match self {
            Self::Json(Json::Map(fields)) => Some(Entries::Json(fields.iter())),
            Self::Map(map) => Some(Entries::Built(map.entries.iter())),
            _ => None,
        }
    }
}

impl Text<'_, '_> {
    #[inline]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Object(text) => text,
            Self::Part(text) => text,
            Self::Built(text) => text,
        }
    }
}

impl<'v, 'a> Map<'v, 'a> {
    /// A map of these entries; two equal keys are an error.
    pub fn new(mut entries: Vec<(Key<'v, 'a>, Value<'v, 'a>)>) -> Result<Self, Reason> {
        entries.sort_by(|(one, _), (other, _)| one.order(other));
        let twice = entries.windows(2).find_map(|pair| match pair {
            [(one, _), (other, _)] if one.order(other) == Ordering::Equal => Some(one.spelled()),
            _ => None,
        });
        match twice {
            Some(key) => Err(Reason::Invalid(format!("the key {key} is there twice").into())),
            None => Ok(Self { entries }),
        }
    }

    pub fn entries(&self) -> &[(Key<'v, 'a>, Value<'v, 'a>)] {
        &self.entries
    }

    pub(crate) fn get(&self, key: &Key<'_, '_>) -> Option<&Value<'v, 'a>> {
        let at = self.entries.binary_search_by(|(one, _)| one.order(key)).ok()?;
        self.entries.get(at).map(|(_, value)| value)
    }
}

impl<'v, 'a> Key<'v, 'a> {
    /// The key that a value is; a number counts by what it is worth.
    pub(crate) fn lookup(value: &Value<'v, 'a>) -> Option<Self> {
        match value {
            Value::Bool(bool) => Some(Self::Bool(*bool)),
            Value::Int(int) => Some(Self::Int(*int)),
            Value::Uint(uint) => Some(Self::Uint(*uint)),
            Value::Double(double) => whole(*double),
            Value::Text(text) => Some(Self::Text(text.clone())),
            _ => None,
        }
    }

    /// The key of a new entry.
    pub(crate) fn of(value: Value<'v, 'a>) -> Result<Self, Reason> {
        match value {
            Value::Bool(bool) => Ok(Self::Bool(bool)),
            Value::Int(int) => Ok(Self::Int(int)),
            Value::Uint(uint) => Ok(Self::Uint(uint)),
            Value::Text(text) => Ok(Self::Text(text)),
            other => {
                let text = format!("a key of a map cannot be of type {}", other.type_name());
                Err(Reason::Invalid(text.into()))
            }
        }
    }

    pub(crate) fn value(&self) -> Value<'v, 'a> {
        match self {
            Self::Bool(bool) => Value::Bool(*bool),
            Self::Int(int) => Value::Int(*int),
            Self::Uint(uint) => Value::Uint(*uint),
            Self::Text(text) => Value::Text(text.clone()),
        }
    }

    /// As it stands in JSON.
    pub(crate) fn spelled(&self) -> String {
        match self {
            Self::Bool(bool) => bool.to_string(),
            Self::Int(int) => int.to_string(),
            Self::Uint(uint) => uint.to_string(),
            Self::Text(text) => text.as_str().to_owned(),
        }
    }

    fn order(&self, other: &Key<'_, '_>) -> Ordering {
        match (self, other) {
            (Self::Text(one), Key::Text(other)) => one.as_str().cmp(other.as_str()),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    /// Booleans first, then numbers, then texts.
    fn rank(&self) -> (u8, i128) {
        match self {
            Self::Bool(bool) => (0, i128::from(*bool)),
            Self::Int(int) => (1, i128::from(*int)),
            Self::Uint(uint) => (1, i128::from(*uint)),
            Self::Text(_) => (2, 0),
        }
    }
}

/// The integer that a float is exactly.
#[expect(clippy::cast_possible_truncation, reason = "the bounds are looked at before")]
#[expect(clippy::cast_sign_loss, reason = "the bounds are looked at before")]
fn whole(double: f64) -> Option<Key<'static, 'static>> {
    const INT: f64 = 9_223_372_036_854_775_808.0;
    const UINT: f64 = 18_446_744_073_709_551_616.0;
    match double {
        _ if double.fract() != 0.0 => None,
        _ if (-INT..INT).contains(&double) => Some(Key::Int(double as i64)),
        _ if (INT..UINT).contains(&double) => Some(Key::Uint(double as u64)),
        _ => None,
    }
}

/// The elements of a list.
pub(crate) enum Items<'i, 'v, 'a> {
    Json(std::slice::Iter<'v, Json<'a>>),
    Built(std::slice::Iter<'i, Value<'v, 'a>>),
}

impl<'v, 'a> Iterator for Items<'_, 'v, 'a> {
    type Item = Value<'v, 'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'v, 'a>> {
        match self {
            Self::Json(items) => items.next().map(Value::of),
            Self::Built(items) => items.next().cloned(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Json(items) => items.size_hint(),
            Self::Built(items) => items.size_hint(),
        }
    }
}

/// The entries of a map, in the order of its keys.
pub(crate) enum Entries<'i, 'v, 'a> {
    Json(std::slice::Iter<'v, (Cow<'a, str>, Json<'a>)>),
    Built(std::slice::Iter<'i, (Key<'v, 'a>, Value<'v, 'a>)>),
}

impl<'v, 'a> Iterator for Entries<'_, 'v, 'a> {
    type Item = (Key<'v, 'a>, Value<'v, 'a>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Json(fields) => {
                let (name, value) = fields.next()?;
                Some((Key::Text(Text::Object(name)), Value::of(value)))
            }
            Self::Built(entries) => entries.next().cloned(),
        }
    }
}
