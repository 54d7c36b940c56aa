//! Attributes from the schema of a kind.

use kollect_api::GroupVersionKind;
use serde_json::Value;

use super::{
    Chosen, compiles,
    naming::{Names, camel},
    of_element,
};

/// As many as fit into a line of a table.
const MOST: usize = 8;
/// A description is a reminder, and the schema has the rest.
const LONGEST_REMARK: usize = 72;
/// References that lead in a circle end here.
const DEEPEST: usize = 8;

/// What most people look for, the most wanted first.
const WANTED: &[&str] = &[
    "phase",
    "state",
    "replicas",
    "version",
    "image",
    "images",
    "type",
    "class",
    "suspend",
    "paused",
    "schedule",
    "host",
    "hosts",
    "url",
    "dnsNames",
    "provisioner",
    "holderIdentity",
    "chart",
    "revision",
    "size",
    "storage",
    "capacity",
    "driver",
    "controller",
    "provider",
    "readyReplicas",
    "healthy",
    "notAfter",
];

/// What changes without meaning, or is prose.
const UNWANTED: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "observedGeneration",
    "generation",
    "resourceVersion",
    "uid",
    "message",
    "reason",
    "description",
    "data",
    "note",
    "stringData",
    "binaryData",
];

/// A schema, in the document in which its references lead somewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schema<'a> {
    document: &'a Value,
    here: &'a Value,
}

impl<'a> Schema<'a> {
    /// The schema of a version of a custom kind.
    pub(super) fn of_definition(definition: &'a Value, version: &str) -> Option<Self> {
        let versions = definition.pointer("/spec/versions")?.as_array()?;
        let of_version = |one: &&Value| one.get("name").and_then(Value::as_str) == Some(version);
        let here = versions.iter().find(of_version)?.pointer("/schema/openAPIV3Schema")?;
        Some(Self { document: here, here })
    }

    /// The schema of a kind in the document of its group and version.
    pub(super) fn of_document(document: &'a Value, kind: &GroupVersionKind) -> Option<Self> {
        let is_it = |one: &Value| {
            let text = |field: &str| one.get(field).and_then(Value::as_str).unwrap_or_default();
            text("group") == kind.group
                && text("version") == kind.version
                && text("kind") == kind.kind
        };
        let kinds = |schema: &'a Value| schema.get("x-kubernetes-group-version-kind")?.as_array();
        let schemas = document.pointer("/components/schemas")?.as_object()?;
        let here = schemas.values().find(|one| kinds(one).is_some_and(|all| all.iter().any(is_it)));
        here.map(|here| Self { document, here })
    }

    /// What a reference, alone or as the one part of a whole, stands for.
    fn resolved(self) -> Self {
        let mut here = self.here;
        for _ in 0..DEEPEST {
            let part = match here.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
                Some([part]) => part,
                _ => here,
            };
            let reference = part.get("$ref").and_then(Value::as_str);
            match reference.and_then(|one| self.document.pointer(one.strip_prefix('#')?)) {
                Some(next) => here = next,
                None => return Self { here: part, ..self },
            }
        }
        Self { here: &Value::Null, ..self }
    }

    /// The schema of a field.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        let fields = self.resolved().here.get("properties")?;
        fields.get(name).map(|here| Self { here, ..self })
    }

    fn fields(self) -> impl Iterator<Item = (&'a String, Self)> {
        let fields = self.resolved().here.get("properties").and_then(Value::as_object);
        fields.into_iter().flatten().map(move |(name, here)| (name, Self { here, ..self }))
    }

    fn requires(self, name: &str) -> bool {
        let required = self.resolved().here.get("required").and_then(Value::as_array);
        required.is_some_and(|all| all.iter().any(|one| one == name))
    }

    /// The word that a profile has for the type: the outer nothing means that
    /// the schema does not say, the inner one that there are several.
    #[expect(clippy::option_option, reason = "silence and variety are not the same")]
    pub(super) fn value_type(self) -> Option<Option<&'static str>> {
        let schema = self.resolved().here;
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => Some(Some("string")),
            Some("integer") => Some(Some("int")),
            Some("number") => Some(Some("number")),
            Some("boolean") => Some(Some("bool")),
            Some("array") => Some(Some("list")),
            Some("object") => Some(Some("map")),
            Some(_) => None,
            None => schema.get("oneOf").or(schema.get("x-kubernetes-int-or-string")).map(|_| None),
        }
    }

    /// Whether it is one value, or a list of such.
    fn is_flat(self) -> bool {
        match self.value_type() {
            Some(Some("map")) | None => false,
            Some(Some("list")) => {
                let items = self.resolved().here.get("items");
                let items = items.map(|here| Self { here, ..self });
                let of_items = items.and_then(Self::value_type);
                matches!(of_items, Some(None | Some("string" | "int" | "number" | "bool")))
            }
            Some(_) => true,
        }
    }

    fn text(self, field: &str) -> &'a str {
        // A reference may be described where it stands.
        let own = self.here.get(field).and_then(Value::as_str);
        let own = own.or_else(|| self.resolved().here.get(field).and_then(Value::as_str));
        own.unwrap_or_default()
    }
}

/// A field that may become an attribute.
struct Candidate<'a> {
    way: Vec<&'a str>,
    schema: Schema<'a>,
    /// The least is the best.
    rank: usize,
}

/// A few fields with values that mean something and last, the most wanted of
/// them, in the order of the object.
pub(super) fn of(schema: Schema<'_>, is_custom: bool) -> Vec<Chosen> {
    let mut candidates = Vec::new();
    for (section, inner) in schema.fields() {
        let way = vec![section.as_str()];
        if matches!(section.as_str(), "spec" | "status") {
            gather(&way, inner, true, &mut candidates);
        } else if is_lasting(section, inner) {
            let rank = rank(section, schema.requires(section), 1);
            candidates.push(Candidate { way, schema: inner, rank });
        }
    }
    let mut ranks: Vec<_> = candidates.iter().map(|one| (one.rank, one.way.clone())).collect();
    ranks.sort();
    ranks.truncate(MOST);
    candidates.retain(|one| ranks.iter().any(|(_, way)| *way == one.way));
    let mut names = Names::new();
    let mut chosen: Vec<_> =
        candidates.iter().filter_map(|one| attribute(one, &mut names)).collect();
    let conditions = schema.field("status").and_then(|status| status.field("conditions"));
    if conditions.is_some() && is_custom {
        chosen.extend(names.take(&["ready".to_owned()]).map(|name| Chosen {
            name,
            path: of_element(".status.conditions", "type", "Ready", "status"),
            value_type: Some("string"),
            optional: true,
            origin: "the condition Ready, where there is one".to_owned(),
        }));
    }
    chosen
}

/// The fields of a section, and those a step below that are wanted much.
fn gather<'a>(way: &[&'a str], schema: Schema<'a>, further: bool, all: &mut Vec<Candidate<'a>>) {
    for (name, inner) in schema.fields() {
        let way = [way, &[name.as_str()]].concat();
        if is_lasting(name, inner) {
            let rank = rank(name, schema.requires(name), way.len());
            // Below the first step there is too much that nobody wants.
            if further || rank < WANTED.len() || schema.requires(name) {
                all.push(Candidate { way, schema: inner, rank });
            }
        } else if further && inner.value_type() == Some(Some("map")) {
            gather(&way, inner, false, all);
        }
    }
}

fn is_lasting(name: &str, schema: Schema<'_>) -> bool {
    schema.is_flat()
        && !UNWANTED.contains(&name)
        && schema.text("format") != "byte"
        && (schema.text("format") != "date-time" || WANTED.contains(&name))
        && !["last", "deprecated"].iter().any(|begin| name.starts_with(begin))
        && !name.ends_with("Hash")
}

fn rank(name: &str, is_required: bool, depth: usize) -> usize {
    let wanted = WANTED.iter().position(|one| *one == name);
    match (wanted, is_required) {
        (Some(at), _) => at,
        (None, true) => 100 + depth,
        (None, false) => 200 + depth,
    }
}

fn attribute(candidate: &Candidate<'_>, names: &mut Names) -> Option<Chosen> {
    let Candidate { way, schema, rank: _ } = candidate;
    let path = format!("$.{}", way.join("."));
    let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !way.iter().all(is_word) || !compiles(&path) {
        return None;
    }
    let tail = |count: usize| {
        camel(&way.get(way.len().saturating_sub(count)..).unwrap_or_default().join(" "))
    };
    let proposals = if way.len() > 2 { [tail(2), tail(3)] } else { [tail(1), tail(2)] };
    Some(Chosen {
        name: names.take(&proposals)?,
        path,
        value_type: schema.value_type().flatten(),
        optional: false,
        origin: told("the schema", schema.text("description")),
    })
}

/// Where something comes from, and the beginning of what is said of it there.
pub(super) fn told(origin: &str, description: &str) -> String {
    let line: String = description.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = line.split(". ").next().unwrap_or_default().trim_end_matches('.');
    let mut short = String::new();
    for word in sentence.split(' ') {
        if short.chars().count() + word.chars().count() > LONGEST_REMARK {
            return format!("{origin}: {}…", short.trim_end());
        }
        short.push_str(word);
        short.push(' ');
    }
    match short.trim_end() {
        "" => origin.to_owned(),
        short => format!("{origin}: {short}"),
    }
}
