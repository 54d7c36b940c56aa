//! Reads from bytes what a projection asks for, and skips the rest.
//!
//! Nearly all of an object is skipped, so that the first answer of a server is
//! read about as fast as its bytes can be looked at. That is why this is written
//! by hand: a parser that serves every purpose took nearly twice as long over
//! the same bytes ([ADR 14](../../../docs/adr/0014-a-reader-of-our-own.md)).
//! What is JSON and what a number is did not change by that; the tests ask that
//! parser.
//!
//! Values are read here; `text` and `number` know how those are spelled, and
//! `skip` passes over what nobody asked for.

pub(crate) mod error;
mod text;
mod number;
mod skip;

use std::borrow::Cow;

use crate::{
    json::Json,
    projection::{Gaps, Projection},
};

use self::{
    error::{Problem, ReadError},
    number::number,
    skip::skip,
    text::text,
};

/// How many maps and lists may stand around a value that is kept.
const DEEPEST: usize = 127;

/// Reads an object. Of a map the fields are kept that the projection asks for,
/// of a list its length, of a scalar itself.
///
/// What is kept is JSON, or it is an error. What is not kept is skipped, and
/// only looked at as closely as is cheap: a text, a number or a word is one, but
/// of a map or a list it is checked that it ends, and not what stands in it.
pub fn read<'a>(bytes: &'a [u8], projection: &Projection) -> Result<Json<'a>, ReadError> {
    let mut reader = Reader { bytes, at: 0, depth: 0 };
    let json = reader.value(Seed::new(projection))?;
    match token(bytes, reader.at) {
        (_, at) if at < bytes.len() => Err(Problem::Trailing.at(at, bytes)),
        _ => Ok(json),
    }
}

/// The next byte that is no blank, and where it stands; zero behind the end,
/// where nothing that begins with it could be read either.
#[inline]
fn token(bytes: &[u8], from: usize) -> (u8, usize) {
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\n' | b'\t' | b'\r') => at += 1,
            Some(byte) => return (*byte, at),
            None => return (0, at),
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How many maps and lists are open.
    depth: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self, seed: Seed<'_>) -> Result<Json<'a>, ReadError> {
        let (byte, at) = self.token();
        match byte {
            b'"' => {
                let (text, end) = text(self.bytes, at + 1)?;
                self.at = end;
                match text.unicode() {
                    Some(text) => Ok(Json::Text(text)),
                    None => Err(Problem::Unicode.at(at, self.bytes)),
                }
            }
            b'{' => self.nested(at, |reader| reader.map(seed)),
            b'[' => self.nested(at, |reader| reader.list(seed)),
            b'-' | b'0'..=b'9' => {
                let (number, end) = number(self.bytes, at)?;
                self.at = end;
                Ok(Json::Number(number))
            }
            _ => {
                self.at = skip::word(self.bytes, at)?;
                Ok(match byte {
                    b't' => Json::Bool(true),
                    b'f' => Json::Bool(false),
                    _ => Json::Null,
                })
            }
        }
    }

    /// Reads behind a bracket.
    fn nested(
        &mut self,
        bracket: usize,
        read: impl FnOnce(&mut Self) -> Result<Json<'a>, ReadError>,
    ) -> Result<Json<'a>, ReadError> {
        if self.depth == DEEPEST {
            return Err(Problem::TooDeep.at(bracket, self.bytes));
        }
        self.depth += 1;
        self.at = bracket + 1;
        let json = read(self)?;
        self.depth -= 1;
        Ok(json)
    }

    fn list(&mut self, seed: Seed<'_>) -> Result<Json<'a>, ReadError> {
        let mut list = Vec::new();
        let item = seed.item();
        let mut goes_on = self.token().0 != b']';
        if !goes_on {
            self.at = self.token().1 + 1;
        }
        while goes_on {
            if let Some(seed) = item {
                list.push(self.value(seed)?);
            } else {
                // Nothing is asked of the elements, but how many there are may be.
                self.at = skip(self.bytes, self.at)?;
                list.push(Json::Null);
            }
            goes_on = self.goes_on(b']', Problem::InList)?;
        }
        Ok(Json::List(list))
    }

    fn map(&mut self, seed: Seed<'_>) -> Result<Json<'a>, ReadError> {
        let mut map = Vec::new();
        let kept = seed.kept();
        let mut goes_on = self.token().0 != b'}';
        if !goes_on {
            self.at = self.token().1 + 1;
        }
        while goes_on {
            match self.field(seed)? {
                Some((name, seed)) => {
                    if map.is_empty() {
                        map.reserve_exact(kept);
                    }
                    map.push((name, self.value(seed)?));
                }
                None => self.at = skip(self.bytes, self.at)?,
            }
            goes_on = self.goes_on(b'}', Problem::InMap)?;
        }
        Ok(Json::map(map))
    }

    /// The next key and what is asked of its value; nothing if it is to be
    /// skipped. A key is compared as it stands, and only one that is kept is
    /// made a text.
    #[inline]
    fn field<'p>(&mut self, seed: Seed<'p>) -> Result<Option<(Cow<'a, str>, Seed<'p>)>, ReadError> {
        let (b'"', quote) = self.token() else {
            return Err(Problem::NoKey.at(self.token().1, self.bytes));
        };
        let (name, end) = text(self.bytes, quote + 1)?;
        let (b':', colon) = token(self.bytes, end) else {
            return Err(Problem::NoColon.at(token(self.bytes, end).1, self.bytes));
        };
        self.at = colon + 1;
        match seed.field(&name.bytes()) {
            None => Ok(None),
            Some(seed) => match name.unicode() {
                Some(name) => Ok(Some((name, seed))),
                None => Err(Problem::Unicode.at(quote, self.bytes)),
            },
        }
    }

    /// Whether another element or field follows, or the end of them all.
    #[inline]
    fn goes_on(&mut self, end: u8, problem: Problem) -> Result<bool, ReadError> {
        let (byte, at) = self.token();
        if byte != b',' && byte != end {
            return Err(problem.at(at, self.bytes));
        }
        self.at = at + 1;
        Ok(byte == b',')
    }

    #[inline]
    fn token(&self) -> (u8, usize) {
        token(self.bytes, self.at)
    }
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

#[cfg(test)]
mod tests;
