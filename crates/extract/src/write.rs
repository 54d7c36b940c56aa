//! Values in their canonical spelling.

use kollect_expr::{Json, Number};
use kollect_inventory::json;

/// Appends a value; maps are in the order of their keys already.
pub(crate) fn write(value: &Json<'_>, out: &mut Vec<u8>) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(Number::Int(int)) => json::write_integer(*int, out),
        Json::Number(Number::Uint(uint)) => json::write_integer(*uint, out),
        Json::Number(Number::Float(float)) => json::write_float(*float, out),
        Json::Text(text) => json::write_text(text, out),
        Json::List(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Json::Map(fields) => {
            out.push(b'{');
            for (at, (name, value)) in fields.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                json::write_text(name, out);
                out.push(b':');
                write(value, out);
            }
            out.push(b'}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kollect_expr::{Projection, read};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_spelling_is_that_of_rows(text in "\\PC{0,20}", number in any::<f64>(), int in any::<i64>()) {
            prop_assume!(number.is_finite());
            let value = serde_json::json!({"b": [text, null, true], "a": {"n": number, "i": int}});
            let bytes = serde_json::to_vec(&value).unwrap();
            let mut ours = Vec::new();
            write(&read(&bytes, &Projection::everything()).unwrap(), &mut ours);
            let mut theirs = Vec::new();
            json::write_value(&value, &mut theirs);
            prop_assert_eq!(String::from_utf8(ours), String::from_utf8(theirs));
        }
    }
}
