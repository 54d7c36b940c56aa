//! Which addresses a sink may name.
//!
//! Admission judges what stands in a manifest, and the dialler judges every
//! address that a name resolves to; both by this one policy.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

/// What the operator's administrator allows beyond the public internet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressPolicy {
    /// Whether RFC 1918 and IPv6 unique-local addresses may be dialled.
    pub private: bool,
    /// Ranges that may be dialled whatever they are, loopback included.
    pub allowed: Vec<Cidr>,
}

/// Why an address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    #[error("the name belongs to this machine or to a metadata service")]
    Name,
    #[error("the address belongs to a metadata service")]
    Metadata,
    #[error("loopback addresses are not allowed")]
    Loopback,
    #[error("link-local addresses are not allowed")]
    LinkLocal,
    #[error("private addresses are not allowed (the operator's --allow-private-sinks admits them)")]
    Private,
    #[error("the address is reserved")]
    Reserved,
}

const NAMES: [&str; 6] = [
    "localhost",
    "localhost.localdomain",
    "metadata",
    "metadata.google.internal",
    "instance-data",
    "instance-data.ec2.internal",
];

const RESERVED_V4: [(Ipv4Addr, u8); 8] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

const RESERVED_V6: [(Ipv6Addr, u8); 9] = [
    // Addresses that carry an IPv4 one: compatible, translated, and 6to4.
    (Ipv6Addr::UNSPECIFIED, 96),
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    // The block of protocols, with Teredo, which carries an IPv4 address too.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
    // Site-local: private before there were unique-local addresses.
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8),
];

/// The prefix of translators, with the IPv4 address in the last 32 bits.
const NAT64: (Ipv6Addr, u8) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// The prefix that each network cuts up for its own translators.
const LOCAL_NAT64: (Ipv6Addr, u8) = (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48);

/// The one metadata service at a public address, that of Azure; the others
/// are link-local or in a reserved range.
const METADATA_V4: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// Metadata services at unique-local addresses, which are private to no user:
/// EC2 (with its credentials for pods), Google, Oracle, Scaleway.
const METADATA_V6: [(Ipv6Addr, u8); 4] = [
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128),
    (Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe), 128),
    (Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42), 128),
];

impl AddressPolicy {
    /// Judges a host as it is written: a name, or an address in any spelling
    /// that a resolver would take for one.
    ///
    /// Returns the address that the host spells; nothing for a name, of which
    /// every address that it resolves to is still to be judged.
    pub fn host(&self, host: &str) -> Result<Option<IpAddr>, Denied> {
        let host = host.trim_matches('.').to_ascii_lowercase();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let bare = bare.split('%').next().unwrap_or_default();
        if let Some(address) = bare.parse().ok().or_else(|| legacy_v4(bare).map(IpAddr::V4)) {
            return self.address(address).map(|()| Some(address.to_canonical()));
        }
        if NAMES.contains(&bare) || bare.ends_with(".localhost") {
            return Err(Denied::Name);
        }
        Ok(None)
    }

    /// Judges one address.
    pub fn address(&self, address: IpAddr) -> Result<(), Denied> {
        let address = address.to_canonical();
        if self.allowed.iter().any(|range| range.contains(address)) {
            return Ok(());
        }
        match address {
            IpAddr::V4(address) => self.v4(address),
            IpAddr::V6(address) => self.v6(address),
        }
    }

    fn v4(&self, address: Ipv4Addr) -> Result<(), Denied> {
        let within = |(base, bits)| Cidr { base: IpAddr::V4(base), bits }.contains(address.into());
        match address {
            _ if address.is_loopback() => Err(Denied::Loopback),
            _ if address.is_link_local() => Err(Denied::LinkLocal),
            _ if address == METADATA_V4 => Err(Denied::Metadata),
            _ if RESERVED_V4.into_iter().any(within) => Err(Denied::Reserved),
            _ if address.is_private() && !self.private => Err(Denied::Private),
            _ => Ok(()),
        }
    }

    fn v6(&self, address: Ipv6Addr) -> Result<(), Denied> {
        let within = |(base, bits)| Cidr { base: IpAddr::V6(base), bits }.contains(address.into());
        match address {
            _ if address.is_loopback() => Err(Denied::Loopback),
            _ if address.is_unspecified() => Err(Denied::Reserved),
            _ if address.is_unicast_link_local() => Err(Denied::LinkLocal),
            _ if METADATA_V6.into_iter().any(within) => Err(Denied::Metadata),
            _ if RESERVED_V6.into_iter().any(within) => Err(Denied::Reserved),
            _ if within(NAT64) => self.address(last_v4(address).into()),
            _ if within(LOCAL_NAT64) => self.locally_translated(address),
            _ if address.is_unique_local() && !self.private => Err(Denied::Private),
            _ => Ok(()),
        }
    }

    /// Judges every IPv4 address that a translator could read in this one.
    ///
    /// Where it stands depends on the length of the network's own prefix (RFC
    /// 6052), and what lies behind is ignored: 8.8.8.8 to one translator may
    /// be 10.0.0.1 to another. The shorter readings are mostly empty, and no
    /// translator forwards to 0.0.0.0/8.
    fn locally_translated(&self, address: Ipv6Addr) -> Result<(), Denied> {
        let octets = address.octets();
        // The ninth octet is nobody's.
        [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12]]
            .map(|places| places.map(|place: usize| octets[place]))
            .into_iter()
            .filter(|[network, ..]| *network != 0)
            .map(Ipv4Addr::from)
            .chain([last_v4(address)])
            .try_for_each(|reading| self.address(reading.into()))
    }
}

/// The IPv4 address in the last 32 bits.
fn last_v4(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}

/// A range of addresses, such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    base: IpAddr,
    bits: u8,
}

/// Why a text is no range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an address, a slash and a prefix length, such as 10.0.0.0/8")]
pub struct CidrError;

impl Cidr {
    /// Whether the address lies in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        let (base, address, width) = match (self.base, address) {
            (IpAddr::V4(base), IpAddr::V4(address)) => {
                (u128::from(base.to_bits()), u128::from(address.to_bits()), 32)
            }
            (IpAddr::V6(base), IpAddr::V6(address)) => (base.to_bits(), address.to_bits(), 128),
            _ => return false,
        };
        let host_bits = width - u32::from(self.bits);
        (base ^ address).checked_shr(host_bits).unwrap_or(0) == 0
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        let (base, bits) = text.trim().split_once('/').ok_or(CidrError)?;
        let base: IpAddr = base.parse().map_err(|_| CidrError)?;
        let bits = bits.parse().map_err(|_| CidrError)?;
        let width = if base.is_ipv4() { 32 } else { 128 };
        if bits > width { Err(CidrError) } else { Ok(Self { base, bits }) }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.bits)
    }
}

/// Reads the old spellings of an IPv4 address that resolvers still take:
/// one to four parts, each decimal, octal or hexadecimal (`127.1`,
/// `0x7f000001`, `017700000001`).
fn legacy_v4(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u32> = text.split('.').map(legacy_number).collect::<Option<_>>()?;
    let (last, leading) = parts.split_last()?;
    if leading.len() > 3 || leading.iter().any(|part| *part > 0xff) {
        return None;
    }
    let taken = 8 * u32::try_from(leading.len()).ok()?;
    if taken > 0 && *last >= 1 << (32 - taken) {
        return None;
    }
    let high = leading.iter().enumerate().map(|(at, part)| part << (24 - 8 * at)).sum::<u32>();
    Some(Ipv4Addr::from_bits(high | last))
}

fn legacy_number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(policy: &AddressPolicy, host: &str, expected: Result<(), Denied>) {
        assert_eq!(policy.host(host).map(|_| ()), expected, "{host}");
    }

    #[test]
    fn names_of_this_machine_and_of_metadata_services_are_refused() {
        let policy = AddressPolicy::default();
        for name in
            ["localhost", "LOCALHOST.", "x.localhost", "metadata", "metadata.google.internal"]
        {
            check(&policy, name, Err(Denied::Name));
        }
        check(&policy, "git.example.org", Ok(()));
        check(&policy, "mylocalhost", Ok(()));
    }

    #[test]
    fn every_spelling_of_loopback_is_refused() {
        let policy = AddressPolicy::default();
        for host in [
            "127.0.0.1",
            "127.9.9.9",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "[::1]",
            "::ffff:127.0.0.1",
            "::1%lo",
        ] {
            check(&policy, host, Err(Denied::Loopback));
        }
    }

    #[test]
    fn reserved_and_link_local_ranges_are_refused() {
        let policy = AddressPolicy { private: true, allowed: Vec::new() };
        check(&policy, "169.254.169.254", Err(Denied::LinkLocal));
        check(&policy, "fe80::1", Err(Denied::LinkLocal));
        for host in [
            "::127.0.0.1",
            "::ffff:0:7f00:1",
            "2001::1",
            "2001:1ff::1",
            "2002:808:808::1",
            "100::1",
            "3fff::1",
            "fec0::1",
            "ff02::1",
            "0.0.0.0",
            "::",
            "100.64.0.1",
            "198.19.0.1",
            "203.0.113.9",
            "255.255.255.255",
        ] {
            check(&policy, host, Err(Denied::Reserved));
        }
        check(&policy, "2001:200::1", Ok(()));
    }

    #[test]
    fn metadata_services_are_refused_though_their_addresses_look_private_or_public() {
        let policy = AddressPolicy { private: true, allowed: Vec::new() };
        for host in [
            "168.63.129.16",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
            "fd00:c1::a9fe:a9fe",
            "fd00:42::42",
        ] {
            check(&policy, host, Err(Denied::Metadata));
        }
        check(&policy, "fd00:ec3::254", Ok(()));
    }

    #[test]
    fn a_translated_address_is_judged_by_every_ipv4_address_that_it_may_mean() {
        let policy = AddressPolicy::default();
        check(&policy, "64:ff9b::7f00:1", Err(Denied::Loopback));
        check(&policy, "64:ff9b::808:808", Ok(()));
        check(&policy, "64:ff9b:1::a00:1", Err(Denied::Private));
        check(&policy, "64:ff9b:1::808:808", Ok(()));
        // 10.0.0.1 behind a prefix of 48, 56 and 64 bits.
        check(&policy, "64:ff9b:1:a00:0:100:808:808", Err(Denied::Private));
        check(&policy, "64:ff9b:1:a:0:1:808:808", Err(Denied::Private));
        check(&policy, "64:ff9b:1:0:a:0:108:808", Err(Denied::Private));
    }

    #[test]
    fn a_spelled_address_is_returned_as_the_one_that_was_judged() {
        let policy = AddressPolicy::default();
        for (host, expected) in [
            ("134744072", Some("8.8.8.8")),
            ("010.8.8.8.", Some("8.8.8.8")),
            ("[2001:4860::1]", Some("2001:4860::1")),
            ("::ffff:8.8.8.8", Some("8.8.8.8")),
            ("git.example.org", None),
        ] {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(policy.host(host), Ok(expected), "{host}");
        }
    }

    #[test]
    fn private_addresses_need_the_administrators_word() {
        let closed = AddressPolicy::default();
        let open = AddressPolicy { private: true, allowed: Vec::new() };
        for host in ["10.1.2.3", "172.16.0.1", "192.168.1.1", "fc00::1"] {
            check(&closed, host, Err(Denied::Private));
            check(&open, host, Ok(()));
        }
        check(&closed, "172.32.0.1", Ok(()));
    }

    #[test]
    fn a_listed_range_is_admitted_whatever_it_is() {
        let policy =
            AddressPolicy { private: false, allowed: vec!["127.0.0.0/8".parse().unwrap()] };
        check(&policy, "127.0.0.1", Ok(()));
        check(&policy, "::1", Err(Denied::Loopback));
    }

    #[test]
    fn a_range_is_an_address_and_a_length() {
        assert_eq!("10.0.0.0/8".parse::<Cidr>().unwrap().to_string(), "10.0.0.0/8");
        for text in ["10.0.0.0", "10.0.0.0/33", "x/8", "10.0.0.0/-1"] {
            assert_eq!(text.parse::<Cidr>(), Err(CidrError), "{text}");
        }
        assert!("::/0".parse::<Cidr>().unwrap().contains("2001:4860::1".parse().unwrap()));
    }
}
