//! An expression on what it can touch, and on the whole object.

use kollect_expr::{Budget, Projection, cel::compile, read};

/// The first line is an expression, the rest an object. What the expression
/// gives does not depend on how much of the object was read.
pub fn cel_eval(input: &[u8]) {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else { return };
    let (source, rest) = input.split_at(end);
    let object = rest.get(1..).unwrap_or_default();
    let Ok(Ok(program)) = str::from_utf8(source).map(compile) else { return };
    // Names that are kept are looked at less closely than those that are
    // skipped, and may hold what no server sends; that is not the question here.
    if serde_json::from_slice::<serde_json::Value>(object).is_err() {
        return;
    }
    let Ok(whole) = read(object, &Projection::everything()) else { return };
    let mut projection = Projection::default();
    projection.add(&program);
    let part = read(object, &projection);
    let Ok(part) = part else { panic!("the whole can be read, but not a part: {part:?}") };
    assert_eq!(
        program.value(&part, &mut Budget::DEFAULT.clone()),
        program.value(&whole, &mut Budget::DEFAULT.clone()),
        "on the projection, and on the whole"
    );
}
