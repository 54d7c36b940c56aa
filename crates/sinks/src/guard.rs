//! The one door to the network.
//!
//! Sinks are named by whoever may write a manifest, and the operator stands
//! where a manifest's author does not: beside the metadata service, inside the
//! cluster's network, on its own loopback. So every connection of every sink
//! and probe is dialled by [`Guard::dial`], and lints keep other dialers out.
//!
//! That holds for connections that nobody asked for by name, too: a client
//! that reconnects, follows a redirect or is told of further brokers gets each
//! of them from the guard, which judges again. A client that would rather dial
//! by itself is handed the addresses of [`Guard::check`], never the name,
//! which could answer otherwise the second time. Proxies of the environment
//! are not asked.

mod race;
#[cfg(test)]
mod tests;

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use kollect_api::{AddressPolicy, Denied};
use kollect_inventory::schedule::ErrorClass;
use tokio::{net::TcpStream, time::timeout};

/// How long a name may take to become a connection.
const LIMIT: Duration = Duration::from_secs(10);

/// Dials what the operator's administrator allows, and nothing else.
///
/// Cheap to clone; every sink has one.
#[derive(Clone, Debug)]
pub struct Guard {
    policy: Arc<AddressPolicy>,
    resolver: Arc<dyn Resolver>,
}

/// Turns names into addresses.
#[async_trait]
pub trait Resolver: fmt::Debug + Send + Sync {
    /// Every address of the host, the preferred ones first.
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// Asks the system, as other programs on this machine do.
#[derive(Clone, Copy, Debug)]
pub struct SystemResolver;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The host is no name and no address.
    ///
    /// It is not shown: where a host is so wrong, it may be a piece of a
    /// connection string with the password in it.
    #[error(
        "the host is neither a name nor an address: write letters, digits, dashes and dots, in \
         ASCII, without escapes and zones"
    )]
    Malformed,

    /// The host, or an address that it resolves to, is not allowed.
    #[error("{host} must not be dialled{}: {reason}{}", at(*address), remedy(*reason))]
    Denied {
        host: String,
        /// The address that was refused, if it came from a resolver.
        address: Option<IpAddr>,
        reason: Denied,
    },

    /// The name has no address now.
    #[error("could not resolve {host}")]
    Resolve { host: String, source: io::Error },

    /// None of the addresses took the connection.
    #[error("could not connect to {host}, port {port}")]
    Unreachable { host: String, port: u16, source: io::Error },

    /// Neither success nor failure came in time.
    #[error("no connection to {host}, port {port}, within {} s", LIMIT.as_secs())]
    TimedOut { host: String, port: u16 },
}

impl DialError {
    /// Says whether dialling again can help; a refusal stands until someone
    /// changes the host, its addresses or the operator's flags.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Malformed | Self::Denied { .. } => ErrorClass::Terminal,
            Self::Resolve { .. } | Self::Unreachable { .. } | Self::TimedOut { .. } => {
                ErrorClass::Transient
            }
        }
    }
}

impl Guard {
    /// Judges by the policy what the resolver answers.
    pub fn new(policy: AddressPolicy, resolver: impl Resolver + 'static) -> Self {
        Self { policy: Arc::new(policy), resolver: Arc::new(resolver) }
    }

    /// Connects to the host, at one of the addresses that were judged.
    ///
    /// Resolves once; dials only numbers, both families in turn (RFC 8305). The
    /// stream sends small writes at once.
    pub async fn dial(&self, host: &str, port: u16) -> Result<TcpStream, DialError> {
        in_time(host, port, async {
            let addresses = self.judged(host, port).await?;
            race::first(addresses, connect).await.map_err(|source| DialError::Unreachable {
                host: host.to_owned(),
                port,
                source,
            })
        })
        .await
    }

    /// Resolves and judges without dialling; never empty.
    ///
    /// For clients that connect by themselves: the addresses are good for one
    /// connection, and a further one asks again.
    pub async fn check(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, DialError> {
        in_time(host, port, self.judged(host, port)).await
    }

    async fn judged(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, DialError> {
        if let Some(address) = self.literal(host)? {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let failed = |source| DialError::Resolve { host: host.to_owned(), source };
        let mut answer = self.resolver.resolve(host, port).await.map_err(failed)?;
        if answer.is_empty() {
            let none = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
            return Err(failed(none));
        }
        for address in &mut answer {
            address.set_port(port);
            // One bad address spoils the answer: whoever mixes them hopes that
            // a later attempt will take the other.
            self.policy.address(address.ip()).map_err(|reason| DialError::Denied {
                host: host.to_owned(),
                address: Some(address.ip().to_canonical()),
                reason,
            })?;
        }
        Ok(race::in_turn(answer))
    }

    /// Judges what is written, and returns the address if it is one.
    fn literal(&self, host: &str) -> Result<Option<IpAddr>, DialError> {
        let known = |c: char| c.is_ascii_alphanumeric() || "-._:%[]".contains(c);
        if !host.chars().all(known) {
            return Err(DialError::Malformed);
        }
        let denied = |reason| DialError::Denied { host: host.to_owned(), address: None, reason };
        let address = self.policy.host(host).map_err(denied)?;
        // A zone names an interface of this machine, and link-local addresses
        // alone have one.
        let misplaced: &[char] = if address.is_some() { &['%'] } else { &['%', ':', '[', ']'] };
        let empty = host.trim_matches('.').is_empty();
        if empty || host.starts_with('-') || host.contains(misplaced) {
            return Err(DialError::Malformed);
        }
        Ok(address)
    }
}

#[async_trait]
impl Resolver for SystemResolver {
    #[expect(clippy::disallowed_methods, reason = "the guard judges what is found here")]
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}

async fn in_time<T>(
    host: &str,
    port: u16,
    work: impl Future<Output = Result<T, DialError>>,
) -> Result<T, DialError> {
    let late = |_| DialError::TimedOut { host: host.to_owned(), port };
    timeout(LIMIT, work).await.map_err(late).flatten()
}

#[expect(clippy::disallowed_methods, reason = "the address is a number, and was judged")]
async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn at(address: Option<IpAddr>) -> String {
    address.map(|address| format!(" at {address}")).unwrap_or_default()
}

/// What would let the host pass.
fn remedy(reason: Denied) -> &'static str {
    match reason {
        // The reason itself names the flag.
        Denied::Private => "",
        Denied::Name => {
            " (no flag of the operator admits the name; --allow-sink-cidrs can admit an address)"
        }
        Denied::Metadata | Denied::Loopback | Denied::LinkLocal | Denied::Reserved => {
            " (the operator's --allow-sink-cidrs can admit it)"
        }
    }
}
