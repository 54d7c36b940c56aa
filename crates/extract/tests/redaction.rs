//! What is hidden, and what stays.
//!
//! The cases are files in `fixtures/redaction`: a new case is a new line or a
//! new file. Secrets are not written there: `{{github}}` and the like become
//! values of that shape, each a different one.

use kollect_extract::redact::{Findings, Keys, Reason, redact, redact_attribute};
use proptest::prelude::*;
use serde_json::{Value, json};

use support::{Mint, files, fixture, hide, hide_attribute, leaves, stand_in};

/// The reference's table, and what we hide beyond it. `KEY` is what stands in.
#[test]
fn the_table_holds() {
    let keys = Keys::new(["pin", "IV"]);
    for case in fixture("table.json").as_array().unwrap() {
        let attribute = case["attribute"].as_str().unwrap();
        let (value, _) = hide_attribute(attribute, &case["input"], &keys);
        assert_eq!(value, stand_in(&case["output"]), "{case}");
    }
}

#[test]
fn no_planted_secret_survives() {
    let mut mint = Mint::default();
    let mut leaked = Vec::new();
    for (path, text) in files("planted") {
        let from = mint.minted.len();
        let planted: Value = serde_json::from_str(&mint.expand(&text)).unwrap();
        let input = planted.to_string();
        let (value, found) = hide(&planted, &Keys::default());
        let output = value.to_string();
        for (kind, secret) in mint.minted.iter().skip(from) {
            assert!(input.contains(secret), "{path}: {kind} was not planted");
            if output.contains(secret) {
                leaked.push(format!("{path}: {kind} {secret}"));
            }
        }
        let named = format!("{found:?}");
        assert!(mint.minted.iter().all(|(_, secret)| !named.contains(secret)), "{path}: {named}");
        assert_eq!(hide(&value, &Keys::default()), (value, Findings::default()), "{path}");
    }
    println!("{} planted, {} leaked", mint.minted.len(), leaked.len());
    assert!(leaked.is_empty(), "leaked:\n{}", leaked.join("\n"));
    assert!(mint.minted.len() >= 60);
}

#[test]
fn harmless_values_stay_as_they_are() {
    let mut count = 0;
    for (path, text) in files("harmless") {
        let values: Vec<Value> = serde_json::from_str(&text).unwrap();
        for value in values {
            let (after, found) = hide(&value, &Keys::default());
            assert_eq!(
                (after.to_string(), found),
                (value.to_string(), Findings::default()),
                "{path}"
            );
            count += leaves(&value);
        }
    }
    println!("{count} harmless values stay");
    assert!(count >= 40);
}

/// Pairs of a text and what becomes of it; `null` for a secret as a whole.
#[test]
fn a_secret_in_a_text_is_masked_and_the_rest_stays_readable() {
    let mut mint = Mint::default();
    for pair in fixture("texts.json").as_array().unwrap() {
        let text = mint.expand(pair[0].as_str().unwrap());
        let expected = match &pair[1] {
            Value::Null => json!({"reason": "sensitive-value", "redacted": true}),
            expected => expected.clone(),
        };
        let (value, found) = hide(&json!([text]), &Keys::default());
        assert_eq!(value, json!([expected]), "{text}");
        assert_eq!(found.total(), 1, "{text}");
    }
}

#[test]
fn a_key_that_begins_in_a_value_is_hidden_to_its_end() {
    let mut mint = Mint::default();
    let body = mint.expand("{{base64}}\n{{base64}}");
    let text = format!(
        "for auth: -----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nport: 1"
    );
    let (value, _) = hide(&json!([text]), &Keys::default());
    assert_eq!(value, json!(["for auth: ***\nport: 1"]));
    let (value, _) = hide(&json!(["of key: PuTTY-User-Key-File-3: x\na\nb"]), &Keys::default());
    assert_eq!(value, json!(["of key: ***"]));
}

#[test]
fn a_text_that_is_json_once_its_key_is_masked_is_read_as_json() {
    let body = Mint::default().expand("{{base64}}");
    let key = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----");
    // Lines end in no text of JSON.
    let text = format!("{{\"a\":\"{key}\",\"b\":[\"--password\",\"p\"]}}");
    let (value, _) = hide(&json!([text]), &Keys::default());
    let inner: Value = serde_json::from_str(value[0].as_str().unwrap()).unwrap();
    assert_eq!(inner["b"][1], json!({"reason": "sensitive-key", "redacted": true}));
    assert_eq!(hide(&value, &Keys::default()), (value, Findings::default()));
}

#[test]
fn a_secret_under_the_first_of_two_equal_keys_is_not_overlooked() {
    let text = Mint::default().expand("{\"a\":\"{{github}}\",\"a\":\"b: c\"}");
    let (value, found) = hide(&json!([text]), &Keys::default());
    assert_eq!(value, json!(["{\"a\":\"b: c\"}"]));
    assert_eq!(found.total(), 1);
}

#[test]
fn what_is_masked_already_is_no_finding() {
    let masked = json!({"token": "***", "note": "{\"token\":\"***\"}"});
    assert_eq!(hide(&masked, &Keys::default()), (masked, Findings::default()));
}

#[test]
fn findings_say_where_and_why() {
    let github = Mint::default().expand("{{github}}");
    let object = json!({
        "spec": {"containers": [{"env": [
            {"name": "A", "value": "b"},
            {"name": "DB_PASSWORD", "value": "c"},
            {"name": "GH", "value": github},
        ]}]},
        "metadata": {"annotations": {"a.example/b": "redis://:pw@h"}},
    });
    let (_, found) = hide(&object, &Keys::default());
    let named: Vec<_> = found.named().iter().map(|one| (one.place.as_str(), one.reason)).collect();
    assert_eq!(
        named,
        [
            ("metadata.annotations['a.example/b']", Reason::SecretInText),
            ("spec.containers[0].env[1].value", Reason::SensitiveKey),
            ("spec.containers[0].env[2].value", Reason::SensitiveValue),
        ]
    );
    let (_, found) = hide_attribute("token", &json!("abc"), &Keys::default());
    assert_eq!(found.named()[0].place, "token");
}

#[test]
fn a_hundred_places_are_named_and_all_are_counted() {
    let many: Vec<Value> = (0..250).map(|_| json!({"password": "x"})).collect();
    let (_, found) = hide(&json!(many), &Keys::default());
    assert_eq!((found.named().len(), found.total()), (100, 250));
    assert_eq!(found.named()[99].place, "[99].password");
}

#[test]
fn a_name_that_is_a_secret_is_masked_and_the_map_stays_in_order() {
    let github = Mint::default().expand("{{github}}");
    let (value, found) = hide(&json!({github: 1, "a": 2}), &Keys::default());
    assert_eq!(value, json!({"***": 1, "a": 2}));
    assert_eq!(found.named()[0].place, "['***']");
}

/// Each would take minutes if the work grew faster than the text.
#[test]
fn long_texts_are_read_in_a_bounded_number_of_passes() {
    let hostile = [
        "password",
        "token: ",
        "a=",
        "tokens: [",
        "auth:\n ",
        "@",
        "u:p@",
        "://",
        "x://a:b/",
        "pypi-",
        "sk-",
        "eyJ-",
        "eyJ.",
        "eyJa.b.",
        "-",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY",
        "\"password\": \\",
        "$2a$",
        "<password>",
        "name: token\n",
        "requirepass ",
        " ",
        "bearer a ",
        "mysql -p ",
        "password=a;",
        "LS0tLS1CRUdJTi",
        "token=${",
        "[\"",
        "\\\"",
        "$",
        "auth: {",
    ];
    for piece in hostile {
        let text = piece.repeat(100_000 / piece.len());
        let (value, _) = hide(&json!([text]), &Keys::default());
        let (again, _) = hide(&value, &Keys::default());
        assert_eq!(value, again, "{piece}");
    }
}

/// Pieces of texts that are, or look like, what is searched for.
fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "password",
        "token",
        "name",
        "value",
        "auth",
        "secrets",
        "=",
        ":",
        ": ",
        " ",
        "\n",
        "  ",
        "- ",
        "\"",
        "'",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        ";",
        "&",
        "?",
        "@",
        "://",
        "http",
        "***",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "Bearer ",
        "Basic ",
        "--",
        "mysql",
        "curl",
        "-p",
        "-u",
        "tcp(",
        "<password>",
        "</",
        "|",
        ">",
        "$",
        "${X}",
        "ü",
        "x1",
        "requirepass ",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJub25lIn0",
        ".",
        "#",
        "key",
        "thin:",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..14).prop_map(|pieces| pieces.concat())
}

fn nested(
    scalar: impl Strategy<Value = Value> + 'static,
    key: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = Value> {
    scalar.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner.clone(), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            inner.prop_map(|value| Value::from(value.to_string())),
        ]
    })
}

fn any_json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    nested(scalar, prop_oneof![text().boxed(), piece().boxed()].boxed())
}

fn harmless_json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u32>().prop_map(Value::from),
        "[a-z]{0,8}([ ./-][a-z0-9]{1,8}){0,3}".prop_map(Value::from),
        "https?://[a-z]{1,8}(:[0-9]{2,4})?(/[a-z0-9]{0,6}){0,3}".prop_map(Value::from),
        "[a-f0-9]{40}|[a-z]{3}@[a-z]{3}[.]com|sha256:[a-f0-9]{64}".prop_map(Value::from),
    ];
    nested(
        scalar,
        prop::sample::select(vec!["name", "image", "spec", "replicas", "host", "tokenTTL"])
            .prop_map(str::to_owned)
            .boxed(),
    )
}

proptest! {
    #[test]
    fn a_second_time_nothing_more_is_found(value in any_json()) {
        let keys = Keys::new(["value2", "x"]);
        let (once, _) = hide(&value, &keys);
        let (twice, found) = hide(&once, &keys);
        prop_assert_eq!(&once, &twice, "from {}", value);
        prop_assert_eq!(found.total(), 0, "from {}", value);
    }

    #[test]
    fn what_is_harmless_is_never_changed(value in harmless_json()) {
        let (after, found) = hide(&value, &Keys::default());
        prop_assert_eq!(value, after);
        prop_assert_eq!(found.total(), 0);
    }

    #[test]
    fn a_text_under_a_sensitive_name_never_survives(name in "[a-zA-Z_.-]{0,9}", secret in "[!-~]{9,30}") {
        let name = format!("{name}password");
        let key = format!("canary{secret}");
        let object = json!({"a": [{(&name): key.clone()}], "b": {"name": name.clone(), "value": key.clone()}});
        let (after, _) = hide(&object, &Keys::default());
        let text = after.to_string();
        prop_assert!(!text.contains("canary"), "{}", text);
        let quoted = json!({"text": format!("a: b\n{name}: {}\n", Value::from(key))});
        let (after, _) = hide(&quoted, &Keys::default());
        let text = after.to_string();
        prop_assert!(!text.contains("canary"), "{}", text);
    }
}

#[cfg(test)]
mod support {
    use std::{fs, path::PathBuf};

    use kollect_expr::{Json, Projection, read};

    use super::*;

    fn on(value: &Value, act: impl FnOnce(&mut Json<'_>, &mut Findings)) -> (Value, Findings) {
        let bytes = serde_json::to_vec(value).unwrap();
        let mut json = read(&bytes, &Projection::everything()).unwrap();
        let mut found = Findings::default();
        act(&mut json, &mut found);
        (json.to_value(), found)
    }

    /// The value after it was redacted, and what was found.
    pub(super) fn hide(value: &Value, keys: &Keys) -> (Value, Findings) {
        on(value, |json, found| redact(json, keys, found))
    }

    pub(super) fn hide_attribute(name: &str, value: &Value, keys: &Keys) -> (Value, Findings) {
        on(value, |json, found| redact_attribute(name, json, keys, found))
    }

    fn fixtures() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/redaction")
    }

    pub(super) fn fixture(name: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(fixtures().join(name)).unwrap()).unwrap()
    }

    /// The files of a directory by name, with their text.
    pub(super) fn files(directory: &str) -> Vec<(String, String)> {
        let entries = fs::read_dir(fixtures().join(directory)).unwrap();
        let mut files: Vec<_> = entries
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap()))
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{directory} is empty");
        files
    }

    /// The same value with what stands in for a secret in the place of `KEY`.
    pub(super) fn stand_in(value: &Value) -> Value {
        let text = value.to_string();
        let redacted = json!({"reason": "sensitive-key", "redacted": true}).to_string();
        serde_json::from_str(&text.replace("\"KEY\"", &redacted)).unwrap()
    }

    /// How many scalars and empty collections a value holds.
    pub(super) fn leaves(value: &Value) -> usize {
        match value {
            Value::Array(items) if !items.is_empty() => items.iter().map(leaves).sum(),
            Value::Object(fields) if !fields.is_empty() => fields.values().map(leaves).sum(),
            _ => 1,
        }
    }

    /// Makes secrets that nobody issued.
    #[derive(Default)]
    pub(super) struct Mint {
        /// The kind of each, and the part of it that must not be seen.
        pub(super) minted: Vec<(String, String)>,
        state: u64,
    }

    const DIGITS: &str = "0123456789";
    const HEX: &str = "0123456789abcdef";
    const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

    impl Mint {
        /// Replaces each `{{kind}}` by a new secret of that kind.
        pub(super) fn expand(&mut self, text: &str) -> String {
            let mut expanded = String::new();
            let mut rest = text;
            while let Some((before, after)) = rest.split_once("{{") {
                let (kind, following) = after.split_once("}}").unwrap();
                let secret = self.mint(kind);
                expanded.push_str(before);
                expanded.push_str(&secret);
                self.minted.push((kind.to_owned(), secret));
                rest = following;
            }
            expanded + rest
        }

        fn mint(&mut self, kind: &str) -> String {
            match kind {
                // Begins and ends so that it is mixed.
                "password" => format!("{}7{}", self.some(LETTERS, 9), self.some(HEX, 6)),
                "base64" => self.some(LETTERS, 40),
                "hex32" => self.some(HEX, 32),
                "github" => ["gh", "p_", &self.some(LETTERS, 36)].concat(),
                "gitlab" => ["gl", "pat-", &self.some(LETTERS, 20)].concat(),
                "aws" => ["AK", "IA", &self.some(CAPITALS, 16)].concat(),
                "slack" => {
                    ["xo", "xb-", &self.some(DIGITS, 12), "-", &self.some(LETTERS, 24)].concat()
                }
                "slack_hook" => {
                    ["T0", &self.some(CAPITALS, 8), "/B0", &self.some(LETTERS, 24)].concat()
                }
                "google" => ["AI", "za", &self.some(LETTERS, 35)].concat(),
                "stripe" => ["sk_", "live_", &self.some(LETTERS, 24)].concat(),
                "npm" => ["np", "m_", &self.some(LETTERS, 36)].concat(),
                "pypi" => ["py", "pi-AgE1", &self.some(LETTERS, 60)].concat(),
                "digitalocean" => ["do", "p_v1_", &self.some(HEX, 64)].concat(),
                "sendgrid" => {
                    ["S", "G.", &self.some(LETTERS, 22), ".", &self.some(LETTERS, 43)].concat()
                }
                "twilio" => ["S", "K", &self.some(HEX, 32)].concat(),
                "vault" => ["hv", "s.", &self.some(LETTERS, 24)].concat(),
                "age" => ["AGE-SECRET", "-KEY-1", &self.some(CAPITALS, 58)].concat(),
                "docker" => ["dckr", "_pat_", &self.some(LETTERS, 27)].concat(),
                "huggingface" => ["h", "f_", "1a", &self.some(LETTERS, 32)].concat(),
                "openai" => ["s", "k-", "1aB", &self.some(LETTERS, 45)].concat(),
                "anthropic" => ["sk", "-ant-", &self.some(LETTERS, 40)].concat(),
                "grafana" => {
                    ["gl", "sa_", &self.some(LETTERS, 32), "_", &self.some(HEX, 8)].concat()
                }
                "bcrypt" => ["$2", "y$", "10$", &self.some(LETTERS, 53)].concat(),
                "telegram" => {
                    [&self.some("123456789", 9), ":A", "A", &self.some(LETTERS, 33)].concat()
                }
                "basic" => encode(&format!("user:{}", self.some(LETTERS, 12))),
                "jwt" => {
                    let payload = format!("{{\"sub\":\"{}\"}}", self.some(LETTERS, 12));
                    let parts = [encode("{\"alg\":\"HS256\",\"typ\":\"JWT\"}"), encode(&payload)];
                    format!("{}.{}", parts.join(".").replace('=', ""), self.some(LETTERS, 43))
                }
                "encoded_pem" => encode(&format!(
                    "-----BEGIN {} KEY-----\n{}\n-----END {0} KEY-----\n",
                    "PRIVATE",
                    self.some(LETTERS, 64)
                )),
                "encoded_auths" => {
                    let login = self.some(LETTERS, 16);
                    encode(&json!({"auths": {"r": {"auth": login}}}).to_string())
                }
                other => panic!("there is no {other}"),
            }
        }

        fn some(&mut self, alphabet: &str, length: usize) -> String {
            let mut one = || {
                let step = 6_364_136_223_846_793_005_u64;
                self.state = self.state.wrapping_mul(step).wrapping_add(1_442_695_040_888_963_407);
                let count = alphabet.chars().count() as u64;
                let at = usize::try_from((self.state >> 33) % count).unwrap();
                alphabet.chars().nth(at).unwrap()
            };
            (0..length).map(|_| one()).collect()
        }
    }

    fn encode(text: &str) -> String {
        use base64::{Engine, engine::general_purpose::STANDARD};
        STANDARD.encode(text)
    }
}
