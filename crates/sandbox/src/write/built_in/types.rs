//! Whether the values of a built-in kind have the types that they must have:
//! clients in Go stop at the first that has not.

use serde_json::Value;

use crate::schema::Schema;

/// What is wrong with the first value of another type, as real servers say it.
pub(crate) fn wrong_type(kind: &str, object: &Value, schema: Schema<'_>) -> Option<String> {
    let place = Place { schema, holder: kind, path: String::new() };
    place.wrong(object)
}

/// A place in an object.
struct Place<'a> {
    schema: Schema<'a>,
    /// The name of the type around it.
    holder: &'a str,
    /// Without the numbers of elements.
    path: String,
}

impl Place<'_> {
    fn wrong(&self, value: &Value) -> Option<String> {
        let kind = self.schema.text("type");
        let actual = match value {
            Value::Null => return None,
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let fits = match kind {
            "string" | "object" | "array" => kind == actual,
            "integer" => value.is_i64() || value.is_u64(),
            "number" => actual == "number",
            "boolean" => actual == "bool",
            // Quantities and the like are read in several ways.
            _ => return None,
        };
        if !fits {
            let Self { holder, path, .. } = self;
            let wanted = self.go();
            return Some(format!(
                "json: cannot unmarshal {actual} into Go struct field {holder}.{path} of type \
                 {wanted}"
            ));
        }
        let own = self.schema.name().map_or(self.holder, short);
        let inner = |schema, path| Place { schema, holder: own, path };
        match value {
            Value::Object(fields) => fields.iter().find_map(|(name, value)| {
                let path = match self.path.as_str() {
                    "" => name.clone(),
                    path => format!("{path}.{name}"),
                };
                inner(self.schema.member(name)?, path).wrong(value)
            }),
            Value::Array(items) => {
                let schema = self.schema.items()?;
                items.iter().find_map(|item| inner(schema, self.path.clone()).wrong(item))
            }
            _ => None,
        }
    }

    /// What the type is called in Go.
    fn go(&self) -> String {
        if let Some(name) = self.schema.name() {
            let mut parts = name.rsplit('.');
            let (kind, package) = (parts.next().unwrap_or_default(), parts.next());
            return format!("{}.{kind}", package.unwrap_or_default());
        }
        match self.schema.text("type") {
            "integer" if self.schema.text("format") == "int64" => "int64".to_owned(),
            "integer" => "int32".to_owned(),
            "boolean" => "bool".to_owned(),
            "array" => {
                let inner = self.schema.items();
                let inner = inner.map(|schema| Place { schema, holder: "", path: String::new() });
                format!("[]{}", inner.map(|place| place.go()).unwrap_or_default())
            }
            "object" => "map[string]string".to_owned(),
            other => other.to_owned(),
        }
    }
}

fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recorded;

    #[track_caller]
    fn check(spec: Value, expected: Option<&str>) {
        let schema = Schema::new(&recorded::schemas()["io.k8s.api.core.v1.Pod"]);
        let found = wrong_type("Pod", &json!({"spec": spec}), schema);
        let expected = expected.map(|text| format!("json: cannot unmarshal {text}"));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_first_value_of_another_type_is_named() {
        check(json!({"containers": [{"image": "x", "resources": {"limits": {"cpu": 1}}}]}), None);
        check(
            json!({"containers": [{"env": [{"name": true}]}]}),
            Some("bool into Go struct field EnvVar.spec.containers.env.name of type string"),
        );
        check(
            json!({"priority": "high"}),
            Some("string into Go struct field PodSpec.spec.priority of type int32"),
        );
        check(
            json!({"containers": {}}),
            Some("object into Go struct field PodSpec.spec.containers of type []v1.Container"),
        );
    }
}
