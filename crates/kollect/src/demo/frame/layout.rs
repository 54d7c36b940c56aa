//! Texts in columns.

/// A text at the left of so many columns; what does not fit is cut, and shown
/// to be.
pub(super) fn left(text: &str, columns: usize) -> String {
    format!("{:<columns$}", cut(text, columns))
}

/// A text at the right of so many columns.
pub(super) fn right(text: &str, columns: usize) -> String {
    format!("{:>columns$}", cut(text, columns))
}

fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    if columns > 0 {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_fills_its_columns_and_no_more() {
        assert_eq!(left("abc", 5), "abc  ");
        assert_eq!(right("abc", 5), "  abc");
        assert_eq!(left("abcdef", 4), "abc…");
        assert_eq!(left("a→b", 3), "a→b");
        assert_eq!(left("abc", 0), "");
    }
}
