//! Reads from bytes what a projection asks for, and skips the rest.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::{
    json::{Json, Number},
    projection::Projection,
};

/// Reads an object. What the projection does not ask for is checked to be
/// JSON and not kept: a map keeps the fields that are asked for, a list its
/// length, a scalar itself.
pub fn read<'a>(bytes: &'a [u8], projection: &Projection) -> Result<Json<'a>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let json = Seed { projection }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(json)
}

#[derive(Clone, Copy)]
struct Seed<'p> {
    projection: &'p Projection,
}

impl Seed<'_> {
    /// What is asked of a field; nothing if it is to be skipped.
    fn field(self, name: &str) -> Option<Self> {
        if self.projection.whole {
            return Some(self);
        }
        let named = self.projection.fields.get(name);
        match (named, self.projection.other_fields.as_deref()) {
            (Some(projection), None) | (None, Some(projection)) => Some(Seed { projection }),
            // Both ask for something: reading more than either needs is right
            // for both, and such an expression is rare.
            (Some(_), Some(_)) => Some(Seed { projection: WHOLE }),
            (None, None) => None,
        }
    }

    fn item(self) -> Option<Self> {
        if self.projection.whole {
            return Some(self);
        }
        self.projection.items.as_deref().map(|projection| Seed { projection })
    }
}

const WHOLE: &Projection = &Projection {
    whole: true,
    fields: std::collections::BTreeMap::new(),
    other_fields: None,
    items: None,
};

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(Number::Int(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json<'de>, E> {
        let number = i64::try_from(value).map_or(Number::Uint(value), Number::Int);
        Ok(Json::Number(number))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json<'de>, E> {
        Ok(Json::Number(Number::Float(value)))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json<'de>, A::Error> {
        let mut list = Vec::new();
        match self.item() {
            Some(seed) => {
                while let Some(item) = items.next_element_seed(seed)? {
                    list.push(item);
                }
            }
            // Nothing is asked of the elements, but how many there are may be.
            None => {
                while items.next_element::<IgnoredAny>()?.is_some() {
                    list.push(Json::Null);
                }
            }
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json<'de>, A::Error> {
        let mut map = Vec::new();
        while let Some(name) = fields.next_key_seed(Name)? {
            match self.field(&name) {
                Some(seed) => map.push((name, fields.next_value_seed(seed)?)),
                None => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Json::map(map))
    }
}

/// A key, borrowed unless it was escaped.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(value.to_owned()))
    }
}
