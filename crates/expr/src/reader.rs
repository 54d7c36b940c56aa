//! Reads from bytes what a projection asks for, and skips the rest.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::{
    json::{Json, Number},
    projection::{Gaps, Projection},
};

/// Reads an object. What the projection does not ask for is checked to be
/// JSON and not kept: a map keeps the fields that are asked for, a list its
/// length, a scalar itself.
pub fn read<'a>(bytes: &'a [u8], projection: &Projection) -> Result<Json<'a>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let json = Seed::new(projection).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(json)
}

#[derive(Clone, Copy)]
struct Seed<'p> {
    projection: &'p Projection,
    /// What is left out here although everything is asked for.
    gaps: Option<&'p Gaps>,
}

impl<'p> Seed<'p> {
    fn new(projection: &'p Projection) -> Self {
        Self { projection, gaps: projection.gaps.as_ref() }
    }

    /// What is asked of a field; nothing if it is to be skipped.
    fn field(self, name: &[u8]) -> Option<Self> {
        if self.projection.whole {
            return match self.gaps.and_then(|gaps| gaps.named(name)) {
                Some(gaps) if gaps.is_whole() => None,
                gaps => Some(Seed { gaps, ..self }),
            };
        }
        match (self.projection.named(name), self.projection.other_fields.as_deref()) {
            (Some(projection), None) | (None, Some(projection)) => Some(Seed::new(projection)),
            // Both ask for something: reading more than either needs is right
            // for both, and such an expression is rare.
            (Some(_), Some(_)) => Some(Seed::new(WHOLE)),
            (None, None) => None,
        }
    }

    fn item(self) -> Option<Self> {
        if self.projection.whole {
            return Some(Seed { gaps: None, ..self });
        }
        self.projection.items.as_deref().map(Seed::new)
    }

    /// How many fields are kept of a map, as far as that is known.
    fn kept(self) -> usize {
        /// Labels and the like are seldom more.
        const USUAL: usize = 8;
        let Projection { whole, fields, other_fields, .. } = self.projection;
        if *whole || other_fields.is_some() { USUAL } else { fields.len() }
    }
}

const WHOLE: &Projection =
    &Projection { whole: true, fields: Vec::new(), other_fields: None, items: None, gaps: None };

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
        while let Some(field) = fields.next_key_seed(Field { of: self })? {
            let Some((name, seed)) = field else {
                fields.next_value::<IgnoredAny>()?;
                continue;
            };
            if map.is_empty() {
                map.reserve_exact(self.kept());
            }
            map.push((name, fields.next_value_seed(seed)?));
        }
        Ok(Json::map(map))
    }
}

/// A key and what is asked of its value; nothing if it is to be skipped. It is
/// compared as it stands, and only a key that is kept is made a text.
#[derive(Clone, Copy)]
struct Field<'p> {
    of: Seed<'p>,
}

impl<'de, 'p> DeserializeSeed<'de> for Field<'p> {
    type Value = Option<(Cow<'de, str>, Seed<'p>)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl<'de, 'p> Visitor<'de> for Field<'p> {
    type Value = Option<(Cow<'de, str>, Seed<'p>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_bytes<E: Error>(self, name: &'de [u8]) -> Result<Self::Value, E> {
        let Some(seed) = self.of.field(name) else { return Ok(None) };
        let name = str::from_utf8(name).map_err(E::custom)?;
        Ok(Some((Cow::Borrowed(name), seed)))
    }

    fn visit_bytes<E: Error>(self, name: &[u8]) -> Result<Self::Value, E> {
        let Some(seed) = self.of.field(name) else { return Ok(None) };
        let name = str::from_utf8(name).map_err(E::custom)?;
        Ok(Some((Cow::Owned(name.to_owned()), seed)))
    }
}
