//! Networks: an address and how many of its bits count.

use std::{fmt, net::IpAddr, str::FromStr};

use super::{
    address::{AddressError, parse},
    ip::{Ip, is_mapped},
    quote::quote,
};

/// Why a text is no network for the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("network address parse error during conversion from string: {}", problem.describe(text))]
pub struct CidrError {
    text: String,
    problem: CidrProblem,
}

/// What is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CidrProblem {
    /// There is no slash.
    NoSlash,
    /// What stands before the slash is no address.
    Address(AddressError),
    /// The address has a zone.
    Zone,
    /// What stands behind the slash is no number.
    BadBits(String),
    /// The number is larger than the address has bits.
    TooManyBits,
    /// The address is an IPv4 address in the form of an IPv6 address.
    Mapped,
}

impl CidrError {
    /// What is wrong with the text.
    pub fn problem(&self) -> &CidrProblem {
        &self.problem
    }
}

impl CidrProblem {
    fn describe(&self, text: &str) -> String {
        let text = quote(text.as_bytes());
        let problem = match self {
            Self::NoSlash => "no '/'".to_owned(),
            Self::Address(error) => error.to_string(),
            Self::Zone => "IPv6 zones cannot be present in a prefix".to_owned(),
            Self::BadBits(bits) => format!("bad bits after slash: {}", quote(bits.as_bytes())),
            Self::TooManyBits => "prefix length out of range".to_owned(),
            Self::Mapped => return format!("IPv4-mapped IPv6 address {text} is not allowed"),
        };
        format!(
            "network address parse error during conversion from string: \
             netip.ParsePrefix({text}): {problem}"
        )
    }
}

/// A network, with the address it was written with.
///
/// ```
/// # use kollect_expr::kube::cidr::Cidr;
/// let network: Cidr = "10.1.2.3/16".parse()?;
/// assert_eq!(network.masked().to_string(), "10.1.0.0/16");
/// # Ok::<(), kollect_expr::kube::cidr::CidrError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cidr {
    address: IpAddr,
    bits: u8,
}

impl Cidr {
    /// Whether the address lies in the network; never across families.
    pub fn contains_ip(self, ip: Ip) -> bool {
        self.address.is_ipv4() == ip.0.is_ipv4()
            && cut(self.address, self.bits) == cut(ip.0, self.bits)
    }

    /// Whether every address of the other network lies in this one.
    pub fn contains_cidr(self, other: Self) -> bool {
        self.bits <= other.bits && self.contains_ip(other.ip())
    }

    /// The address it was written with.
    pub fn ip(self) -> Ip {
        Ip(self.address)
    }

    /// The network with the bits that do not count set to zero.
    #[must_use]
    pub fn masked(self) -> Self {
        Self { address: cut(self.address, self.bits), bits: self.bits }
    }

    /// How many bits count.
    pub fn prefix_length(self) -> i64 {
        i64::from(self.bits)
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        read(text).map_err(|problem| CidrError { text: text.to_owned(), problem })
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.address, self.bits)
    }
}

fn read(text: &str) -> Result<Cidr, CidrProblem> {
    let (address, digits) = text.rsplit_once('/').ok_or(CidrProblem::NoSlash)?;
    let (address, zone) = parse(address).map_err(CidrProblem::Address)?;
    if zone.is_some() {
        return Err(CidrProblem::Zone);
    }
    let bad = || CidrProblem::BadBits(digits.to_owned());
    if digits.len() > 1 && !digits.starts_with(|letter| matches!(letter, '1'..='9')) {
        return Err(bad());
    }
    let bits: i64 = digits.parse().map_err(|_| bad())?;
    let widest = if address.is_ipv4() { 32 } else { 128 };
    let bits = u8::try_from(bits).ok().filter(|bits| *bits <= widest);
    let bits = bits.ok_or(CidrProblem::TooManyBits)?;
    if is_mapped(address) {
        return Err(CidrProblem::Mapped);
    }
    Ok(Cidr { address, bits })
}

/// The address with only its first bits.
fn cut(address: IpAddr, bits: u8) -> IpAddr {
    let bits = u32::from(bits);
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(bits)).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(bits)).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr(text: &str) -> Cidr {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_network_knows_its_parts() {
        for (text, ip, masked, bits) in [
            ("10.1.2.3/8", "10.1.2.3", "10.0.0.0/8", 8),
            ("10.1.2.3/0", "10.1.2.3", "0.0.0.0/0", 0),
            ("10.1.2.3/32", "10.1.2.3", "10.1.2.3/32", 32),
            ("2001:DB8::1/33", "2001:db8::1", "2001:db8::/33", 33),
            ("::1/128", "::1", "::1/128", 128),
            ("::1/0", "::1", "::/0", 0),
        ] {
            let network = cidr(text);
            assert_eq!(network.ip().to_string(), ip);
            assert_eq!(network.masked().to_string(), masked);
            assert_eq!(network.prefix_length(), bits);
        }
        assert_ne!(cidr("10.0.0.1/8"), cidr("10.0.0.0/8"), "unless masked");
    }

    #[test]
    fn networks_contain_addresses_and_networks() {
        for (network, other, contains) in [
            ("10.0.0.0/8", "10.255.0.1/32", true),
            ("10.9.9.9/8", "10.255.0.1/32", true),
            ("10.0.0.0/8", "11.0.0.1/32", false),
            ("10.0.0.0/8", "10.0.0.0/7", false),
            ("10.0.0.0/8", "10.0.0.0/8", true),
            ("0.0.0.0/0", "1.2.3.4/0", true),
            ("0.0.0.0/0", "::1/128", false),
            ("::/0", "1.2.3.4/32", false),
            ("fd00::/8", "fd12:3456::/32", true),
        ] {
            assert_eq!(cidr(network).contains_cidr(cidr(other)), contains, "{network} {other}");
        }
        assert!(cidr("192.168.0.0/24").contains_ip(cidr("192.168.0.255/1").ip()));
        assert!(!cidr("192.168.0.0/24").contains_ip(cidr("192.168.1.0/32").ip()));
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, problem) in [
            ("10.0.0.0", CidrProblem::NoSlash),
            ("fe80::1%eth0/64", CidrProblem::Zone),
            ("10.0.0.0/", CidrProblem::BadBits(String::new())),
            ("10.0.0.0/08", CidrProblem::BadBits("08".to_owned())),
            ("10.0.0.0/+8", CidrProblem::BadBits("+8".to_owned())),
            ("10.0.0.0/8x", CidrProblem::BadBits("8x".to_owned())),
            ("10.0.0.0/33", CidrProblem::TooManyBits),
            ("::/129", CidrProblem::TooManyBits),
            ("::/999", CidrProblem::TooManyBits),
            ("::ffff:10.0.0.0/104", CidrProblem::Mapped),
        ] {
            let found = text.parse::<Cidr>().map_err(|error| error.problem);
            assert_eq!(found, Err(problem), "{text}");
        }
        let error = "10.0.0/8".parse::<Cidr>().map_err(|error| error.to_string());
        let twice = "network address parse error during conversion from string: ";
        assert_eq!(
            error,
            Err(format!(
                "{twice}{twice}netip.ParsePrefix(\"10.0.0/8\"): ParseAddr(\"10.0.0\"): IPv4 address too short"
            ))
        );
    }
}
