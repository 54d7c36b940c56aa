//! From what users write to what the sink works with.

use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kollect_api::{DatabaseSinkSpec, ExportInterval, ProvisioningMode, SinkCommon};

use super::{
    dsn::{Dsn, DsnError},
    layout::Table,
    tls::{TlsError, TlsOverride, TlsPolicy},
};
use crate::{credentials::Credentials, local::LocalPathError};

/// Keys of the Secret that may hold the connection string.
const DSN_KEYS: &[&str] = &["dsn", "url", "connectionString", "DATABASE_URL"];

const STATEMENT_TIMEOUT: Duration = Duration::from_mins(1);
const MOST_CONNECTIONS: usize = 4;

/// A table in a database, and how to get there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresSettings {
    pub(super) dsn: Dsn,
    pub(super) tls: TlsPolicy,
    pub(super) table: Table,
    pub(super) mode: ProvisioningMode,
    pub(super) statement_timeout: Duration,
    pub(super) most_connections: usize,
}

/// Why a sink's settings cannot be used; nothing of the connection string is in it.
#[derive(Debug, thiserror::Error)]
pub enum PostgresSettingsError {
    #[error("spec.postgres: the block is missing")]
    Missing,
    #[error("spec.postgres.databaseRef: the Secret holds none of {}", DSN_KEYS.join(", "))]
    NoDsn,
    #[error("spec.postgres.databaseRef: {0}")]
    Dsn(String),
    #[error("spec.postgres.databaseRef: sslrootcert cannot be read")]
    Roots(#[source] RootsError),
    #[error("spec.postgres.{field}: {reason}")]
    Name { field: &'static str, reason: &'static str },
    #[error("spec.tls: {0}")]
    Tls(String),
    #[error("spec.options.{name}: {reason}")]
    Option { name: &'static str, reason: String },
}

/// Why a file of certificates cannot be read. Its name is part of a Secret.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    #[error("the operator's administrator does not let sinks name such a file")]
    Path(LocalPathError),
    #[error("the file cannot be read: {0}")]
    Read(std::io::ErrorKind),
}

impl From<DsnError> for PostgresSettingsError {
    fn from(error: DsnError) -> Self {
        Self::Dsn(error.to_string())
    }
}

impl From<TlsError> for PostgresSettingsError {
    fn from(error: TlsError) -> Self {
        Self::Tls(error.to_string())
    }
}

impl PostgresSettings {
    /// Checks what a user wrote. `resolve` says where a file may be that a
    /// connection string names.
    pub fn new(
        spec: &DatabaseSinkSpec,
        credentials: &Credentials,
        resolve: impl Fn(&str) -> Result<PathBuf, LocalPathError>,
    ) -> Result<Self, PostgresSettingsError> {
        let table = table(spec)?;
        let dsn = Dsn::parse(credentials.get(DSN_KEYS).ok_or(PostgresSettingsError::NoDsn)?)?;
        let over = tls_override(&spec.common, credentials)?;
        let read = |path: &str| {
            let path = resolve(path).map_err(RootsError::Path)?;
            read_to_string(&path)
        };
        let tls = TlsPolicy::new((dsn.ssl, dsn.roots.as_ref()), &over, read)
            .map_err(PostgresSettingsError::Roots)?;
        // What cannot be trusted is better known now than at the first export.
        tls.client()?;
        let provisioning = spec.common.provisioning.as_ref();
        let most_connections = connections(&spec.common, &dsn)?;
        does_not_touch(&spec.common)?;
        Ok(Self {
            mode: provisioning.and_then(|one| one.mode).unwrap_or(ProvisioningMode::Ensure),
            statement_timeout: statement_timeout(&spec.common)?,
            most_connections,
            dsn,
            tls,
            table,
        })
    }

    /// Whether somebody else could answer in the server's place.
    pub fn is_insecure(&self) -> bool {
        self.tls.is_insecure()
    }
}

/// The statements that make the tables of a sink.
pub(crate) fn expected_ddl(spec: &DatabaseSinkSpec) -> Result<String, PostgresSettingsError> {
    let table = table(spec)?;
    Ok(format!("{};\n{};\n", table.create_items(), table.create_records()))
}

/// Whether a connection string lets somebody else answer in the server's
/// place. For this no file of certificates has to be read.
pub(crate) fn is_insecure(spec: &DatabaseSinkSpec, credentials: &Credentials) -> bool {
    let dsn = credentials.get(DSN_KEYS).and_then(|text| Dsn::parse(text).ok());
    let (Some(dsn), Ok(over)) = (dsn, tls_override(&spec.common, credentials)) else {
        return false;
    };
    let unread = |_: &str| Ok::<_, Infallible>(String::new());
    let policy = TlsPolicy::new((dsn.ssl, dsn.roots.as_ref()), &over, unread);
    policy.is_ok_and(|policy| policy.is_insecure())
}

fn table(spec: &DatabaseSinkSpec) -> Result<Table, PostgresSettingsError> {
    let block = spec.postgres.as_ref().ok_or(PostgresSettingsError::Missing)?;
    let schema = block.schema.as_deref().filter(|schema| !schema.is_empty());
    Ok(Table::new(name("schema", schema.unwrap_or("public"))?, name("table", &block.table)?))
}

fn read_to_string(path: &Path) -> Result<String, RootsError> {
    std::fs::read_to_string(path).map_err(|error| RootsError::Read(error.kind()))
}

/// PostgreSQL cuts longer names without a word.
fn name<'a>(field: &'static str, text: &'a str) -> Result<&'a str, PostgresSettingsError> {
    let reason = match text {
        "" => "it is empty",
        long if long.len() > 63 => "it is longer than 63 bytes",
        nul if nul.contains('\0') => "it holds a NUL character",
        _ => return Ok(text),
    };
    Err(PostgresSettingsError::Name { field, reason })
}

fn tls_override(
    common: &SinkCommon,
    credentials: &Credentials,
) -> Result<TlsOverride, PostgresSettingsError> {
    let Some(tls) = &common.tls else { return Ok(TlsOverride::default()) };
    let ca =
        match &tls.ca_bundle {
            Some(bundle) => {
                let compact: String = bundle.split_whitespace().collect();
                let bytes = STANDARD.decode(compact).ok();
                let pem = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
                Some(pem.ok_or_else(|| {
                    PostgresSettingsError::Tls("caBundle is no PEM in base64".into())
                })?)
            }
            None if tls.ca_secret_ref.is_some() => {
                let pem = credentials.ca().map(str::to_owned);
                let none =
                    || PostgresSettingsError::Tls("the Secret of caSecretRef was not read".into());
                Some(pem.ok_or_else(none)?)
            }
            None => None,
        };
    Ok(TlsOverride { skip: tls.insecure_skip_verify.unwrap_or(false), ca })
}

fn statement_timeout(common: &SinkCommon) -> Result<Duration, PostgresSettingsError> {
    let name = "statement_timeout";
    let Some(text) = common.options.get(name) else { return Ok(STATEMENT_TIMEOUT) };
    let wrong = |reason: String| PostgresSettingsError::Option { name, reason };
    let length = ExportInterval::from(text.as_str()).duration();
    let length = length.map_err(|error| wrong(error.to_string()))?;
    // For the server, zero means no limit at all.
    if length < Duration::from_secs(1) {
        return Err(wrong("it is less than a second".to_owned()));
    }
    Ok(length)
}

fn connections(common: &SinkCommon, dsn: &Dsn) -> Result<usize, PostgresSettingsError> {
    let name = "max_conns";
    let wrong = || PostgresSettingsError::Option {
        name,
        reason: "it is no number from 1 to 100".to_owned(),
    };
    let given = match common.options.get(name) {
        Some(text) => Some(text.trim().parse().map_err(|_| wrong())?),
        None => dsn.most_connections,
    };
    match given.unwrap_or(MOST_CONNECTIONS) {
        number @ 1..=100 => Ok(number),
        _ => Err(wrong()),
    }
}

/// Rows that do not change are not written, so the time on them stands still.
fn does_not_touch(common: &SinkCommon) -> Result<(), PostgresSettingsError> {
    let name = "touch_exported_at";
    match common.options.get(name).map(|text| text.trim()) {
        None | Some("false") => Ok(()),
        Some(_) => {
            let reason = "rows are written when they change and at no other time; \
                updated_at of the table beside them says when a copy was last current";
            Err(PostgresSettingsError::Option { name, reason: reason.to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn settings(spec: &str, dsn: &str) -> Result<PostgresSettings, String> {
        let spec: DatabaseSinkSpec = serde_json::from_str(spec).unwrap();
        let values = BTreeMap::from([("url".to_owned(), dsn.to_owned())]);
        let credentials = Credentials::new(values, "1");
        let refused = |_: &str| Err(LocalPathError::NoRoot);
        PostgresSettings::new(&spec, &credentials, refused).map_err(|error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            format!("{error} {}", cause.unwrap_or_default()).trim_end().to_owned()
        })
    }

    fn spec(more: &str) -> String {
        format!(
            r#"{{"type":"postgres","postgres":{{"databaseRef":{{"name":"s"}},"table":"items"}}{more}}}"#
        )
    }

    const DSN: &str = "postgres://ada:hunter22@db.example/inv?sslmode=require";

    #[test]
    fn what_is_not_said_has_its_default() {
        let settings = settings(&spec(""), DSN).unwrap();
        assert_eq!(settings.statement_timeout, Duration::from_mins(1));
        assert_eq!((settings.most_connections, settings.mode), (4, ProvisioningMode::Ensure));
        assert!(settings.is_insecure());
        assert!(!format!("{settings:?}").contains("hunter22"));
    }

    #[test]
    fn options_are_read_and_wrong_ones_named() {
        let more = r#","options":{"statement_timeout":"5s","max_conns":"2"},"provisioning":{"mode":"existing"}"#;
        let good = settings(&spec(more), DSN).unwrap();
        assert_eq!((good.statement_timeout, good.most_connections), (Duration::from_secs(5), 2));
        assert_eq!(good.mode, ProvisioningMode::Existing);
        for (option, expected) in [
            (r#""max_conns":"0""#, "spec.options.max_conns: it is no number from 1 to 100"),
            (
                r#""statement_timeout":"0s""#,
                "spec.options.statement_timeout: it is less than a second",
            ),
        ] {
            let more = format!(r#","options":{{{option}}}"#);
            assert_eq!(settings(&spec(&more), DSN).unwrap_err(), expected);
        }
        let touch = settings(&spec(r#","options":{"touch_exported_at":"true"}"#), DSN).unwrap_err();
        assert!(
            touch.starts_with("spec.options.touch_exported_at: rows are written when"),
            "{touch}"
        );
    }

    #[test]
    fn a_secret_that_cannot_be_used_is_not_shown() {
        let said = settings(&spec(""), "  ").unwrap_err();
        assert_eq!(
            said,
            "spec.postgres.databaseRef: the Secret holds none of dsn, url, connectionString, DATABASE_URL"
        );
        let said = settings(&spec(""), "postgres://ada:hunter22@/inv").unwrap_err();
        assert_eq!(said, "spec.postgres.databaseRef: the connection string names no host");
        let said = settings(&spec(""), &format!("{DSN}&sslrootcert=/etc/hunter22")).unwrap_err();
        assert!(
            said.contains("does not let sinks name such a file") && !said.contains("hunter22"),
            "{said}"
        );
    }

    #[test]
    fn names_that_the_server_would_cut_are_refused() {
        let long = spec("").replace("items", &"ü".repeat(32));
        assert_eq!(
            settings(&long, DSN).unwrap_err(),
            "spec.postgres.table: it is longer than 63 bytes"
        );
    }

    #[test]
    fn certificates_of_the_sink_must_be_some() {
        let said = settings(&spec(r#","tls":{"caBundle":"%%"}"#), DSN).unwrap_err();
        assert_eq!(said, "spec.tls: caBundle is no PEM in base64");
        let said = settings(&spec(r#","tls":{"caBundle":"bm90aGluZw=="}"#), DSN).unwrap_err();
        assert_eq!(said, "spec.tls: the certificates to trust are no PEM, or none");
        let said = settings(&spec(r#","tls":{"caSecretRef":{"name":"ca"}}"#), DSN).unwrap_err();
        assert_eq!(said, "spec.tls: the Secret of caSecretRef was not read");
    }
}
