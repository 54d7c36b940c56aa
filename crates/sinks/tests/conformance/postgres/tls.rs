//! Who is believed to be the server, where it may be, and what is never said.

use std::{io, net::SocketAddr};

use async_trait::async_trait;
use kollect_api::AddressPolicy;
use kollect_inventory::schedule::ErrorClass;
use kollect_sinks::{
    SinkError,
    guard::{Guard, Resolver},
};
use kollect_testenv::{Durability, Postgres, postgres_programs};
use serde_json::{Value, json};

use super::{guard, open};

/// Every name is this machine.
#[derive(Debug)]
struct Here;

#[async_trait]
impl Resolver for Here {
    async fn resolve(&self, _: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))])
    }
}

fn here() -> Guard {
    let allowed = vec!["127.0.0.0/8".parse().unwrap()];
    Guard::new(AddressPolicy { private: false, allowed }, Here)
}

async fn probe(dsn: &str, ca: &str, more: Value) -> Result<String, SinkError> {
    open((dsn, ca), more, here()).unwrap().probe().await
}

/// An error and everything behind it.
fn told(error: &SinkError) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    format!("{error} {} {error:?}", cause.unwrap_or_default())
}

#[tokio::test]
async fn a_certificate_is_asked_for_what_the_mode_says() {
    let Some(server) = Postgres::shared() else { return };
    let dsn = server.dsn("postgres");
    let elsewhere = dsn.replace("127.0.0.1", "db.example");
    let file = format!("sslrootcert={}", server.ca_path().display());
    let unverified = "the server's certificate is not verified";
    for (dsn, query, is_verified) in [
        (&dsn, "sslmode=disable".to_owned(), false),
        (&dsn, "sslmode=prefer".to_owned(), false),
        (&dsn, "sslmode=require".to_owned(), false),
        (&elsewhere, "sslmode=require".to_owned(), false),
        (&dsn, format!("sslmode=require&{file}"), true),
        (&dsn, format!("sslmode=verify-ca&{file}"), true),
        (&elsewhere, format!("sslmode=verify-ca&{file}"), true),
        (&dsn, format!("sslmode=verify-full&{file}"), true),
    ] {
        let said = probe(&format!("{dsn}?{query}"), "", json!({})).await;
        let said = said.unwrap_or_else(|error| panic!("{query}: {}", told(&error)));
        assert_eq!(!said.contains(unverified), is_verified, "{query}: {said}");
    }
    for (dsn, query) in [
        (&elsewhere, format!("sslmode=verify-full&{file}")),
        (&dsn, "sslmode=verify-full".to_owned()),
        (&dsn, "sslmode=verify-ca".to_owned()),
    ] {
        let Ok(sink) = open((&format!("{dsn}?{query}"), ""), json!({}), here()) else {
            // A system that trusts nobody says so before anything is dialled.
            continue;
        };
        let error = sink.probe().await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Terminal, "{query}: {error}");
        assert!(told(&error).contains("TLS is not accepted"), "{query}: {}", told(&error));
    }
}

#[tokio::test]
async fn the_wrong_authority_is_refused_and_the_sinks_own_settings_win() {
    let (Some(server), Some(programs)) = (Postgres::shared(), postgres_programs()) else { return };
    let other = Postgres::start(&programs, Durability::Unsynced).unwrap();
    let dsn = server.dsn("postgres");
    let ca = json!({"tls": {"caSecretRef": {"name": "ca"}}});
    for query in ["sslmode=verify-full", "sslmode=require", "sslmode=disable"] {
        let dsn = format!("{dsn}?{query}");
        let error = probe(&dsn, &other.ca_pem(), ca.clone()).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Terminal);
        assert!(told(&error).contains("TLS is not accepted"), "{}", told(&error));
        probe(&dsn, &server.ca_pem(), ca.clone()).await.unwrap();
    }
    let skip = json!({"tls": {"insecureSkipVerify": true}});
    let said = probe(&format!("{dsn}?sslmode=verify-full"), "", skip).await.unwrap();
    assert!(said.contains("not verified"), "{said}");
}

#[tokio::test]
async fn private_addresses_are_dialled_only_where_that_is_allowed() {
    let Some(server) = Postgres::shared() else { return };
    let dsn = server.dsn("postgres");
    for dsn in
        [dsn.clone(), dsn.replace("127.0.0.1", "localhost"), dsn.replace("127.0.0.1", "[::1]")]
    {
        let sink = open((&dsn, ""), json!({}), guard(&[])).unwrap();
        let error = sink.probe().await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Terminal);
        assert!(error.to_string().contains("must not be dialled"), "{error}");
    }
    let socket = "postgres://u:hunter22@%2Fvar%2Frun%2Fpostgresql/d";
    let error = open((socket, ""), json!({}), guard(&[])).unwrap_err();
    assert!(error.contains("unix socket") && !error.contains("hunter22"), "{error}");
}

#[tokio::test]
async fn nothing_of_the_connection_string_is_in_any_error() {
    let Some(server) = Postgres::shared() else { return };
    let secret = "hunter22%2Fand-more";
    let port = server.address().port();
    let strings = [
        // A login that fails, a database that is not there, a port that nobody has.
        format!("postgres://kollect:{secret}@127.0.0.1:{port}/postgres"),
        format!("postgres://kollect:{}@127.0.0.1:{port}/none", server.password()),
        format!("postgres://kollect:{secret}@127.0.0.1:1/postgres"),
        format!("postgres://kollect:{secret}@127.0.0.1:{port}/postgres?sslmode=verify-full"),
    ];
    for dsn in strings {
        let sink = match open((&dsn, ""), json!({}), here()) {
            Ok(sink) => sink,
            Err(said) => {
                assert!(!said.contains("hunter22") && !said.contains("127.0.0.1"), "{said}");
                continue;
            }
        };
        let said = told(&sink.probe().await.unwrap_err());
        for piece in ["hunter22", server.password(), "127.0.0.1", &port.to_string(), "postgres://"]
        {
            assert!(!said.contains(piece), "{piece} is in {said}");
        }
        let shown = format!("{sink:?}");
        assert!(!shown.contains("hunter22") && !shown.contains(server.password()), "{shown}");
    }
}

#[tokio::test]
async fn the_next_host_is_tried_when_one_does_not_answer() {
    let Some(server) = Postgres::shared() else { return };
    let address = server.address().to_string();
    let dsn = server.dsn("postgres").replace(&address, &format!("127.0.0.1:1,{address}"));
    let said = probe(&format!("{dsn}?target_session_attrs=read-write"), "", json!({})).await;
    assert!(said.unwrap().starts_with("PostgreSQL "));
    let read_only = format!("{dsn}?options=-c%20default_transaction_read_only%3Don");
    let error = probe(&read_only, "", json!({})).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Transient);
}
