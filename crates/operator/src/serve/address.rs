//! Where to listen, as Go spells it.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    str::FromStr,
};

/// Where to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// Not at all; `0`.
    Nowhere,
    /// On every interface; `:8081`.
    Everywhere(u16),
    At(SocketAddr),
}

/// Why a text is no address to listen at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be :PORT, IP:PORT, or 0 for none")]
pub struct AddressError;

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if ["", "0"].contains(&text) {
            return Ok(Self::Nowhere);
        }
        let (host, port) = text.rsplit_once(':').ok_or(AddressError)?;
        let port: u16 = port.parse().map_err(|_| AddressError)?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let ip: IpAddr = match (host, bare) {
            ("", _) => return Ok(Self::Everywhere(port)),
            // The one name that is the same on every machine.
            ("localhost", _) => Ipv4Addr::LOCALHOST.into(),
            (_, Some(bare)) => bare.parse().map_err(|_| AddressError)?,
            (host, None) => IpAddr::V4(host.parse().map_err(|_| AddressError)?),
        };
        Ok(Self::At(SocketAddr::new(ip, port)))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => f.write_str("0"),
            Self::Everywhere(port) => write!(f, ":{port}"),
            Self::At(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<Address, AddressError>) {
        let address = text.parse();
        assert_eq!(address, expected, "{text}");
        if let Ok(address) = address {
            assert_eq!(address.to_string().parse(), Ok(address), "{text}");
        }
    }

    #[test]
    fn addresses_are_read_as_go_reads_them() {
        let at = |text: &str| Ok(Address::At(text.parse().unwrap()));
        check("0", Ok(Address::Nowhere));
        check("", Ok(Address::Nowhere));
        check(":8081", Ok(Address::Everywhere(8081)));
        check(":0", Ok(Address::Everywhere(0)));
        check("127.0.0.1:8443", at("127.0.0.1:8443"));
        check("localhost:8443", at("127.0.0.1:8443"));
        check("[::1]:8443", at("[::1]:8443"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["8081", ":http", ":65536", "::1:80", "[127.0.0.1:80", "example.com:80", ":"] {
            check(text, Err(AddressError));
        }
    }
}
