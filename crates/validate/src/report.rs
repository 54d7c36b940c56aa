//! What is wrong with an object, and where.

use std::fmt;

use serde_json::Value;

use crate::rule::Rule;

/// Everything that the rules have to say about one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What makes the object inadmissible.
    pub violations: Vec<Violation>,
    /// What its author probably wants to know.
    pub warnings: Vec<Warning>,
}

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The field that breaks it.
    pub path: FieldPath,
    /// What kind of mistake it is, with what was found.
    pub problem: Problem,
    /// What would be right.
    pub detail: String,
}

/// Something that is admitted and deserves a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The rule.
    pub rule: Rule,
    /// The field that it is about.
    pub path: FieldPath,
    /// The remark.
    pub detail: String,
}

/// The classes of field errors that Kubernetes knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A value is missing.
    Required,
    /// The value that was found is not acceptable.
    Invalid(String),
    /// The field may not be set here.
    Forbidden,
    /// The value that was found stands in the list already.
    Duplicate(String),
    /// The value that was found is none of the permitted ones.
    NotSupported(String),
    /// That many entries were found.
    TooMany(usize),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule: _, path, problem, detail } = self;
        match problem {
            Problem::Required => write!(f, "{path}: Required value: {detail}"),
            Problem::Invalid(found) => write!(f, "{path}: Invalid value: {found}: {detail}"),
            Problem::Forbidden => write!(f, "{path}: Forbidden: {detail}"),
            Problem::Duplicate(found) => write!(f, "{path}: Duplicate value: {found}: {detail}"),
            Problem::NotSupported(found) => {
                write!(f, "{path}: Unsupported value: {found}: {detail}")
            }
            Problem::TooMany(found) => write!(f, "{path}: Too many: {found}: {detail}"),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.detail)
    }
}

impl Report {
    /// Whether the object is admissible.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    pub(crate) fn add(&mut self, violation: Violation) {
        self.violations.push(violation);
    }

    pub(crate) fn required(&mut self, rule: Rule, path: FieldPath, detail: impl Into<String>) {
        self.add(Violation { rule, path, problem: Problem::Required, detail: detail.into() });
    }

    pub(crate) fn invalid(
        &mut self,
        rule: Rule,
        path: FieldPath,
        found: &str,
        detail: impl Into<String>,
    ) {
        let problem = Problem::Invalid(quoted(found));
        self.add(Violation { rule, path, problem, detail: detail.into() });
    }

    pub(crate) fn forbidden(&mut self, rule: Rule, path: FieldPath, detail: impl Into<String>) {
        self.add(Violation { rule, path, problem: Problem::Forbidden, detail: detail.into() });
    }

    pub(crate) fn duplicate(&mut self, rule: Rule, path: FieldPath, found: &str) {
        let problem = Problem::Duplicate(quoted(found));
        let detail = "it stands earlier in the list".to_owned();
        self.add(Violation { rule, path, problem, detail });
    }

    pub(crate) fn too_many(
        &mut self,
        rule: Rule,
        path: FieldPath,
        found: usize,
        detail: impl Into<String>,
    ) {
        let problem = Problem::TooMany(found);
        self.add(Violation { rule, path, problem, detail: detail.into() });
    }

    pub(crate) fn warn(&mut self, rule: Rule, path: FieldPath, detail: impl Into<String>) {
        self.warnings.push(Warning { rule, path, detail: detail.into() });
    }
}

/// Characters of a value that are repeated in a message.
const LONGEST: usize = 120;

/// Spells a value as it stands in JSON; long ones are cut.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?} (cut)", text.get(..end).unwrap_or_default()),
    }
}

/// Spells a whole JSON value; long ones are cut.
pub(crate) fn spelled(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{} (cut)", text.get(..end).unwrap_or_default()),
    }
}

/// The way from an object to one of its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(Vec<Segment>);

/// One step of the way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// A field that the schema names.
    Field(String),
    /// A key of a map.
    Key(String),
    /// A place in a list.
    Index(usize),
}

impl FieldPath {
    /// A path of field names, separated by dots.
    pub fn of(dotted: &str) -> Self {
        Self(dotted.split('.').map(|name| Segment::Field(name.to_owned())).collect())
    }

    /// The field below this one; dots lead further down.
    #[must_use]
    pub fn field(&self, dotted: &str) -> Self {
        let mut segments = self.0.clone();
        segments.extend(Self::of(dotted).0);
        Self(segments)
    }

    /// The entry of the map at this path.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.with(Segment::Key(key.to_owned()))
    }

    /// The entry of the list at this path.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    /// The steps from the object to the field.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    fn with(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("object");
        }
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if at == 0 => write!(f, "{name}")?,
                Segment::Field(name) => write!(f, ".{name}")?,
                Segment::Key(key) => write!(f, "[{key}]")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_spelled_as_kubernetes_spells_it() {
        let path = FieldPath::of("spec.attributes").index(2).field("name");
        assert_eq!(path.to_string(), "spec.attributes[2].name");
        assert_eq!(FieldPath::of("spec.options").key("a.b").to_string(), "spec.options[a.b]");
    }

    #[test]
    fn a_violation_reads_as_the_api_servers_own() {
        let mut report = Report::default();
        report.invalid(Rule::Tgt01, FieldPath::of("spec.profileRef"), "a/b", "must be a name");
        assert_eq!(
            report.violations[0].to_string(),
            r#"spec.profileRef: Invalid value: "a/b": must be a name"#
        );
    }

    #[test]
    fn a_long_value_is_cut() {
        assert!(quoted(&"ü".repeat(500)).len() < 300);
    }
}
