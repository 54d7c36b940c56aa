//! How numbers are spelled.

use kollect_inventory::json::{self, Decimal};
use serde_json::Number;

/// Spells a number: integers of 64 bits exactly, everything else as a float.
///
/// A float whose canonical JSON is an integer is spelled as one, because that
/// is how it reads back.
pub(super) fn spell(number: &Number) -> String {
    let mut canonical = Vec::new();
    json::write_number(number, &mut canonical);
    let canonical = String::from_utf8_lossy(&canonical);
    match (canonical.parse::<i64>(), canonical.parse::<u64>(), number.as_f64()) {
        (Ok(integer), _, _) => integer.to_string(),
        (_, Ok(integer), _) => integer.to_string(),
        (_, _, Some(float)) => spell_float(float),
        (_, _, None) => canonical.into_owned(),
    }
}

/// The shortest digits that read back as the same number, with an exponent of
/// at least two digits below a ten-thousandth and from a million on.
fn spell_float(float: f64) -> String {
    let decimal = Decimal::of(float);
    match decimal.exponent {
        exponent if exponent < -4 => {
            format!("{}e-{:02}", decimal.mantissa(), exponent.unsigned_abs())
        }
        exponent if exponent >= 6 => format!("{}e+{exponent:02}", decimal.mantissa()),
        _ => decimal.plain(),
    }
}
