//! Documents, byte for byte.
//!
//! The files in `fixtures/contract` are promises to whoever reads our copies.

use jiff::Timestamp;
use kollect_inventory::{
    Identity, Row, digest,
    envelope::{self, Header},
    parts::{Part, TooLarge, parts},
    sort,
};
use serde_json::{Value, json};

fn row(identity: [&'static str; 8], attributes: Value) -> Row {
    let [target_namespace, target_name, namespace, name, group, version, kind, uid] =
        identity.map(Into::into);
    let identity =
        Identity { target_namespace, target_name, namespace, name, uid, group, version, kind };
    Row::of_value(&identity, &attributes)
}

/// The running example: a Deployment and a Service of one shop.
fn web_stack() -> Vec<Row> {
    vec![
        row(
            [
                "shop",
                "workloads",
                "shop",
                "web",
                "apps",
                "v1",
                "Deployment",
                "11111111-aaaa-4bbb-8ccc-000000000001",
            ],
            json!({"image": "registry.example/web:2.4.1", "note": "a<b & \"q\"", "replicas": 3}),
        ),
        row(
            [
                "shop",
                "edges",
                "shop",
                "web",
                "",
                "v1",
                "Service",
                "22222222-aaaa-4bbb-8ccc-000000000002",
            ],
            json!({"type": "ClusterIP", "ports": [80, 443], "external": null}),
        ),
    ]
}

fn header(text: &str, generation: i64) -> Header<'static> {
    let exported_at: Timestamp = text.parse().unwrap_or_default();
    Header { generation, exported_at, ..Header::default() }
}

fn web_stack_header() -> Header<'static> {
    header("2026-03-04T05:06:07.89Z", 7)
}

/// Two Deployments of a shop, as extraction makes rows of them.
fn deployments() -> Vec<Row> {
    let target = |name, uid| ["shop", "workloads", "shop", name, "apps", "v1", "Deployment", uid];
    vec![
        row(
            target("checkout", "0a1b"),
            json!({
                "containers": 2, "fq": "shop/checkout", "ha": true,
                "image": "registry.example/checkout:1.4.2",
                "images": ["registry.example/checkout:1.4.2", "registry.example/envoy:v1.31"],
                "note": "p99<250ms & rising", "owner": null, "replicas": 3,
            }),
        ),
        row(
            target("cart", "0c2d"),
            json!({
                "containers": 1, "fq": "shop/cart", "ha": false,
                "image": "registry.example/cart:2.0.0", "images": "registry.example/cart:2.0.0",
                "owner": null, "replicas": 1,
            }),
        ),
    ]
}

fn deployments_header() -> Header<'static> {
    header("2026-03-01T08:30:00Z", 4)
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    sort(&mut rows);
    rows
}

#[track_caller]
fn recorded(found: &[u8], expected: &str) {
    assert_eq!(String::from_utf8_lossy(found), expected);
}

fn checksums(parts: &[Part<'_>]) -> Vec<String> {
    parts.iter().map(|part| digest::checksum(&part.rows)).collect()
}

#[test]
fn a_document_is_as_recorded() {
    let document = envelope::encode(&web_stack_header(), &sorted(web_stack()));
    recorded(&document, include_str!("../../../fixtures/contract/envelope.json"));
    assert_eq!(document.len(), 695);
}

#[test]
fn a_document_of_a_named_cluster_is_as_recorded() {
    let header = Header { cluster: "eu-1".into(), ..web_stack_header() };
    let document = envelope::encode(&header, &sorted(web_stack()));
    recorded(&document, include_str!("../../../fixtures/contract/envelope-cluster.json"));
}

#[test]
fn an_empty_document_is_as_recorded() {
    let document = envelope::encode(&web_stack_header(), &[]);
    recorded(&document, include_str!("../../../fixtures/contract/envelope-empty.json"));
    assert_eq!(document.len(), 197);
    assert_eq!(envelope::encode(&deployments_header(), &[]).len(), 194);
}

#[test]
fn rows_that_do_not_fit_are_cut_as_recorded() {
    let found = parts(&web_stack_header(), web_stack(), 600).unwrap();
    let texts: Vec<_> = found.iter().map(Part::encode).collect();
    assert_eq!(texts.iter().map(Vec::len).collect::<Vec<_>>(), [448, 499]);
    recorded(&texts[0], include_str!("../../../fixtures/contract/envelope-part-1-of-2.json"));
    recorded(&texts[1], include_str!("../../../fixtures/contract/envelope-part-2-of-2.json"));
    assert_eq!(
        digest::parts_digest(checksums(&found).iter().map(String::as_str)),
        "664e4c1883f7785c1f23daf1ad25ca155956553b5d89d2dab676aca07a9984a9"
    );
}

#[test]
fn the_digest_of_a_single_part_is_as_recorded() {
    let found = parts(&web_stack_header(), web_stack(), 10_000).unwrap();
    assert_eq!(
        digest::parts_digest(checksums(&found).iter().map(String::as_str)),
        "da5369da923297f68baaff61f5191e5e1585aa032e1c117971138f5ea88e2344"
    );
}

#[test]
fn the_limit_is_exact() {
    let whole = envelope::encode(&deployments_header(), &sorted(deployments())).len();
    assert_eq!(whole, 897);
    let one = parts(&deployments_header(), deployments(), whole).unwrap();
    assert_eq!(one.iter().map(|part| part.header.part).collect::<Vec<_>>(), [None]);
    let two = parts(&deployments_header(), deployments(), whole - 1).unwrap();
    let numbers: Vec<_> = two.iter().map(|part| part.header.part).collect();
    assert_eq!(numbers, [Some((1, 2)), Some((2, 2))]);
    let lengths: Vec<_> = two.iter().map(|part| part.encode().len()).collect();
    assert_eq!(lengths, [530, 616]);
    assert_eq!(
        digest::parts_digest(checksums(&two).iter().map(String::as_str)),
        "a1b04b8c826726b8721df250b89df9d0f1c8683b3f3f8a6303a6ead1a0a71127"
    );
}

#[test]
fn a_row_that_fits_nowhere_is_named() {
    let error = parts(&deployments_header(), deployments(), 600).unwrap_err();
    assert_eq!(error, TooLarge { row: "shop/checkout".into(), needed: 616, limit: 600 });
}

#[test]
fn checksums_of_rows_are_as_recorded() {
    let [checkout, cart]: [Row; 2] = deployments().try_into().unwrap();
    assert_eq!(
        digest::checksum(&[cart.clone(), checkout.clone()]),
        "ecae61f42b85e7eb5b00d933622e297ca660fb76ae25decafe59963646bb0d3f"
    );
    assert_eq!(
        digest::checksum(&[checkout]),
        "7a7d8472f352b691a1b11746e701382e12faf76dda0c07e0d81eee75362756aa"
    );
    assert_eq!(
        digest::checksum(&[cart]),
        "8f59fe37433a328e5d034d9534be55b487df40eefc993e6c2f3a2b967d8a85ed"
    );
    assert_eq!(
        digest::parts_digest(["ecae61f42b85e7eb5b00d933622e297ca660fb76ae25decafe59963646bb0d3f"]),
        "900e7891719106ffc710e12d7e91198951b1e66192499605031e6655cb80167d"
    );
}

#[test]
fn checksums_of_a_rollup_are_as_recorded() {
    let of = |target, namespace, name, uid, attributes| {
        row([namespace, target, namespace, name, "apps", "v1", "Deployment", uid], attributes)
    };
    let all_ops = of("all-deploys", "ops", "relay", "u-1", json!({"replicas": 1}));
    let ha_ops = of("ha-deploys", "ops", "relay", "u-1", json!({"ha": false}));
    let shop = of("all-deploys", "shop", "cart", "u-2", json!({"replicas": 2}));
    for (ops, rollup, whole) in [
        (
            vec![all_ops, ha_ops.clone()],
            "d807e70103efa5e90a861954e0336e5d0a440a734d5650633877a0706a309248",
            "700fde8b68cfa52973752954a472aa2e6b187cd86bfa5734b493bffd1ea65d4f",
        ),
        (
            vec![ha_ops],
            "53fd8f1b0f5fb54b15fa40f340088b1c40d9ecba64482ce3b01903404d24e939",
            "0ceb06d3d0dc68986ee4f69011aa4fce466b50cece4325bd5e8dfbedf7a31541",
        ),
    ] {
        let shards = [
            ("ops", digest::checksum(&ops)),
            ("shop", digest::checksum(std::slice::from_ref(&shop))),
        ];
        let found = digest::rollup_digest(shards.iter().map(|(name, sum)| (*name, sum.as_str())));
        assert_eq!(found, rollup);
        assert_eq!(digest::checksum(&sorted([ops, vec![shop.clone()]].concat())), whole);
    }
}

#[test]
fn documents_read_back() {
    let header = Header { cluster: "eu-1".into(), part: Some((2, 3)), ..web_stack_header() };
    let rows = sorted(web_stack());
    let decoded = envelope::decode(&envelope::encode(&header, &rows)).unwrap();
    assert_eq!(decoded.header, header);
    assert_eq!(decoded.rows, rows);
}

#[test]
fn older_and_empty_documents_are_read_and_newer_ones_refused() {
    for empty in ["", "  ", "null", "[]"] {
        assert_eq!(envelope::decode(empty.as_bytes()).unwrap().rows, [], "{empty}");
    }
    let list = format!("[{:?}]", sorted(web_stack())[0]);
    assert_eq!(envelope::decode(list.as_bytes()).unwrap().rows, sorted(web_stack())[..1]);
    let newer = envelope::decode(br#"{"schemaVersion":"kollect.dev/v2","items":[]}"#).unwrap_err();
    assert_eq!(
        newer.to_string(),
        r#"the document has schemaVersion "kollect.dev/v2", and only "kollect.dev/v1alpha1" is known"#
    );
    assert!(envelope::decode(b"{\"items\":[]}").is_err());
    assert!(envelope::decode(b"[{\"name\":\"x\"}]").is_err());
}

proptest::proptest! {
    #[test]
    fn parts_hold_every_row_once_and_in_order_within_the_limit(
        names in proptest::collection::hash_set("[a-z]{1,40}", 0..60),
        limit in 300_usize..3000,
    ) {
        let rows: Vec<_> = names
            .iter()
            .map(|name| {
                let identity = Identity { name: name.into(), uid: name.into(), ..Identity::default() };
                Row::of_value(&identity, &json!({"padding": name}))
            })
            .collect();
        let header = web_stack_header();
        let Ok(found) = parts(&header, rows.clone(), limit) else { return Ok(()) };
        let together: Vec<_> = found.iter().flat_map(|part| part.rows.clone()).collect();
        let mut by_text = rows;
        by_text.sort_by(|a, b| a.as_json().cmp(b.as_json()));
        proptest::prop_assert_eq!(sorted(together.clone()), sorted(by_text));
        for (at, part) in found.iter().enumerate() {
            proptest::prop_assert!(part.encode().len() <= limit);
            proptest::prop_assert_eq!(sorted(part.rows.clone()), part.rows.clone());
            let expected = (found.len() > 1).then_some((at + 1, found.len()));
            proptest::prop_assert_eq!(part.header.part, expected);
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_document_reads_back(
        texts in proptest::collection::vec("\\PC{0,10}", 0..8),
        number in proptest::num::f64::NORMAL,
        generation in 0_i64..5,
        cluster in "[a-z]{0,4}",
    ) {
        let of_text = |text: &String| {
            let identity = Identity { name: text.into(), uid: text.into(), ..Identity::default() };
            Row::of_value(&identity, &json!({text.as_str(): [number, text]}))
        };
        let rows = sorted(texts.iter().map(of_text).collect());
        let header = Header { cluster: cluster.into(), ..header("2026-03-04T05:06:07.89Z", generation) };
        let decoded = envelope::decode(&envelope::encode(&header, &rows)).unwrap();
        proptest::prop_assert_eq!(decoded, envelope::Decoded { header, rows });
    }
}
