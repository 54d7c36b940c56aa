//! Texts in double quotes, as the server's messages have them.

use std::fmt::Write;

/// Quotes bytes the way Go does: what cannot be printed is escaped, and so is
/// every byte that is no UTF-8.
pub(super) fn quote(bytes: &[u8]) -> String {
    let mut quoted = String::with_capacity(bytes.len() + 2);
    quoted.push('"');
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|letter| escape(letter, &mut quoted));
        for byte in chunk.invalid() {
            write_to(&mut quoted, format_args!("\\x{byte:02x}"));
        }
    }
    quoted.push('"');
    quoted
}

fn escape(letter: char, out: &mut String) {
    match letter {
        '"' | '\\' => out.extend(['\\', letter]),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        ' '..='~' => out.push(letter),
        '\0'..='\u{7f}' => write_to(out, format_args!("\\x{:02x}", u32::from(letter))),
        _ if is_printable(letter) => out.push(letter),
        '\0'..='\u{ffff}' => write_to(out, format_args!("\\u{:04x}", u32::from(letter))),
        _ => write_to(out, format_args!("\\U{:08x}", u32::from(letter))),
    }
}

/// Whether a letter has a shape, which the standard library only tells for
/// letters that follow another one.
fn is_printable(letter: char) -> bool {
    let text: String = ['a', letter].into_iter().collect();
    text.escape_debug().nth(1) == Some(letter)
}

/// Writes to a string, which cannot fail.
fn write_to(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn what_cannot_be_printed_is_escaped() {
        for (bytes, quoted) in [
            (&b"plain"[..], r#""plain""#),
            (b"a\"b\\c", r#""a\"b\\c""#),
            (b"\n\t\x01\x7f", r#""\n\t\x01\x7f""#),
            (b"\xff", r#""\xff""#),
            ("é日\u{301}".as_bytes(), "\"é日\u{301}\""),
            ("\u{a0}\u{200b}\u{e0001}".as_bytes(), r#""\u00a0\u200b\U000e0001""#),
        ] {
            assert_eq!(quote(bytes), quoted);
        }
    }
}
