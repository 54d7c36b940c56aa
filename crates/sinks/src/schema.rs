//! What a view's rows look like, as far as sinks want to know before a row.

use kollect_api::{ExportMode, ProfileSpec};
use kollect_inventory::{TargetKey, digest::hexadecimal};
use sha2::{Digest as _, Sha256};

/// The profiles whose rows a view holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    pub profiles: Vec<ProfileSchema>,
}

/// What the rows of one profile hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileSchema {
    /// Namespace of the profile; empty where profiles have none.
    pub namespace: String,
    /// Name of the profile.
    pub name: String,
    /// Targets that use it.
    pub targets: Vec<TargetKey>,
    /// What each row holds, in the profile's order.
    pub columns: Vec<Column>,
    /// Key under which rows embed their object, if they do.
    pub embeds: Option<String>,
}

/// One attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub value: ColumnType,
}

/// What an attribute is said to hold. It documents; a value of another type
/// is no error, and reads as none where types are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Text,
    Integer,
    Number,
    Boolean,
    /// A list or a map.
    Json,
    /// Nothing was said.
    Any,
}

impl ProfileSchema {
    /// What a profile promises about its rows.
    pub fn of(name: &str, profile: &ProfileSpec, targets: Vec<TargetKey>) -> Self {
        let column = |attribute: &kollect_api::Attribute| Column {
            name: attribute.name.clone(),
            value: ColumnType::of(attribute.value_type.as_deref()),
        };
        let export = profile.export.as_ref().filter(|export| export.mode == ExportMode::Resource);
        Self {
            namespace: String::new(),
            name: name.to_owned(),
            targets,
            columns: profile.attributes.iter().map(column).collect(),
            embeds: export.map(|export| export.key.clone()),
        }
    }
}

impl ColumnType {
    /// Reads the word that a profile has for the type.
    fn of(word: Option<&str>) -> Self {
        match word.map(str::to_ascii_lowercase).as_deref() {
            Some("string" | "text") => Self::Text,
            Some("int" | "integer") => Self::Integer,
            Some("float" | "double" | "number") => Self::Number,
            Some("bool" | "boolean") => Self::Boolean,
            Some("list" | "array" | "map" | "object") => Self::Json,
            _ => Self::Any,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Json => "json",
            Self::Any => "any",
        }
    }
}

impl Schema {
    /// A short text that differs when anything about the schema does. It is
    /// recorded at destinations.
    pub fn fingerprint(&self) -> String {
        let mut lines = Vec::new();
        for profile in &self.profiles {
            let ProfileSchema { namespace, name, targets, columns, embeds } = profile;
            lines.push(format!("{namespace:?} {name:?} {embeds:?}"));
            let target =
                |TargetKey { namespace, name }: &_| format!("target {namespace:?} {name:?}");
            lines.extend(targets.iter().map(target));
            let column = |Column { name, value }: &_| format!("column {name:?} {}", value.word());
            lines.extend(columns.iter().map(column));
        }
        let text = lines.join("\n");
        hexadecimal(&Sha256::digest(text.as_bytes())).chars().take(16).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(attributes: &str) -> Schema {
        let spec = format!(
            r#"{{"targetGVK":{{"version":"v1","kind":"Pod"}},"attributes":[{attributes}]}}"#
        );
        let target = TargetKey { namespace: Some("shop".into()), name: "pods".into() };
        let profile = serde_json::from_str(&spec).unwrap();
        Schema { profiles: vec![ProfileSchema::of("pods", &profile, vec![target])] }
    }

    #[test]
    fn every_word_for_a_type_is_understood_and_others_say_nothing() {
        use ColumnType::{Any, Boolean, Integer, Json, Number, Text};
        let words = ["string", "int", "Boolean", "list", "map", "float", "quantity"];
        let expected = [Text, Integer, Boolean, Json, Json, Number, Any];
        assert_eq!(words.map(|word| ColumnType::of(Some(word))), expected);
        assert_eq!(ColumnType::of(None), Any);
    }

    #[test]
    fn a_fingerprint_follows_names_and_types() {
        let image = r#"{"name":"image","path":"$.a","type":"string"}"#;
        let other_type = r#"{"name":"image","path":"$.a","type":"int"}"#;
        let other_path = r#"{"name":"image","path":"$.b","type":"string"}"#;
        let print = |attributes: &str| schema(attributes).fingerprint();
        assert_eq!(print(image), print(other_path));
        assert_ne!(print(image), print(other_type));
        assert_ne!(print(image), Schema::default().fingerprint());
    }
}
