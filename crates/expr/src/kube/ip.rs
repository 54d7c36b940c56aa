//! IP addresses, one spelling at a time.
//!
//! Stricter than most parsers: no zones, no IPv4 address in IPv6 clothes, no
//! leading zeros. The standard library would accept the same texts, but not
//! say why it refuses one in the words that a `uri` format passes on.

use std::{fmt, net::IpAddr, str::FromStr};

use super::{
    address::{AddressError, parse},
    quote::quote,
};

/// Why a text is no address for the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IpError {
    /// It is no address at all.
    #[error("IP Address {} parse error during conversion from string: {problem}", quote(text.as_bytes()))]
    Malformed { text: String, problem: AddressError },
    /// It names a network interface: `fe80::1%eth0`.
    #[error("IP address {} with zone value is not allowed", quote(text.as_bytes()))]
    Zone { text: String },
    /// It is an IPv4 address in the form of an IPv6 address: `::ffff:10.0.0.1`.
    #[error("IPv4-mapped IPv6 address {} is not allowed", quote(text.as_bytes()))]
    Mapped { text: String },
}

/// An IPv4 or IPv6 address.
///
/// ```
/// # use kollect_expr::kube::ip::Ip;
/// let address: Ip = "FD00:0::1".parse()?;
/// assert_eq!((address.family(), address.to_string().as_str()), (6, "fd00::1"));
/// # Ok::<(), kollect_expr::kube::ip::IpError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ip(pub(super) IpAddr);

impl Ip {
    /// Whether the text is an address as [`Ip`] would write it; an error if it
    /// is none.
    pub fn is_canonical(text: &str) -> Result<bool, IpError> {
        text.parse::<Self>().map(|address| address.to_string() == text)
    }

    /// 4 or 6.
    pub fn family(self) -> i64 {
        if self.0.is_ipv4() { 4 } else { 6 }
    }

    /// `0.0.0.0` or `::`.
    pub fn is_unspecified(self) -> bool {
        self.0.is_unspecified()
    }

    /// `127.0.0.0/8` or `::1`.
    pub fn is_loopback(self) -> bool {
        self.0.is_loopback()
    }

    /// `224.0.0.0/24` or `ff02::/16`, whatever the flags.
    pub fn is_link_local_multicast(self) -> bool {
        match self.0 {
            IpAddr::V4(address) => address.octets().starts_with(&[224, 0, 0]),
            IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
        }
    }

    /// `169.254.0.0/16` or `fe80::/10`.
    pub fn is_link_local_unicast(self) -> bool {
        match self.0 {
            IpAddr::V4(address) => address.is_link_local(),
            IpAddr::V6(address) => address.is_unicast_link_local(),
        }
    }

    /// Everything else that is one host's, private addresses included.
    pub fn is_global_unicast(self) -> bool {
        let broadcast = matches!(self.0, IpAddr::V4(address) if address.is_broadcast());
        !broadcast
            && !self.is_unspecified()
            && !self.is_loopback()
            && !self.0.is_multicast()
            && !self.is_link_local_unicast()
    }
}

impl FromStr for Ip {
    type Err = IpError;

    fn from_str(text: &str) -> Result<Self, IpError> {
        match parse(text) {
            Err(problem) => Err(IpError::Malformed { text: text.to_owned(), problem }),
            Ok((_, Some(_))) => Err(IpError::Zone { text: text.to_owned() }),
            Ok((address, None)) if is_mapped(address) => {
                Err(IpError::Mapped { text: text.to_owned() })
            }
            Ok((address, None)) => Ok(Self(address)),
        }
    }
}

impl fmt::Display for Ip {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// Whether an IPv6 address stands for an IPv4 one.
pub(super) fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Ip {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn an_address_has_one_canonical_form() {
        for (text, canonical) in [
            ("127.0.0.1", "127.0.0.1"),
            ("::", "::"),
            ("::1", "::1"),
            ("2001:DB8::0:1", "2001:db8::1"),
            ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"),
            ("::1.2.3.4", "::102:304"),
            ("64:ff9b::10.0.0.1", "64:ff9b::a00:1"),
        ] {
            assert_eq!(ip(text).to_string(), canonical);
            assert_eq!(Ip::is_canonical(text), Ok(text == canonical), "{text}");
        }
        assert_eq!(ip("::0:1"), ip("0:0:0:0:0:0:0:1"));
    }

    #[test]
    fn other_texts_are_refused_in_the_words_of_the_server() {
        let malformed = |text: &str, problem: &str| {
            format!(
                "IP Address {text:?} parse error during conversion from string: ParseAddr({text:?}): {problem}"
            )
        };
        for (text, problem) in [
            ("", "unable to parse IP"),
            ("localhost", "unable to parse IP"),
            ("%eth0", "missing IPv6 address"),
            ("1.2.3", "IPv4 address too short"),
            ("1.2.3.4.5", "IPv4 address too long"),
            ("1.2.3.256", "IPv4 field has value >255"),
            ("1.2.3.04", "IPv4 field has octet with leading zero"),
            ("1..2.3", r#"IPv4 field must have at least one digit (at ".2.3")"#),
            (".1.2.3", r#"IPv4 field must have at least one digit (at ".1.2.3")"#),
            ("1.2.3.", r#"IPv4 field must have at least one digit (at ".")"#),
            ("1.2.3.a", r#"unexpected character (at "a")"#),
            ("1.2.3.4 ", r#"unexpected character (at " ")"#),
            ("1.2.3.4/24", r#"unexpected character (at "/24")"#),
            ("::%", "zone must be a non-empty string"),
            ("12345::", r#"each group must have 4 or less digits (at "12345::")"#),
            (":1", r#"each colon-separated field must have at least one digit (at ":1")"#),
            (
                "1:2:3.4.5.6",
                r#"embedded IPv4 address must replace the final 2 fields of the address (at "3.4.5.6")"#,
            ),
            (
                "1:2:3:4:5:6:7::1.2.3.4",
                r#"too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")"#,
            ),
            ("1g::", r#"unexpected character, want colon (at "g::")"#),
            ("1:", r#"colon must be followed by more characters (at ":")"#),
            ("1::2::3", r#"multiple :: in address (at ":3")"#),
            ("1:2:3:4:5:6:7:8:9", r#"trailing garbage after address (at "9")"#),
            ("1:2:3", "address string too short"),
            ("1:2:3:4::5:6:7:8", "the :: must expand to at least one field of zeros"),
        ] {
            let error = text.parse::<Ip>().map_err(|error| error.to_string());
            assert_eq!(error, Err(malformed(text, problem)));
        }
        for (text, message) in [
            ("fe80::1%eth0", r#"IP address "fe80::1%eth0" with zone value is not allowed"#),
            ("::ffff:1.2.3.4", r#"IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed"#),
        ] {
            let error = text.parse::<Ip>().map_err(|error| error.to_string());
            assert_eq!(error, Err(message.to_owned()));
        }
    }

    #[test]
    fn every_address_has_its_kinds() {
        for (text, kinds) in [
            ("0.0.0.0", "unspecified"),
            ("::", "unspecified"),
            ("127.9.9.9", "loopback"),
            ("::1", "loopback"),
            ("224.0.0.7", "link-local multicast"),
            ("ff02::1", "link-local multicast"),
            ("ff12::1", "link-local multicast"),
            ("224.0.1.1", ""),
            ("ff05::1", ""),
            ("255.255.255.255", ""),
            ("169.254.0.1", "link-local unicast"),
            ("fe80::1", "link-local unicast"),
            ("febf::1", "link-local unicast"),
            ("fec0::1", "global unicast"),
            ("10.0.0.1", "global unicast"),
            ("fd00::1", "global unicast"),
            ("240.0.0.1", "global unicast"),
        ] {
            let address = ip(text);
            let found: Vec<_> = [
                (address.is_unspecified(), "unspecified"),
                (address.is_loopback(), "loopback"),
                (address.is_link_local_multicast(), "link-local multicast"),
                (address.is_link_local_unicast(), "link-local unicast"),
                (address.is_global_unicast(), "global unicast"),
            ]
            .into_iter()
            .filter_map(|(is, kind)| is.then_some(kind))
            .collect();
            assert_eq!(found.join(" "), kinds, "{text}");
        }
    }
}
