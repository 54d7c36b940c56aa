//! What holds for every text that a Kubernetes value could be read from.

#[cfg(test)]
mod properties {
    use kollect_expr::kube::{
        cidr::Cidr, format::Format, ip::Ip, quantity::Quantity, semver::Semver, url::Url,
    };
    use proptest::prelude::*;

    /// Texts that look like one of the values, and texts that look like nothing.
    fn texts() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[-+]?[0-9]{0,30}[.]?[0-9]{0,30}([numkKMGTPE]i?|[eE][-+]?[0-9]{1,20})?",
            "([a-z]{1,5}:)?/{0,3}[a-z@:%0-9é\\[\\]]{0,20}[/?#&=;+%a-f0-9]{0,20}",
            "[0-9a-f:.]{0,40}(%[a-z]{0,3})?(/[0-9]{0,4})?",
            "v?[0-9]{0,3}([.][0-9]{0,3}){0,3}([-+][0-9a-z.-]{0,5}){0,2}",
            "[-0-9a-zA-Z_./é]{0,70}",
            "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]?[0-9:.Zz+-]{0,20}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_text_makes_a_value_panic(text in texts()) {
            for (_, format) in Format::ALL {
                format.validate(&text);
            }
            if let Ok(url) = text.parse::<Url>() {
                prop_assert!(url.host().contains(&url.hostname()));
                prop_assert!(url.host().ends_with(&url.port()));
                prop_assert!(url.to_string().contains(&url.escaped_path()));
                prop_assert!(url.query().values().all(|values| !values.is_empty()));
            }
            prop_assert_eq!(Ip::is_canonical(&text).is_ok(), text.parse::<Ip>().is_ok());
            prop_assert!(Semver::normalized(&text).is_ok() || text.parse::<Semver>().is_err());
        }

        #[test]
        fn what_was_read_is_read_the_same_from_what_it_writes(text in texts()) {
            if let Ok(quantity) = text.parse::<Quantity>() {
                prop_assert_eq!(quantity.to_string().parse(), Ok(quantity));
            }
            if let Ok(ip) = text.parse::<Ip>() {
                prop_assert_eq!(ip.to_string().parse(), Ok(ip));
            }
            if let Ok(cidr) = text.parse::<Cidr>() {
                prop_assert_eq!(cidr.to_string().parse(), Ok(cidr));
            }
            if let Ok(version) = text.parse::<Semver>() {
                prop_assert_eq!(version.to_string(), text);
            }
        }

        #[test]
        fn sums_and_the_order_of_quantities_agree(left in texts(), right in texts()) {
            let (Ok(left), Ok(right)) = (left.parse::<Quantity>(), right.parse::<Quantity>()) else {
                return Ok(());
            };
            prop_assert_eq!(left.cmp(&right), right.cmp(&left).reverse());
            if let Ok(difference) = left.sub(&right) {
                prop_assert_eq!(difference.sign(), left.cmp(&right) as i64);
                prop_assert_eq!(difference.add(&right), Ok(left));
            }
        }
    }
}
