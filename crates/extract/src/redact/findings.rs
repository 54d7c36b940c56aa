//! What was hidden, where and why.

use std::fmt::{self, Write};

/// How many places are named.
const MOST: usize = 100;

/// Why something was hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Its name gives it away.
    SensitiveKey,
    /// It is a secret as a whole, whatever its name is.
    SensitiveValue,
    /// A text, or a name, held a secret, which is masked in it.
    SecretInText,
}

impl Reason {
    /// As it is written into what stands in for a value.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SensitiveKey => "sensitive-key",
            Self::SensitiveValue => "sensitive-value",
            Self::SecretInText => "secret-in-text",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that was hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A path such as `spec.containers[0].env[1].value`; `$` is the whole value.
    pub place: String,
    pub reason: Reason,
}

/// What was hidden, in the order in which it was found. The first hundred are
/// named, all are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    named: Vec<Finding>,
    total: usize,
}

impl Findings {
    /// The first hundred.
    pub fn named(&self) -> &[Finding] {
        &self.named
    }

    /// How many there are in all.
    pub fn total(&self) -> usize {
        self.total
    }

    pub(super) fn add(&mut self, place: &Place<'_>, reason: Reason) {
        self.total += 1;
        if self.named.len() < MOST {
            self.named.push(Finding { place: place.path(), reason });
        }
    }
}

/// Where the walk stands; written out only when something is found.
#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    Root,
    Field(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    fn path(&self) -> String {
        let mut path = String::new();
        self.write(&mut path);
        if path.is_empty() { "$".to_owned() } else { path }
    }

    fn write(&self, path: &mut String) {
        match self {
            Self::Root => {}
            Self::Field(parent, name) => {
                parent.write(path);
                let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
                if name.is_empty() || !name.chars().all(plain) {
                    path.push_str("['");
                    path.push_str(name);
                    path.push_str("']");
                } else {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
            }
            Self::Item(parent, index) => {
                parent.write(path);
                // Writing to a string cannot fail.
                write!(path, "[{index}]").unwrap_or_default();
            }
        }
    }
}
