use super::*;

fn quantity(text: &str) -> Quantity {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn every_suffix_is_an_amount() {
    for (text, same) in [
        ("1Ki", "1024"),
        ("1Mi", "1048576"),
        ("1Gi", "1073741824"),
        ("1Ti", "1099511627776"),
        ("1Pi", "1125899906842624"),
        ("1Ei", "1152921504606846976"),
        ("1000n", "1u"),
        ("1000u", "1m"),
        ("1000m", "1"),
        ("1k", "1000"),
        ("1M", "1000k"),
        ("1G", "1000M"),
        ("1T", "1000G"),
        ("1P", "1000T"),
        ("1E", "1000P"),
        ("1e3", "1k"),
        ("1E3", "1k"),
        ("12e+2", "1.2k"),
        ("15e-1", "1.5"),
        ("+1.5Gi", "1536Mi"),
        (".5", "500m"),
        ("5.", "5"),
        ("00012", "12"),
        ("-0", "0"),
        // The server takes all of these for zero.
        ("-", "0"),
        (".", "0"),
        ("Ki", "0"),
        ("m", "0"),
        // And of an exponent it takes the lower 32 bits.
        ("7e4294967296", "7"),
    ] {
        assert_eq!(quantity(text), quantity(same), "{text}");
    }
}

#[test]
fn other_texts_are_refused() {
    use QuantityError::{Malformed, NoNumber, UnknownSuffix};
    for (text, error) in [
        ("", Malformed),
        (" 1", Malformed),
        ("1 ", Malformed),
        ("1Kib", Malformed),
        ("1.2.3", Malformed),
        ("--1", UnknownSuffix),
        ("1,5", Malformed),
        ("1e2e3", Malformed),
        ("0x10", Malformed),
        ("١", Malformed),
        ("1K", UnknownSuffix),
        ("1ki", UnknownSuffix),
        ("1KiKi", UnknownSuffix),
        ("1m3", UnknownSuffix),
        ("1e99999999999999999999", UnknownSuffix),
        ("1+", UnknownSuffix),
        ("Pi", NoNumber),
        (".Ei", NoNumber),
        ("e-10", NoNumber),
    ] {
        assert_eq!(text.parse::<Quantity>().err(), Some(error), "{text}");
    }
}

#[test]
fn an_integer_is_what_the_server_kept_as_one() {
    for (text, integer) in [
        ("0", Some(0)),
        ("-7", Some(-7)),
        ("5k", Some(5_000)),
        ("9E", Some(9_000_000_000_000_000_000)),
        ("10E", None),
        ("99Ti", Some(108_851_651_149_824)),
        ("100Ti", None),
        ("1Pi", None),
        ("2.0", None),
        ("100m", None),
        ("1000m", None),
        ("999999999999999999", Some(999_999_999_999_999_999)),
        ("1000000000000000000", None),
        ("0e400", Some(0)),
    ] {
        assert_eq!(quantity(text).as_integer().ok(), integer, "{text}");
        assert_eq!(quantity(text).is_integer(), integer.is_some(), "{text}");
    }
}

#[test]
fn what_is_too_small_is_rounded_up_and_what_is_too_large_is_cut() {
    for (text, same) in [
        ("0.1n", "1n"),
        ("1e-30", "1n"),
        ("-0.1n", "-1n"),
        ("1.0000000001", "1.000000001"),
        ("8Ei", "9223372036854775807"),
        ("-100Ei", "-9223372036854775807"),
        ("1e-2147483648", "1n"),
    ] {
        assert_eq!(quantity(text), quantity(same), "{text}");
    }
    assert!(quantity("100E") > quantity("8Ei"), "only binary amounts are cut");
}

#[test]
fn amounts_are_ordered() {
    let ordered = [
        "-1e1000",
        "-1Ki",
        "-1",
        "-1n",
        "0",
        "1n",
        "1u",
        "1m",
        "1",
        "999",
        "1k",
        "1Ki",
        "1e1000000000",
    ];
    for pair in ordered.windows(2) {
        assert!(quantity(pair[0]) < quantity(pair[1]), "{pair:?}");
        assert!(quantity(pair[1]) > quantity(pair[0]), "{pair:?}");
    }
    for (text, sign) in [("-1n", -1), ("0e5", 0), ("-0.00000000000000000000", 0), ("1e99", 1)] {
        assert_eq!(quantity(text).sign(), sign, "{text}");
    }
}

#[test]
fn sums_and_differences_are_exact() {
    for (left, right, sum, difference) in [
        ("1", "2", "3", "-1"),
        ("100m", "1", "1100m", "-900m"),
        ("1Ki", "1k", "2024", "24"),
        ("1e18", "1n", "1000000000000000000000000001n", "999999999999999999999999999n"),
        ("9E", "9E", "18E", "0"),
        ("0", "5Mi", "5Mi", "-5Mi"),
    ] {
        let (left, right) = (quantity(left), quantity(right));
        assert_eq!(left.add(&right), Ok(quantity(sum)));
        assert_eq!(left.sub(&right), Ok(quantity(difference)));
    }
    assert_eq!(quantity("1.5").add_int(2), Ok(quantity("3.5")));
    assert_eq!(quantity("1.5").sub_int(2), Ok(quantity("-500m")));
    // The server's own answer; the right one would be 2^63 + 1.
    assert_eq!(quantity("1").sub_int(i64::MIN), Ok(quantity("-9223372036854775807")));
    assert_eq!(quantity("-1").sub_int(i64::MIN), Ok(quantity("9223372036854775807")));
}

#[test]
fn a_sum_is_an_integer_only_while_it_is_small() {
    let small = quantity("500m").add(&quantity("500m")).unwrap();
    assert!(!small.is_integer(), "the server does not reduce 1000m");
    assert!(quantity("1k").add_int(1).unwrap().is_integer());
    assert!(!quantity("9E").add_int(i64::MAX).unwrap().is_integer());
}

#[test]
fn hostile_sums_are_refused_at_once() {
    let huge = quantity("1e1000000000");
    assert_eq!(huge.add_int(1), Err(QuantityError::TooManyDigits));
    assert_eq!(quantity("1n").sub(&huge), Err(QuantityError::TooManyDigits));
    let long = "9".repeat(100_000);
    assert_eq!(quantity(&long).add_int(1), Ok(quantity("1e100000")));
}

#[test]
fn floats_are_those_of_the_server() {
    for (text, float) in [
        ("0", 0.0),
        ("100m", 0.1),
        ("1Ki", 1024.0),
        ("1.5Gi", 1_610_612_736.0),
        ("1e400", f64::INFINITY),
        ("-1e400", f64::NEG_INFINITY),
        ("12345678901234567890123456789", 1.234_567_890_123_456_8e28),
        ("1e-9", 1e-9),
    ] {
        let found = quantity(text).as_approximate_float();
        assert_eq!(found.to_bits(), float.to_bits(), "{text}: {found}");
    }
    assert!(quantity("0e400").as_approximate_float().is_nan());
}

#[test]
fn the_canonical_form_loses_nothing() {
    for (text, canonical) in [
        ("1024Ki", "1Mi"),
        ("1000Ki", "1000Ki"),
        ("512", "512"),
        ("0.5Gi", "512Mi"),
        ("0.5Ki", "512"),
        ("1500m", "1500m"),
        ("1.5", "1500m"),
        ("1000k", "1M"),
        ("12e4", "120e3"),
        ("1000E", "1e21"),
        ("-0.25", "-250m"),
        ("0.0", "0"),
    ] {
        assert_eq!(quantity(text).to_string(), canonical, "{text}");
    }
}
