//! What is JSON, and what it says, is asked of another parser.

use proptest::{collection::vec, prelude::*, sample::select};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::*;
use crate::projection::{Leaf, Way};

const OBJECTS: [&str; 4] = [
    include_str!("../../../../bench/objects/deployment.json"),
    include_str!("../../../../bench/objects/pod.json"),
    include_str!("../../../../fuzz/objects/corners.json"),
    include_str!("../../../../fuzz/objects/wide.json"),
];

/// What a projection keeps of a value.
fn part(value: &Value, seed: Seed<'_>) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter_map(|(name, value)| {
                Some((name.clone(), part(value, seed.field(name.as_bytes())?)))
            });
            Value::Object(kept.collect())
        }
        Value::Array(items) => {
            let kept = |item| seed.item().map_or(Value::Null, |seed| part(item, seed));
            items.iter().map(kept).collect()
        }
        scalar => scalar.clone(),
    }
}

/// Reads what is JSON like the other parser, and refuses with it what is not,
/// unless that is in what is skipped.
#[track_caller]
fn check(bytes: &[u8], projection: &Projection) {
    let whole = read(bytes, &Projection::everything());
    let some = read(bytes, projection);
    let text = String::from_utf8_lossy(bytes);
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => {
            // As texts, so that the sign of a zero counts.
            assert_eq!(whole.unwrap().to_value().to_string(), value.to_string(), "{text}");
            let expected = part(&value, Seed::new(projection));
            assert_eq!(some.unwrap().to_value().to_string(), expected.to_string(), "{text}");
        }
        Err(error) => {
            assert!(whole.is_err(), "{error}, but it was read: {text}");
            if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
                assert!(read(bytes, &Projection::default()).is_ok() || bytes[0] != b'{', "{text}");
            }
        }
    }
}

fn fields(ways: &[&[&str]]) -> Projection {
    let mut projection = Projection::default();
    for way in ways {
        projection.add_fields(way);
    }
    projection
}

fn of_an_object() -> Projection {
    let mut projection = fields(&[&["metadata", "name"], &["metadata", "labels"], &["kind"]]);
    let way = |names: [&str; 2]| names.map(|name| Way::Field(name.into()));
    let containers = [&way(["spec", "containers"])[..], &[Way::Items]].concat();
    projection.touch(&[&containers[..], &[Way::Field("image".into())]].concat(), Leaf::Whole);
    projection.touch(&way(["status", "conditions"]), Leaf::Keys);
    projection
}

#[test]
fn objects_are_read_as_they_are() {
    let gaps: [&[&str]; 2] = [&["metadata", "managedFields"], &["status"]];
    for text in OBJECTS {
        for projection in [Projection::default(), of_an_object(), Projection::everything_but(gaps)]
        {
            check(text.as_bytes(), &projection);
            let compact = serde_json::from_str::<Value>(text).unwrap().to_string();
            check(compact.as_bytes(), &projection);
        }
    }
}

#[test]
fn an_object_that_is_cut_off_is_no_object() {
    for text in OBJECTS {
        let bytes = serde_json::from_str::<Value>(text).unwrap().to_string().into_bytes();
        let projection = of_an_object();
        for end in 0..bytes.len() {
            let error = read(&bytes[..end], &projection).unwrap_err();
            assert_eq!(error, Problem::Cut.at(end, &bytes[..end]), "{end} of {text}");
        }
    }
}

#[test]
fn scalars_and_odd_spellings_are_what_they_are_elsewhere() {
    let numbers = "0 -0 00 01 -01 -1 1.0 -0.0 1. .5 +1 1e5 1E+5 1e-5 1e 1e+ 0e999999999999 1e400
        -1e400 1e-400 5e-324 1.7976931348623157e308 1.7976931348623159e308 9223372036854775807
        9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615
        18446744073709551616 123456789012345678901234567890 0.1 2.2250738585072011e-308
        9007199254740993.0 1e99999999999999999999 1e-99999999999999999999 - 1x 0x1 NaN Infinity";
    let others = r#"null true false nul truex nulltrue "" "a" 'a' "\/\b\f\n\r\t\"\\" "\x" "\u00e9"
        "\u00E9\ud83d\ude00" "\ud83d" "\ude00" "\ud83d\u0041" "\ud83d\ud83d\ude00" "\u12" "\u123g"
        "\ud83dx" "\u0000" [] {} [1,] [,1] [1,,2] [1;2] {"a"} {"a":} {"a":1,} {,} {"a":1,"a":2} [}
        {"a":{"b":1]} {"a":[1}} [[]] [1]] {}} {}{} {a:1} {1:1} {"\u0061":1} {"a\u0000":[]} {"a" :1}"#;
    let blanks = ["", " ", "\u{feff}{}", "\n\t\r [ 1 , 2 ] \n", "{ \"a\" : 1 }\u{c}", "\0", "{}\0"];
    let huge =
        ["9".repeat(400), format!("0.{}1", "0".repeat(400)), format!("-{}", "1".repeat(308))];
    let words = numbers.split_whitespace().chain(others.split_whitespace()).chain(blanks);
    for text in words.chain(huge.iter().map(String::as_str)) {
        for spelled in [text.to_owned(), format!("[{text}]"), format!(r#"{{"a":{text}}}"#)] {
            for projection in [Projection::default(), fields(&[&["a"]])] {
                check(spelled.as_bytes(), &projection);
            }
        }
    }
}

#[test]
fn what_is_kept_is_unicode_and_what_is_skipped_need_not_be() {
    for text in [&b"{\"a\":\"\xff\"}"[..], br#"{"a":"\ud800"}"#, b"{\"a\":[{\"b\":\"\xc3\"}]}"] {
        assert_eq!(read(text, &fields(&[&["b"]])).unwrap(), Json::Map(Vec::new()));
        read(text, &fields(&[&["a"]])).unwrap_err();
    }
    for text in [&b"{\"\xff\":1}"[..], br#"{"\ud800":1}"#] {
        assert_eq!(read(text, &fields(&[&["a"]])).unwrap(), Json::Map(Vec::new()));
        read(text, &Projection::everything()).unwrap_err();
    }
}

#[test]
fn no_text_holds_a_control_character_whether_it_is_kept_or_not() {
    for text in ["{\"a\n\":1}", "{\"a\":\"\t\"}", "{\"a\":[\"\u{1}\"]}", "{\"a\":{\"\u{1f}\":1}}"] {
        for projection in [Projection::default(), fields(&[&["a"]]), Projection::everything()] {
            read(text.as_bytes(), &projection).unwrap_err();
        }
    }
}

#[test]
fn of_maps_and_lists_that_are_skipped_only_the_frame_is_checked() {
    let skip = |text: &str| read(text.as_bytes(), &Projection::default()).map(Json::into_owned);
    for text in [r#"{"a":[1 2]}"#, r#"{"a":{"b" oops}}"#, r#"{"a":["\x"]}"#, r#"{"a":[{[}]]}"#] {
        assert_eq!(skip(text), Ok(Json::Map(Vec::new())), "{text}");
    }
    for text in
        [r#"{"a":[1}}"#, r#"{"a":{"b":1]}"#, r#"{"a":["b]}"#, r#"{"a":[\"b"]}"#, "{\"a\":[]"]
    {
        skip(text).unwrap_err();
    }
    for text in [r#"{"a":oops}"#, r#"{"a":01}"#, r#"{"a":"\x"}"#, r#"{"a" 1}"#, r#"{"a":1 "b":2}"#]
    {
        skip(text).unwrap_err();
    }
}

#[test]
fn what_is_kept_may_not_be_nested_deeply_and_what_is_skipped_may() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for depth in [DEEPEST - 1, DEEPEST, DEEPEST + 1] {
        check(nested(depth).as_bytes(), &Projection::default());
        assert_eq!(
            read(nested(depth).as_bytes(), &Projection::everything()).is_ok(),
            depth <= DEEPEST
        );
    }
    let maps = format!("{}1{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
    for text in [nested(100_000), maps] {
        let around = format!(r#"{{"b":{text},"a":1}}"#);
        let found = read(around.as_bytes(), &fields(&[&["a"]])).unwrap();
        assert_eq!(found.to_value().to_string(), r#"{"a":1}"#);
        read(around.as_bytes(), &Projection::everything()).unwrap_err();
        read(&around.as_bytes()[..around.len() / 2], &fields(&[&["a"]])).unwrap_err();
    }
}

#[test]
fn an_error_says_what_is_wrong_and_where_and_nothing_else() {
    for (text, expected) in [
        ("", "the JSON ends too early at byte 0"),
        ("{\"a\":tru", "the JSON ends too early at byte 8"),
        ("{\"a\":secret}", "there is no value at byte 5"),
        ("{\"a\" 1}", "there is no colon after a key at byte 5"),
        ("{\"a\":1 2}", "a map neither goes on nor ends at byte 7"),
        ("{\"a\":1,}", "there is no key at byte 7"),
        ("[1 2]", "a list neither goes on nor ends at byte 3"),
        ("[\"\u{1}\"]", "there is a control character in a text at byte 2"),
        ("[\"\\x\"]", "there is an unknown escape in a text at byte 3"),
        ("[-]", "there is a number without its digits at byte 2"),
        ("[1e999]", "there is a number that is too large at byte 1"),
        ("{} {}", "something follows the JSON at byte 3"),
    ] {
        let error = read(text.as_bytes(), &Projection::everything()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

fn json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        r#"[a\\"{}\n\[\]é]{0,90}"#.prop_map(Value::from),
    ];
    scalar.prop_recursive(5, 60, 6, |inner| {
        let key = prop_oneof![select(vec!["a", "b", "c"]).prop_map(str::to_owned), ".{0,9}"];
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((key, inner), 0..6).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn projections() -> impl Strategy<Value = Projection> {
    let step = select(vec![
        Way::Field("a".into()),
        Way::Field("b".into()),
        Way::Field("c".into()),
        Way::Items,
        Way::Any,
    ]);
    let leaf = select(vec![Leaf::Whole, Leaf::Keys, Leaf::Shallow]);
    let gap = vec(select(vec!["a", "b", "c"]), 1..4);
    prop_oneof![
        4 => vec((vec(step, 0..4), leaf), 0..5).prop_map(|ways| {
            let mut projection = Projection::default();
            for (way, leaf) in ways {
                projection.touch(&way, leaf);
            }
            projection
        }),
        1 => vec(gap, 0..4)
            .prop_map(|gaps| Projection::everything_but(gaps.iter().map(Vec::as_slice))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_read_as_another_parser_reads_it(
        value in json(),
        projection in projections(),
        pretty in any::<bool>(),
    ) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        check(text.as_bytes(), &projection);
    }

    #[test]
    fn what_another_parser_refuses_is_refused(
        value in json(),
        projection in projections(),
        edits in vec((any::<prop::sample::Index>(), 0_u8..3, select(
            b"\"\"\\{}[],:01.eE+-tfnu_Y \n\x00\x7f\xc3\xff".to_vec(),
        )), 1..4),
    ) {
        let mut bytes = value.to_string().into_bytes();
        for (at, edit, byte) in edits {
            let at = at.index(bytes.len() + 1);
            match edit {
                0 => bytes.insert(at, byte),
                1 if at < bytes.len() => drop(bytes.remove(at)),
                _ if at < bytes.len() => bytes[at] = byte,
                _ => bytes.push(byte),
            }
        }
        check(&bytes, &projection);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..200), projection in projections()) {
        for start in [&b""[..], b"{\"a\":", b"[{\"b\":[\"\\", b"\"\\u"] {
            check(&[start, &bytes].concat(), &projection);
        }
    }
}
