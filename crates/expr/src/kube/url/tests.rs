use super::*;

fn url(text: &str) -> Url {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_url_is_taken_apart() {
    for (text, scheme, host, hostname, port, path) in [
        ("https://example.com:80/p", "https", "example.com:80", "example.com", "80", "/p"),
        ("HTTP://Example.com", "http", "Example.com", "Example.com", "", ""),
        ("https://user:pass@h:1/", "https", "h:1", "h", "1", "/"),
        ("https://a@b@c/", "https", "c", "c", "", "/"),
        ("http://h:/", "http", "h:", "h", "", "/"),
        ("http://[::1]:8080/x", "http", "[::1]:8080", "::1", "8080", "/x"),
        ("http://[fe80::1%25en0]/", "http", "[fe80::1%en0]", "fe80::1%en0", "", "/"),
        ("/path/with spaces", "", "", "", "", "/path/with%20spaces"),
        ("/a%2Fb%20c", "", "", "", "", "/a%2Fb%20c"),
        ("/a[b]'", "", "", "", "", "/a[b]'"),
        ("/é", "", "", "", "", "/%C3%A9"),
        ("/a\"b", "", "", "", "", "/a%22b"),
        ("//host/path", "", "host", "host", "", "/path"),
        ("///path", "", "", "", "", "///path"),
        ("mailto:me@example.com", "mailto", "", "", "", ""),
        ("file:///etc/hosts", "file", "", "", "", "/etc/hosts"),
        ("a:/b", "a", "", "", "", "/b"),
        ("*", "", "", "", "", "*"),
        ("http://%C3%A9/", "http", "é", "é", "", "/"),
        ("http://h/p#f", "http", "h", "h", "", "/p"),
        ("ftp://a:b:21/", "ftp", "a:b:21", "a:b", "21", "/"),
    ] {
        let url = url(text);
        assert_eq!(url.scheme(), scheme, "{text}");
        assert_eq!(url.host(), host, "{text}");
        assert_eq!(url.hostname(), hostname, "{text}");
        assert_eq!(url.port(), port, "{text}");
        assert_eq!(url.escaped_path(), path, "{text}");
    }
}

#[test]
fn a_query_is_a_map_of_lists() {
    for (text, query) in [
        ("/", "{}"),
        ("/?", "{}"),
        ("/?a=1&b=2&a=3", r#"{"a": ["1", "3"], "b": ["2"]}"#),
        ("/?a&=b&&c=", r#"{"": ["b"], "a": [""], "c": [""]}"#),
        ("/?a+b=c%20d%2B", r#"{"a b": ["c d+"]}"#),
        ("/?a=1=2", r#"{"a": ["1=2"]}"#),
        ("/?bad=%zz&good=1&semi;colon=1", r#"{"good": ["1"]}"#),
        ("/?a=%ff", "{\"a\": [\"\u{fffd}\"]}"),
        ("/?a=1#b=2", r#"{"a": ["1"]}"#),
    ] {
        assert_eq!(format!("{:?}", url(text).query()), query, "{text}");
    }
    let many = |count: usize| url(&format!("/?{}", vec!["a"; count].join("&"))).query();
    assert_eq!(many(10_000)["a"].len(), 10_000);
    assert!(many(10_001).is_empty(), "the server drops such a query");
}

#[test]
fn other_texts_are_refused_in_the_words_of_the_server() {
    for (text, problem) in [
        ("", "empty url"),
        ("example.com", "invalid URI for request"),
        ("../x", "invalid URI for request"),
        ("#f", "invalid URI for request"),
        (":x", "missing protocol scheme"),
        ("1http://h/", "invalid URI for request"),
        ("http://h/\u{7f}", "net/url: invalid control character in URL"),
        ("http://h/%zz", r#"invalid URL escape "%zz""#),
        ("http://h/%é", r#"invalid URL escape "%é""#),
        ("http://h/%4", r#"invalid URL escape "%4""#),
        ("http://a b/", r#"invalid character " " in host name"#),
        ("http://a%41/", r#"invalid URL escape "%41""#),
        ("http://h:port/", r#"invalid port ":port" after host"#),
        ("http://h:1:2/", r#"invalid port ":1:2" after host"#),
        ("http://[::1/", "missing ']' in host"),
        ("http://x[::1]/", "invalid IP-literal"),
        ("http://[1.2.3.4]/", "invalid IP-literal"),
        ("http://[::1]x/", r#"invalid port "x" after host"#),
        ("http://[zz]/", r#"invalid host: ParseAddr("zz"): unable to parse IP"#),
        ("http://us er@h/", "net/url: invalid userinfo"),
    ] {
        let error = Url::check(text).map_err(|error| error.to_string());
        assert_eq!(error, Err(format!("parse {}: {problem}", quote(text.as_bytes()))));
    }
}

#[test]
fn the_second_reading_refuses_a_bad_fragment_and_a_bad_authority() {
    for text in ["/?x#%zz", "//a b/"] {
        assert_eq!(Url::check(text), Ok(()), "{text}");
        assert!(text.parse::<Url>().is_err(), "{text}");
    }
}

#[test]
fn urls_are_equal_if_they_are_written_alike() {
    for (left, right, equal) in [
        ("HTTP://h/", "http://h/", true),
        ("http://h", "http://h/", false),
        ("/a b", "/a%20b", true),
        ("http://h/?", "http://h/", false),
        ("http://u:p@h/", "http://u@h/", false),
        ("/x#a b", "/x#a%20b", true),
        ("a:/b", "a:///b", false),
    ] {
        assert_eq!(url(left) == url(right), equal, "{left} {right}");
    }
    for text in ["https://u:p@[::1]:80/a%2Fb?q=1#f", "mailto:a", "file:///x", "a:/b", "a:", "*"] {
        assert_eq!(url(text).to_string(), text);
    }
}
