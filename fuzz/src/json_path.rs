//! Any text as a path, on objects that stay the same.

use std::sync::LazyLock;

use kollect_expr::{Budget, Json, Projection, json_path::compile, read};

/// A real object, one with the corners of JSON, and one that is wide and deep
/// enough for a costly path to be costly.
const OBJECTS: [&str; 3] = [
    include_str!("../objects/deployment.json"),
    include_str!("../objects/corners.json"),
    include_str!("../objects/wide.json"),
];

pub(crate) static READ: LazyLock<Vec<Json<'static>>> = LazyLock::new(|| {
    let everything = Projection::everything();
    OBJECTS.iter().filter_map(|text| read(text.as_bytes(), &everything).ok()).collect()
});

/// A text compiles or says where it is wrong, and what compiles has a value or
/// says why not, within its budget.
pub fn json_path(input: &[u8]) {
    let Ok(source) = str::from_utf8(input) else { return };
    let program = match compile(source) {
        Ok(program) => program,
        Err(error) => {
            assert!(error.at <= source.len(), "an error behind the end: {error:?}");
            assert!(error.point_at(source).starts_with(source), "{error:?}");
            return;
        }
    };
    assert_eq!(program.source(), source);
    let mut projection = Projection::default();
    projection.add(&program);
    assert!(!projection.paths().is_empty(), "a path that touches nothing");
    assert_eq!(READ.len(), OBJECTS.len(), "an object is no JSON");
    for object in READ.iter() {
        if let Err(error) = program.value(object, &mut Budget::DEFAULT.clone()) {
            assert!(error.at <= source.len(), "an error behind the end: {error:?}");
        }
    }
}
