//! Nothing is passed over that could be found.

use proptest::prelude::*;

use super::*;
use crate::redact::shapes::SHAPES;

/// Whole words, each of which some question looks for.
const WORDS: &[&str] = &[
    ": ",
    "://",
    "***",
    "password",
    "Password",
    "token",
    "apiKey",
    "db_pass",
    "name",
    "key",
    "value",
    "auth",
    "secrets",
    "pin",
    "http",
    "postgres",
    "tcp(",
    "host",
    "5432",
    "thin:",
    "mysql",
    "-p",
    "curl",
    "-u",
    "--user",
    "redis-cli",
    "-a",
    "requirepass ",
    "masterauth ",
    "login me password ",
    "Bearer ",
    "bEARER ",
    "Basic ",
    "bASIC ",
    "dXNlcjpwYXNz",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "PuTTY-User-Key-File-2: x",
    "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCg",
    "eyJhbGciOiJub25lIn0",
    "ewogImFsZyI6Im5vbmUifQ",
    ".e30.c2ln",
    "SG.",
    "123456789:AA",
    "${X}",
    "sha256",
    "sha256:",
];

/// Pieces that secrets are made of, and what they stand among.
fn piece() -> impl Strategy<Value = String> {
    let signs: Vec<_> = ":=><@-$?&/. \n\t\"'`\\{}[](),;|#_üé".chars().collect();
    let prefixes: Vec<_> = SHAPES.iter().map(|shape| shape.prefix).collect();
    prop_oneof![
        4 => prop::sample::select(signs).prop_map(String::from),
        4 => prop::sample::select(WORDS).prop_map(str::to_owned),
        3 => prop::sample::select(prefixes).prop_map(str::to_owned),
        1 => "[A-Z2-7]{16}",
        2 => "[a-zA-Z0-9]{30,50}",
        1 => "[a-f0-9]{32,40}",
        1 => "[a-zA-Z0-9_/+-]{1,24}",
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, cases: 4096, ..ProptestConfig::default()
    })]

    #[test]
    fn asking_everywhere_finds_no_more(pieces in prop::collection::vec(piece(), 0..8)) {
        let text = pieces.concat();
        let keys = Keys::new(["pin"]);
        let scan = Scan { text: &text, bytes: text.as_bytes(), keys: &keys };
        let everywhere = |bytes: &[u8], from: usize| (from < bytes.len()).then_some(from);
        prop_assert_eq!(scan.secrets(places::next), scan.secrets(everywhere));
    }
}

/// Else the test above would show nothing about it.
#[test]
fn every_shape_is_found_alone_and_within_a_text() {
    let keys = Keys::default();
    for shape in SHAPES {
        let body = [
            "A2B3C4D5E6F7A2B3",
            "a1b2C3d4".repeat(8).as_str(),
            "0123456789abcdef".repeat(2).as_str(),
        ]
        .map(|body| format!("{}{body}", shape.prefix));
        for around in ["", "x ", "(", "a_"] {
            let found = body.iter().any(|secret| {
                let text = format!("{around}{secret}");
                let scan = Scan { text: &text, bytes: text.as_bytes(), keys: &keys };
                scan.secrets(places::next).iter().any(|found| found.end == text.len())
            });
            assert!(found, "{around}{}", shape.prefix);
        }
    }
}
