//! Values as Go's flag package spells them.

use std::time::Duration;

use kollect_api::{ExportInterval, IntervalError};

/// Reads a time, such as 90s or 1h30m.
pub(crate) fn time(text: &str) -> Result<Duration, IntervalError> {
    ExportInterval::from(text).duration()
}

/// Reads a boolean.
pub(crate) fn truth(text: &str) -> Result<bool, &'static str> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("must be true or false"),
    }
}

/// The names of a list, each of them once and without the space around it.
pub(crate) fn names(list: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in list.iter().map(|name| name.trim()) {
        if !name.is_empty() && names.iter().all(|known| known != name) {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_are_read_as_go_reads_them() {
        for text in ["1", "t", "T", "true", "TRUE", "True"] {
            assert_eq!(truth(text), Ok(true), "{text}");
        }
        for text in ["0", "f", "F", "false", "FALSE", "False"] {
            assert_eq!(truth(text), Ok(false), "{text}");
        }
        for text in ["", "yes", "tRUE"] {
            assert!(truth(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_list_names_everything_once() {
        let list = ["a", " b", "a", "", " "].map(str::to_owned);
        assert_eq!(names(&list), ["a", "b"]);
    }
}
