//! Digests of rows: an incremental one for us, checksums for the contract.

use std::{fmt, str::FromStr};

use sha2::{Digest as _, Sha256};

use crate::row::{Row, RowHash};

/// The sum of row hashes, which does not depend on their order and can be
/// kept up to date row by row. It is a stored format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u128);

impl Digest {
    /// Of no rows.
    pub const EMPTY: Self = Self(0);

    /// With a row that has come.
    #[must_use]
    pub fn with(self, hash: RowHash) -> Self {
        Self(self.0.wrapping_add(hash.0))
    }

    /// Without a row that has gone.
    #[must_use]
    pub fn without(self, hash: RowHash) -> Self {
        Self(self.0.wrapping_sub(hash.0))
    }

    /// The digest of both sets together; they must not share a row.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// The digest of what is left without a set that is part of it.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Why a text is no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 32 hexadecimal digits")]
pub struct DigestError;

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        match u128::from_str_radix(text, 16) {
            Ok(sum) if text.len() == 32 => Ok(Self(sum)),
            _ => Err(DigestError),
        }
    }
}

/// The contract checksum: SHA-256 over the compact array of rows in canonical
/// order, as 64 hexadecimal digits. The rows must be sorted.
pub fn checksum(rows: &[Row]) -> String {
    let mut hash = Sha256::new();
    hash.update(b"[");
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            hash.update(b",");
        }
        hash.update(row.as_json());
    }
    hash.update(b"]");
    hexadecimal(&hash.finalize())
}

/// The digest of a set of parts: SHA-256 over each part's checksum and a line
/// break, in the order of the parts.
pub fn parts_digest<'a>(checksums: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for checksum in checksums {
        hash.update(checksum.as_bytes());
        hash.update(b"\n");
    }
    hexadecimal(&hash.finalize())
}

/// The digest of a rollup: SHA-256 over `namespace:checksum` and a line break
/// for each namespace with rows, in the order of their names.
pub fn rollup_digest<'a>(shards: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut hash = Sha256::new();
    for (namespace, checksum) in shards {
        hash.update(format!("{namespace}:{checksum}\n").as_bytes());
    }
    hexadecimal(&hash.finalize())
}

/// Bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        for half in [byte >> 4, byte & 0xf] {
            text.push(char::from_digit(half.into(), 16).unwrap_or_default());
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coming_and_going_cancel_each_other() {
        let (a, b) = (RowHash(u128::MAX - 1), RowHash(7));
        let both = Digest::default().with(a).with(b);
        assert_eq!(both, Digest::default().with(b).with(a));
        assert_eq!(both.without(a), Digest::default().with(b));
        assert_eq!(both.without(a).without(b), Digest::default());
        assert_eq!(both.to_string().parse(), Ok(both));
        assert_eq!(both.to_string().len(), 32);
        assert_eq!("7".parse::<Digest>(), Err(DigestError));
    }

    #[test]
    fn no_rows_have_the_checksum_of_an_empty_list() {
        assert_eq!(
            checksum(&[]),
            "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
        );
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(rollup_digest([]), nothing);
    }
}
