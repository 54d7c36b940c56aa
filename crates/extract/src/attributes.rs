//! The attribute map: what a profile reads from an object.

use kollect_api::Attribute;
use kollect_expr::{Budget, Json, Program, Projection, cel, json_path, read};
use serde_json::Value;

use crate::{
    helm::{self, HelmError},
    verdict::Failure,
};

/// One attribute, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(crate) name: String,
    optional: bool,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// A JSONPath, or CEL.
    Program(Program),
    Helm(helm::Field),
}

impl Reader {
    /// Compiles an attribute; an error says what is wrong with its path.
    pub(crate) fn compile(attribute: &Attribute) -> Result<Self, String> {
        let path = attribute.path.trim();
        let source = if let Some(expression) = path.strip_prefix("cel:") {
            let program = cel::compile(expression).map_err(|error| error.point_at(expression))?;
            Source::Program(program)
        } else if let Some(field) = path.strip_prefix("helm:release.") {
            Source::Helm(helm::Field::parse(field)?)
        } else {
            let program = json_path::compile(path).map_err(|error| error.point_at(path))?;
            Source::Program(program)
        };
        Ok(Self { name: attribute.name.clone(), optional: attribute.optional, source })
    }

    /// The paths that it can touch.
    pub(crate) fn add_to(&self, projection: &mut Projection) {
        match &self.source {
            Source::Program(program) => projection.add(program),
            Source::Helm(_) => projection.add_fields(&["data", "release"]),
        }
    }

    /// Whether it reads the values that a Helm release was installed with.
    pub(crate) fn reads_config(&self) -> bool {
        matches!(&self.source, Source::Helm(field) if field.is_config())
    }

    /// Whether it reads a Helm release.
    pub(crate) fn reads_release(&self) -> bool {
        matches!(self.source, Source::Helm(_))
    }
}

/// A release, unpacked at most once for each object.
pub(crate) type Release = Option<Result<Value, HelmError>>;

/// Reads all attributes, in the order of the profile; what is left out is
/// none. One that is absent is null, or left out if it is optional; one that
/// cannot be read fails the row, or is left out.
pub(crate) fn read_all<'o>(
    readers: &[Reader],
    object: &Json<'o>,
    release: &Release,
) -> Result<Vec<Option<Json<'o>>>, Failure> {
    // One more for the copy of the object, if there is one.
    let mut found = Vec::with_capacity(readers.len() + 1);
    for Reader { name, optional, source } in readers {
        let value = match source {
            Source::Program(program) => {
                let value = program.value(object, &mut Budget::DEFAULT.clone());
                value.map_err(|error| error.to_string())
            }
            Source::Helm(field) => of_release(field, release),
        };
        match value {
            Ok(Json::Null) | Err(_) if *optional => found.push(None),
            Ok(value) => found.push(Some(value)),
            Err(reason) => return Err(Failure::Attribute { attribute: name.clone(), reason }),
        }
    }
    Ok(found)
}

fn of_release(field: &helm::Field, release: &Release) -> Result<Json<'static>, String> {
    match release {
        Some(Ok(release)) => Ok(field.value(release).map_or(Json::Null, |value| owned(&value))),
        Some(Err(error)) => Err(error.to_string()),
        None => Err(HelmError::Absent.to_string()),
    }
}

/// A value with nothing borrowed.
fn owned(value: &Value) -> Json<'static> {
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    read(&bytes, &Projection::everything()).map_or(Json::Null, Json::into_owned)
}
