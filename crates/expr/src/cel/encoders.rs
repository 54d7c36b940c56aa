//! Base64.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};

use super::{
    convert::no_such,
    functions::{Function, global, unfit},
    value::Value,
};
use crate::{budget::Budget, eval::Reason};

type Computed<'v, 'a> = Result<Value<'v, 'a>, Reason>;

pub(crate) const FUNCTIONS: &[Function] = &[
    global("base64.encode", "bytes -> string", encode),
    global("base64.decode", "string -> bytes", decode),
];

/// Takes padding, and does without.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// In the standard alphabet, padded.
pub(crate) fn spelled(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn encode<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Bytes(bytes)] = args else { return Err(unfit("base64.encode", args)) };
    budget.build(3 * bytes.len())?;
    Ok(Value::text(spelled(bytes)))
}

fn decode<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(text)] = args else { return Err(unfit("base64.decode", args)) };
    budget.build(2 * text.as_str().len())?;
    let bytes = LENIENT.decode(text.as_str());
    bytes.map(|bytes| Value::Bytes(bytes.into())).map_err(|_| no_such("base64", text.as_str()))
}
