//! Any text as an expression, on objects that stay the same.

use kollect_expr::{Budget, Projection, cel::compile};

use crate::json_path::READ;

/// A text compiles or says where it is wrong, and what compiles has a value or
/// says why not, within its budget.
pub fn cel_source(input: &[u8]) {
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
    for object in READ.iter() {
        if let Err(error) = program.value(object, &mut Budget::DEFAULT.clone()) {
            assert!(error.at <= source.len(), "an error behind the end: {error:?}");
        }
    }
}
