//! Connection strings, as a URL or as `name=value` pairs.
//!
//! Nothing of a string is ever repeated in an error: where it is wrong, any
//! piece of it may be the password.

use std::{collections::BTreeMap, fmt, time::Duration};

/// What a connection string says, taken apart.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Dsn {
    /// Tried in turn; never empty.
    pub(crate) hosts: Vec<(String, u16)>,
    pub(crate) user: String,
    pub(crate) password: Option<String>,
    pub(crate) database: String,
    pub(crate) application: Option<String>,
    /// Settings of the session, as the server's command line takes them.
    pub(crate) options: Option<String>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) ssl: SslMode,
    pub(crate) roots: Option<Roots>,
    /// Whether TLS begins at once, without asking for it.
    pub(crate) is_direct: bool,
    pub(crate) binding: Binding,
    pub(crate) most_connections: Option<usize>,
}

/// How much TLS there has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SslMode {
    Disable,
    /// If the server has it.
    Prefer,
    Require,
    /// And the certificate is signed by somebody whom we trust.
    VerifyCa,
    /// And it is for the host that we wanted.
    VerifyFull,
}

/// Whom to trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Roots {
    System,
    File(String),
}

/// Whether a login is bound to the TLS session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    Disable,
    Prefer,
    Require,
}

/// Why a connection string cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DsnError {
    #[error("the connection string is neither a URL nor a list of name=value pairs")]
    Malformed,
    #[error("the connection string has an escape that is none")]
    Escape,
    #[error("the connection string names no user")]
    User,
    #[error("the connection string names no host")]
    Host,
    #[error("the connection string has a port that is none, or not one for each host")]
    Port,
    #[error("the connection string names a unix socket, which cannot be used: name a host")]
    Socket,
    #[error("the connection string has a value for {0} that is not known")]
    Value(&'static str),
    #[error(
        "the connection string has a parameter that is not known; known are {}; settings of the \
         session go into options=-c name=value",
        KNOWN.join(", ")
    )]
    Unknown,
    #[error("client certificates are not supported: {0} must not be in the connection string")]
    ClientCertificate(&'static str),
}

const KNOWN: &[&str] = &[
    "host",
    "port",
    "user",
    "password",
    "dbname",
    "sslmode",
    "sslrootcert",
    "sslnegotiation",
    "channel_binding",
    "application_name",
    "connect_timeout",
    "options",
    "target_session_attrs",
    "gssencmode",
    "pool_max_conns",
];

/// Parameters of pools that other programs keep; ours has no such thing.
const POOL: &[&str] = &[
    "pool_min_conns",
    "pool_min_idle_conns",
    "pool_max_conn_lifetime",
    "pool_max_conn_lifetime_jitter",
    "pool_max_conn_idle_time",
    "pool_health_check_period",
];

const CLIENT_CERTIFICATE: &[&str] = &["sslcert", "sslkey", "sslpassword"];

const DEFAULT_PORT: u16 = 5432;

type Parameters = BTreeMap<String, String>;

impl Dsn {
    pub(crate) fn parse(text: &str) -> Result<Self, DsnError> {
        let url = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"));
        let parameters = match url {
            Some(rest) => of_url(rest)?,
            None => of_pairs(text)?,
        };
        Self::of(parameters)
    }

    fn of(mut parameters: Parameters) -> Result<Self, DsnError> {
        for name in CLIENT_CERTIFICATE {
            if parameters.contains_key(*name) {
                return Err(DsnError::ClientCertificate(name));
            }
        }
        for name in POOL {
            parameters.remove(*name);
        }
        let mut take = |name: &str| parameters.remove(name).filter(|value| !value.is_empty());
        let hosts = hosts(take("host"), take("port"))?;
        let user = take("user").ok_or(DsnError::User)?;
        let (dbname, database) = (take("dbname"), take("database"));
        let dsn = Self {
            hosts,
            password: take("password"),
            database: dbname.or(database).unwrap_or_else(|| user.clone()),
            user,
            application: take("application_name"),
            options: take("options"),
            connect_timeout: take("connect_timeout")
                .map(|text| text.parse().map_err(|_| DsnError::Value("connect_timeout")))
                .transpose()?
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
            ssl: ssl_mode(take("sslmode").as_deref())?,
            roots: take("sslrootcert").map(|text| match text.as_str() {
                "system" => Roots::System,
                _ => Roots::File(text),
            }),
            is_direct: match take("sslnegotiation").as_deref() {
                None | Some("postgres") => false,
                Some("direct") => true,
                Some(_) => return Err(DsnError::Value("sslnegotiation")),
            },
            binding: match take("channel_binding").as_deref() {
                None | Some("prefer") => Binding::Prefer,
                Some("disable") => Binding::Disable,
                Some("require") => Binding::Require,
                Some(_) => return Err(DsnError::Value("channel_binding")),
            },
            most_connections: take("pool_max_conns")
                .map(|text| text.parse().map_err(|_| DsnError::Value("pool_max_conns")))
                .transpose()?,
        };
        // Whoever is written to must take writes; that is looked at in any case.
        match take("target_session_attrs").as_deref() {
            None | Some("any" | "read-write" | "primary") => {}
            Some(_) => return Err(DsnError::Value("target_session_attrs")),
        }
        match take("gssencmode").as_deref() {
            None | Some("disable" | "prefer") => {}
            Some(_) => return Err(DsnError::Value("gssencmode")),
        }
        let rest = parameters.keys().any(|name| !KNOWN.contains(&name.as_str()));
        if rest { Err(DsnError::Unknown) } else { Ok(dsn) }
    }
}

impl fmt::Debug for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dsn").field("ssl", &self.ssl).finish_non_exhaustive()
    }
}

fn ssl_mode(text: Option<&str>) -> Result<SslMode, DsnError> {
    Ok(match text {
        Some("disable") => SslMode::Disable,
        None | Some("allow" | "prefer") => SslMode::Prefer,
        Some("require") => SslMode::Require,
        Some("verify-ca") => SslMode::VerifyCa,
        Some("verify-full") => SslMode::VerifyFull,
        Some(_) => return Err(DsnError::Value("sslmode")),
    })
}

/// Hosts with their ports; one port is good for all.
fn hosts(hosts: Option<String>, ports: Option<String>) -> Result<Vec<(String, u16)>, DsnError> {
    let hosts = hosts.ok_or(DsnError::Host)?;
    let ports: Vec<_> = ports.as_deref().unwrap_or_default().split(',').map(port).collect();
    let hosts: Vec<_> = hosts.split(',').map(str::trim).collect();
    if ports.len() != 1 && ports.len() != hosts.len() {
        return Err(DsnError::Port);
    }
    let mut found = Vec::new();
    for (at, host) in hosts.into_iter().enumerate() {
        if host.is_empty() {
            return Err(DsnError::Host);
        }
        if host.starts_with(['/', '@']) {
            return Err(DsnError::Socket);
        }
        let port = *ports.get(at).or(ports.first()).unwrap_or(&None);
        found.push((host.to_owned(), port.ok_or(DsnError::Port)?));
    }
    Ok(found)
}

fn port(text: &str) -> Option<u16> {
    if text.is_empty() { Some(DEFAULT_PORT) } else { text.parse().ok().filter(|port| *port > 0) }
}

/// The parameters of a URL whose scheme has been taken off.
fn of_url(rest: &str) -> Result<Parameters, DsnError> {
    let mut parameters = Parameters::new();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user_info, addresses) = match authority.rsplit_once('@') {
        Some((user_info, addresses)) => (Some(user_info), addresses),
        None => (None, authority),
    };
    let mut set = |name: &str, value: &str| -> Result<(), DsnError> {
        parameters.insert(decoded(name)?, decoded(value)?);
        Ok(())
    };
    if let Some(user_info) = user_info {
        match user_info.split_once(':') {
            Some((user, password)) => {
                set("user", user)?;
                set("password", password)?;
            }
            None => set("user", user_info)?,
        }
    }
    set("dbname", database)?;
    if !addresses.is_empty() {
        let split: Vec<_> = addresses.split(',').map(address).collect();
        let list = |part: fn(&(&str, &str)) -> String| {
            split.iter().map(part).collect::<Vec<_>>().join(",")
        };
        set("host", &list(|(host, _)| (*host).to_owned()))?;
        set("port", &list(|(_, port)| (*port).to_owned()))?;
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or(DsnError::Malformed)?;
        set(name, value)?;
    }
    Ok(parameters)
}

/// Host and port; what is in brackets holds colons of its own.
fn address(text: &str) -> (&str, &str) {
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        return (host, rest.strip_prefix(':').unwrap_or(rest));
    }
    text.rsplit_once(':').unwrap_or((text, ""))
}

fn decoded(text: &str) -> Result<String, DsnError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || {
            let digit = rest.next().and_then(|byte| char::from(byte).to_digit(16));
            digit.and_then(|digit| u8::try_from(digit).ok()).ok_or(DsnError::Escape)
        };
        let (high, low) = (digit()?, digit()?);
        bytes.push(high * 16 + low);
    }
    String::from_utf8(bytes).map_err(|_| DsnError::Escape)
}

/// The parameters of `name = 'value'` pairs.
fn of_pairs(text: &str) -> Result<Parameters, DsnError> {
    let mut parameters = Parameters::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or(DsnError::Malformed)?;
        let name = name.trim();
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(DsnError::Malformed);
        }
        let (value, after) = value(after.trim_start())?;
        parameters.insert(name.to_owned(), value);
        rest = after.trim_start();
    }
    Ok(parameters)
}

/// One value, and what follows it.
fn value(text: &str) -> Result<(String, &str), DsnError> {
    let is_quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut rest = text.chars();
    if is_quoted {
        rest.next();
    }
    loop {
        match rest.next() {
            Some('\\') => value.push(rest.next().ok_or(DsnError::Malformed)?),
            Some('\'') if is_quoted => return Ok((value, rest.as_str())),
            Some(one) if one.is_whitespace() && !is_quoted => return Ok((value, rest.as_str())),
            Some(one) => value.push(one),
            None if is_quoted => return Err(DsnError::Malformed),
            None => return Ok((value, "")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Dsn {
        Dsn::parse(text).unwrap()
    }

    #[track_caller]
    fn refused(text: &str, expected: DsnError) {
        assert_eq!(Dsn::parse(text).unwrap_err(), expected);
    }

    #[test]
    fn a_url_is_taken_apart_and_its_escapes_are_read() {
        let dsn = parsed(
            "postgresql://ada%40x:p%2Fs%20s@db.example:6432/in%20v?sslmode=verify-full&application_name=a%26b",
        );
        assert_eq!(dsn.hosts, [("db.example".to_owned(), 6432)]);
        assert_eq!((dsn.user.as_str(), dsn.password.as_deref()), ("ada@x", Some("p/s s")));
        assert_eq!((dsn.database.as_str(), dsn.ssl), ("in v", SslMode::VerifyFull));
        assert_eq!(dsn.application.as_deref(), Some("a&b"));
    }

    #[test]
    fn pairs_say_the_same_with_quotes_and_backslashes() {
        let dsn = parsed(r"host = db.example port=6432 user=ada password='it\'s \\ me' dbname=inv");
        assert_eq!(dsn.hosts, [("db.example".to_owned(), 6432)]);
        assert_eq!(dsn.password.as_deref(), Some(r"it's \ me"));
        assert_eq!((dsn.database.as_str(), dsn.ssl), ("inv", SslMode::Prefer));
    }

    #[test]
    fn several_hosts_have_their_ports_or_share_one() {
        let both = [("a".to_owned(), 1), ("::1".to_owned(), 5432)];
        assert_eq!(parsed("postgres://u@a:1,[::1]/d").hosts, both);
        let shared = [("a".to_owned(), 7), ("b".to_owned(), 7)];
        assert_eq!(parsed("host=a,b port=7 user=u").hosts, shared);
        refused("host=a,b,c port=1,2 user=u", DsnError::Port);
        refused("host=a port=x user=u", DsnError::Port);
    }

    #[test]
    fn sockets_are_refused_however_they_are_written() {
        for text in [
            "host=/var/run/postgresql user=u",
            "host=@abstract user=u",
            "postgres://u@%2Fvar%2Frun/d",
            "postgres://u@/d?host=/tmp",
        ] {
            refused(text, DsnError::Socket);
        }
        refused("postgres:///d?user=u", DsnError::Host);
        refused("user=u dbname=d", DsnError::Host);
    }

    #[test]
    fn the_user_names_the_database_unless_there_is_another_name() {
        assert_eq!(parsed("postgres://ada@h").database, "ada");
        assert_eq!(parsed("postgres://ada@h/?database=inv").database, "inv");
        refused("postgres://h/d", DsnError::User);
    }

    #[test]
    fn parameters_of_tls_and_pools_are_understood() {
        let dsn = parsed(
            "postgres://u@h/d?sslmode=verify-ca&sslrootcert=/ca.pem&pool_max_conns=2&pool_min_conns=1&target_session_attrs=read-write&connect_timeout=3",
        );
        assert_eq!((dsn.ssl, dsn.roots), (SslMode::VerifyCa, Some(Roots::File("/ca.pem".into()))));
        assert_eq!(dsn.most_connections, Some(2));
        assert_eq!(dsn.connect_timeout, Some(Duration::from_secs(3)));
        assert_eq!(parsed("postgres://u@h/d?sslrootcert=system").roots, Some(Roots::System));
        refused("postgres://u@h/d?sslmode=strict", DsnError::Value("sslmode"));
        refused("postgres://u@h/d?sslcert=x", DsnError::ClientCertificate("sslcert"));
        refused(
            "postgres://u@h/d?target_session_attrs=standby",
            DsnError::Value("target_session_attrs"),
        );
    }

    #[test]
    fn no_error_and_no_debug_text_repeats_a_piece_of_it() {
        let texts = [
            "hunter22",
            "postgres://u:hunter22",
            "postgres://u:p?hunter22=1@h/d",
            "postgres://u:p?hunter22@h/d",
            "postgres://u:%zzhunter22@h/d",
            "host=h user=u password='hunter22",
            "host=h user=u hunter22 = x",
            "host=h port=hunter22 user=u",
            "host=h user=u sslmode=hunter22",
        ];
        for text in texts {
            let said = Dsn::parse(text).map_or_else(|error| error.to_string(), |_| String::new());
            assert!(!said.contains("hunter22"), "{said}");
        }
        let shown = format!("{:?}", parsed("postgres://ada:hunter22@h/d"));
        assert!(!shown.contains("hunter22") && !shown.contains("ada"), "{shown}");
    }
}
