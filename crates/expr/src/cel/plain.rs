//! Results as JSON.

use std::borrow::Cow;

use super::{
    encoders,
    value::{Key, Text, Value},
};
use crate::{
    budget::Budget,
    eval::Reason,
    json::{Json, Number},
};

/// The value as it is stored. Bytes are base64, times RFC 3339, durations
/// nanoseconds, types their names; an optional is what is in it, or null.
pub(crate) fn plain<'a>(budget: &mut Budget, value: Value<'_, 'a>) -> Result<Json<'a>, Reason> {
    const EACH: usize = size_of::<Json<'_>>();
    budget.take(4)?;
    Ok(match value {
        Value::Null | Value::Optional(None) => Json::Null,
        Value::Bool(bool) => Json::Bool(bool),
        Value::Int(int) => Json::Number(Number::Int(int)),
        Value::Uint(uint) => Json::Number(number(uint)),
        Value::Double(double) if double.is_finite() => Json::Number(Number::Float(double)),
        Value::Double(_) => {
            return Err(Reason::Invalid("NaN and infinity cannot be stored".into()));
        }
        Value::Text(text) => Json::Text(self::text(budget, text)?),
        Value::Bytes(bytes) => {
            budget.build(2 * bytes.len())?;
            Json::Text(encoders::spelled(&bytes).into())
        }
        Value::Duration(nanoseconds) => Json::Number(Number::Int(nanoseconds)),
        Value::Timestamp(at) => Json::Text(at.to_string().into()),
        Value::Type(name) => Json::Text(name.into()),
        Value::Special(special) => {
            let text = special.spelled();
            budget.build(text.len())?;
            Json::Text(text.into())
        }
        Value::Optional(Some(value)) => plain(budget, (*value).clone())?,
        Value::Json(json) => {
            // One part is no larger than the object, but it can be there often.
            pay_for_copy(budget, json)?;
            json.clone()
        }
        Value::List(items) => {
            budget.build(items.len() * EACH)?;
            let mut list = Vec::with_capacity(items.len());
            for item in items.iter() {
                list.push(plain(budget, item.clone())?);
            }
            Json::List(list)
        }
        Value::Map(map) => {
            let mut fields = Vec::with_capacity(map.entries().len());
            for (key, value) in map.entries() {
                budget.build(2 * EACH)?;
                let key = match key {
                    Key::Text(key) => text(budget, key.clone())?,
                    other => other.spelled().into(),
                };
                fields.push((key, plain(budget, value.clone())?));
            }
            let count = fields.len();
            match Json::map(fields) {
                Json::Map(fields) if fields.len() < count => {
                    return Err(Reason::Invalid("two keys of a map are spelled alike".into()));
                }
                map => map,
            }
        }
    })
}

fn pay_for_copy(budget: &mut Budget, json: &Json<'_>) -> Result<(), Reason> {
    const FIELD: usize = size_of::<(Cow<'_, str>, Json<'_>)>();
    let mut waiting = vec![json];
    while let Some(json) = waiting.pop() {
        match json {
            Json::Text(Cow::Owned(text)) => budget.build(text.len())?,
            Json::List(items) => {
                budget.build(items.len() * size_of::<Json<'_>>())?;
                waiting.extend(items);
            }
            Json::Map(fields) => {
                budget.build(fields.len() * FIELD)?;
                waiting.extend(fields.iter().map(|(_, value)| value));
            }
            Json::Text(Cow::Borrowed(_)) | Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    Ok(())
}

fn number(uint: u64) -> Number {
    i64::try_from(uint).map_or(Number::Uint(uint), Number::Int)
}

fn text<'a>(budget: &mut Budget, text: Text<'_, 'a>) -> Result<Cow<'a, str>, Reason> {
    match text {
        Text::Object(text) => {
            if matches!(text, Cow::Owned(_)) {
                budget.build(text.len())?;
            }
            Ok(text.clone())
        }
        other => {
            budget.build(other.as_str().len())?;
            Ok(Cow::Owned(other.as_str().to_owned()))
        }
    }
}
