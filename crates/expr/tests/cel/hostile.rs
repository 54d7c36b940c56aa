//! Expressions that must be stopped, on an object as large as they come.
//!
//! What they cost is counted in allocations, not in time: the figures of the
//! clock are in `docs/performance.md`.

use std::{fs, path::Path};

use allocation_counter::measure;
use kollect_expr::{Budget, Projection, cel, read};
use serde::Deserialize;
use serde_json::json;

/// An expression: its body between as many heads and tails.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hostile {
    name: String,
    #[serde(default)]
    head: String,
    body: String,
    #[serde(default)]
    tail: String,
    #[serde(default)]
    times: usize,
}

impl Hostile {
    fn expression(&self) -> String {
        let Self { head, body, tail, times, .. } = self;
        format!("{}{body}{}", head.repeat(*times), tail.repeat(*times))
    }
}

fn all() -> Vec<Hostile> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cel/hostile.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn object() -> Vec<u8> {
    let list: Vec<_> = (0..20_000).collect();
    let words: Vec<_> = (0..2_000).map(|at| format!("word-{at}")).collect();
    let object = json!({"list": list, "words": words, "text": "a".repeat(400_000)});
    serde_json::to_vec(&object).unwrap()
}

#[test]
fn each_is_stopped_before_it_takes_sixteen_mebibytes() {
    const MOST: u64 = 16 * 1024 * 1024;
    let bytes = object();
    let object = read(&bytes, &Projection::everything()).unwrap();
    let all = all();
    assert!(all.len() >= 20);
    for hostile in all {
        let expression = hostile.expression();
        let mut outcome = None;
        let heap = measure(|| {
            let program = cel::compile(&expression).map_err(|error| error.reason);
            outcome = Some(program.and_then(|program| {
                let value = program.value(&object, &mut Budget::DEFAULT.clone());
                value.map(drop).map_err(|error| error.to_string())
            }));
        });
        let name = &hostile.name;
        println!("{name}: {outcome:?}, at most {} bytes", heap.bytes_max);
        assert!(heap.bytes_max <= MOST, "{name}: {} bytes", heap.bytes_max);
        let Some(Err(why)) = outcome else { panic!("{name}: was not stopped") };
        let clear = [
            "looks at too many values",
            "builds too much",
            "is too large",
            "nested deeper",
            "longer than",
            "steps, and",
            "a precision",
        ];
        assert!(clear.iter().any(|text| why.contains(text)), "{name}: {why}");
    }
}

/// What tenants write on large objects passes.
#[test]
fn the_sensible_is_not_stopped() {
    let bytes = object();
    let object = read(&bytes, &Projection::everything()).unwrap();
    for expression in [
        "object.list.map(a, a + 1).size()",
        "object.list.filter(a, a % 2 == 0).map(a, string(a)).join(',').size()",
        "object.words.map(w, w.split('-')[1]).size()",
        "object.words.all(w, w.matches('^[a-z]+-[0-9]+$'))",
        "object.words.sort().size()",
        "object.words.filter(w, w.endsWith('-7')).map(w, w.upperAscii())",
        "object.list.exists(a, a == 19999)",
        "object.text.size() + object.text.replace('a', 'b').size()",
        "cel.bind(ws, object.words.slice(0, 300), ws.all(a, ws.exists(b, a == b)))",
        "object.text.matches('^a+$')",
        "object.words.slice(0, 100).map(a, object.words.slice(0, 100).map(b, a + b).size()).size()",
        "has(object.a) ? object.a.map(a, a.b.map(b, b.c.map(c, c.d.map(d, d.x)))) : []",
    ] {
        let program = cel::compile(expression).map_err(|error| error.point_at(expression));
        let program = program.unwrap_or_else(|error| panic!("{error}"));
        let mut budget = Budget::DEFAULT;
        let value = program.value(&object, &mut budget);
        let spent = Budget::DEFAULT.steps() - budget.steps();
        println!("{expression}: {spent}");
        assert!(value.is_ok(), "{expression}: {value:?}");
    }
}
