//! The order of keys that people expect: `z9` before `z10`.

use std::cmp::Ordering;

use serde_json::{Map, Value};

/// The members of an object in natural order.
pub(super) fn sorted(fields: &Map<String, Value>) -> Vec<(&String, &Value)> {
    merge_sort(fields.iter().collect(), &|(a, _), (b, _)| natural(a, b))
}

/// Sorts by a comparison that may run in circles, as this one does: `a9z` <
/// `a12` < `a98` < `a9z`. The standard sort may then panic; here the outcome
/// depends on the keys alone, and without a circle it is the one order.
fn merge_sort<T>(mut items: Vec<T>, compare: &impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    if items.len() < 2 {
        return items;
    }
    let right = items.split_off(items.len() / 2);
    let mut left = merge_sort(items, compare).into_iter().peekable();
    let mut right = merge_sort(right, compare).into_iter().peekable();
    let mut merged = Vec::with_capacity(left.len() + right.len());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let side = if compare(b, a).is_lt() { &mut right } else { &mut left };
        merged.extend(side.next());
    }
    merged.extend(left);
    merged.extend(right);
    merged
}

/// Compares two keys at the first character in which they differ: what is no
/// letter stands before letters, ASCII digits that begin there compare as
/// numbers, everything else by code point.
fn natural(a: &str, b: &str) -> Ordering {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8());
    let common: usize = common.sum();
    let (front, a) = a.split_at_checked(common).unwrap_or_default();
    let (_, b) = b.split_at_checked(common).unwrap_or_default();
    let (Some(first_a), Some(first_b)) = (a.chars().next(), b.chars().next()) else {
        return a.len().cmp(&b.len());
    };
    match (is_letter(first_a), is_letter(first_b)) {
        (true, true) => first_a.cmp(&first_b),
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => {
            // A zero counts only inside a number that has begun before it.
            let inside = (first_a == '0' || first_b == '0')
                && front.bytes().rev().take_while(u8::is_ascii_digit).any(|digit| digit != b'0');
            let number = |text| number(text, i64::from(inside));
            number(a).cmp(&number(b)).then(first_a.cmp(&first_b))
        }
    }
}

/// The number that a text begins with, and how many digits it has. It wraps
/// where it is longer than 18 digits, and so does every writer of this order.
fn number(text: &str, start: i64) -> (i64, usize) {
    text.bytes().take_while(u8::is_ascii_digit).fold((start, 0), |(value, length), digit| {
        (value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')), length + 1)
    })
}

/// Letters as Unicode has them; numbers that look like letters are none.
fn is_letter(character: char) -> bool {
    character.is_alphabetic() && !character.is_numeric()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_in_keys_count_as_numbers() {
        let sorted = [
            "", "-", "_a", "1", "01", "2", "10", "101", "Z", "a", "a.b", "a1", "a01", "a2", "a10",
            "aa", "z9", "z10", "é",
        ];
        for pair in sorted.windows(2) {
            assert_eq!(natural(pair[0], pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(natural(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
        }
    }

    #[test]
    fn keys_that_run_in_circles_are_kept_all() {
        let keys = vec!["a12", "a98", "a9z"];
        let mut sorted = merge_sort(keys.clone(), &|a, b| natural(a, b));
        sorted.sort_unstable();
        assert_eq!(sorted, keys);
    }

    proptest! {
        #[test]
        fn only_equal_keys_compare_equal(a in "[-a0-2é]{0,5}", b in "[-a0-2é]{0,5}") {
            prop_assert_eq!(natural(&a, &b), natural(&b, &a).reverse());
            prop_assert_eq!(natural(&a, &b) == Ordering::Equal, a == b);
        }

        #[test]
        fn no_key_is_lost(keys in proptest::collection::btree_set("[-a0-2]{0,4}", 0..40)) {
            let sorted = merge_sort(keys.iter().collect(), &|a, b| natural(a, b));
            let back: std::collections::BTreeSet<_> = sorted.iter().copied().cloned().collect();
            prop_assert_eq!((sorted.len(), back), (keys.len(), keys));
        }
    }
}
