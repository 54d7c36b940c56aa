//! One compact JSON value a line.

/// Writes each value with a line break behind it; nothing, if there are none.
pub(super) fn lines<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    for value in values {
        out.extend_from_slice(value);
        out.push(b'\n');
    }
    out
}
