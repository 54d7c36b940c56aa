//! JSON that borrows from the bytes it was read from.

use std::borrow::Cow;

use serde_json::Value;

/// Among so few names one is found sooner by looking at each, since most differ
/// in their length, than by a search in order.
pub(crate) const FEW: usize = 8;

/// A value; texts are borrowed unless they were escaped.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    /// In ascending order of the keys, each once.
    Map(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// A number; integers stay exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int(i64),
    /// Above what fits into `Int`.
    Uint(u64),
    Float(f64),
}

impl Number {
    /// The nearest float.
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Uint(uint) => uint as f64,
            Self::Float(float) => float,
        }
    }
}

impl<'a> Json<'a> {
    /// The value of a key, if this is a map that has it.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(fields) = self else { return None };
        let at = if fields.len() <= FEW {
            fields.iter().position(|(name, _)| name == key)?
        } else {
            fields.binary_search_by(|(name, _)| name.as_ref().cmp(key)).ok()?
        };
        fields.get(at).map(|(_, value)| value)
    }

    /// A map of these fields; of several with one key the last counts.
    pub fn map(mut fields: Vec<(Cow<'a, str>, Self)>) -> Self {
        if fields.is_sorted_by(|(one, _), (other, _)| one < other) {
            return Self::Map(fields);
        }
        fields.sort_by(|(one, _), (other, _)| one.cmp(other));
        if fields.is_sorted_by(|(one, _), (other, _)| one < other) {
            return Self::Map(fields);
        }
        fields.reverse();
        fields.dedup_by(|(later, _), (kept, _)| later == kept);
        fields.reverse();
        Self::Map(fields)
    }

    /// The same value with nothing borrowed.
    pub fn into_owned(self) -> Json<'static> {
        let owned = |text: Cow<'a, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Null => Json::Null,
            Self::Bool(bool) => Json::Bool(bool),
            Self::Number(number) => Json::Number(number),
            Self::Text(text) => Json::Text(owned(text)),
            Self::List(items) => Json::List(items.into_iter().map(Json::into_owned).collect()),
            Self::Map(fields) => {
                let own = |(key, value): (_, Self)| (owned(key), value.into_owned());
                Json::Map(fields.into_iter().map(own).collect())
            }
        }
    }

    /// The same value as a tree of the usual kind.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(*bool),
            Self::Number(Number::Int(int)) => Value::from(*int),
            Self::Number(Number::Uint(uint)) => Value::from(*uint),
            Self::Number(Number::Float(float)) => Value::from(*float),
            Self::Text(text) => Value::from(text.as_ref()),
            Self::List(items) => items.iter().map(Self::to_value).collect(),
            Self::Map(fields) => {
                let fields = fields.iter().map(|(key, value)| (key.to_string(), value.to_value()));
                Value::Object(fields.collect())
            }
        }
    }

    /// What kind of value it is, as an error or a user interface says it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_keys_the_last_counts() {
        let number = |int| Json::Number(Number::Int(int));
        let map = Json::map(vec![
            ("b".into(), number(1)),
            ("a".into(), number(2)),
            ("b".into(), number(3)),
        ]);
        assert_eq!(map, Json::Map(vec![("a".into(), number(2)), ("b".into(), number(3))]));
        assert_eq!(map.get("b"), Some(&number(3)));
        assert_eq!(map.get("c"), None);
    }
}
