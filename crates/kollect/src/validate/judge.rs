//! Judges a set of manifests as a whole.

use std::collections::{BTreeMap, BTreeSet};

use kollect_api::annotation;
use kollect_validate::{
    FieldPath, Kind, KnownSecret, Object, Policy, Reference, Review, Rule, Segment, Surroundings,
    Violation, references, review,
};
use serde::Serialize;
use serde_json::Value;

use kollect_collect::{Failure, Found, Manifest, Step};

/// Everything that is to be said about a set of manifests.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// Objects of ours that were judged.
    pub(super) checked: usize,
    /// Objects of other kinds.
    pub(super) passed_over: usize,
    pub(super) findings: Vec<Finding>,
    pub(super) failures: Vec<Failure>,
    /// Every object of ours that could be read, as the API server would store
    /// it.
    pub(crate) objects: Vec<Object>,
}

/// One violation or warning, and where it is.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(super) severity: Severity,
    pub(super) rule: &'static str,
    pub(super) file: String,
    pub(super) document: usize,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) field: String,
    pub(super) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    Error,
    Warning,
}

impl Verdict {
    /// What makes the set inadmissible.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error)
    }
}

impl Verdict {
    /// Whether everything could be read and nothing is inadmissible.
    pub(crate) fn is_good(&self) -> bool {
        self.failures.is_empty() && self.errors().next().is_none()
    }
}

/// Judges every object, and then what holds between them.
pub(crate) fn judge(found: Found, policy: Policy, strict: bool) -> Verdict {
    let Found { manifests, failures } = found;
    let mut verdict =
        Verdict { checked: 0, passed_over: 0, findings: Vec::new(), failures, objects: Vec::new() };
    let mut ours = Vec::new();
    let mut around = Surroundings { policy, ..Surroundings::default() };
    for manifest in &manifests {
        let value = manifest.value();
        match kind(&value) {
            Some(Ok(kind)) => ours.push((manifest, kind, value)),
            Some(Err(violation)) => {
                verdict.checked += 1;
                let place = Place { manifest, value: &value };
                let text = violation.to_string();
                let finding = place.finding(Severity::Error, violation.rule, &violation.path, text);
                verdict.findings.push(finding);
            }
            None => {
                verdict.passed_over += 1;
                around.secrets.extend(secret(&value));
            }
        }
    }
    learn(&ours, &mut around);
    let mut objects = Vec::new();
    for (manifest, kind, value) in &ours {
        verdict.checked += 1;
        let place = Place { manifest, value };
        let Review { object, report } = review(*kind, value.clone(), &around);
        for found in &report.violations {
            let text = found.to_string();
            verdict.findings.push(place.finding(Severity::Error, found.rule, &found.path, text));
        }
        for found in &report.warnings {
            let text = found.to_string();
            verdict.findings.push(place.finding(Severity::Warning, found.rule, &found.path, text));
        }
        objects.extend(object.map(|object| (place, object)));
    }
    verdict.findings.extend(duplicates(&objects));
    let dangling = dangling(&objects, &verdict.findings, strict);
    verdict.findings.extend(dangling);
    let place = |finding: &Finding| (finding.file.clone(), finding.line, finding.column);
    verdict.findings.sort_by_key(place);
    verdict.objects = objects.into_iter().map(|(_, object)| object).collect();
    verdict
}

/// Gathers what rules about one object have to know about the others.
fn learn(ours: &[(&Manifest, Kind, Value)], around: &mut Surroundings) {
    let nothing = Surroundings::default();
    for (_, kind, value) in ours {
        if !matches!(kind, Kind::Profile | Kind::Scope | Kind::ClusterScope) {
            continue;
        }
        match review(*kind, value.clone(), &nothing).object {
            Some(Object::Profile(profile)) => around.profiles.push(*profile),
            Some(Object::Scope(scope)) => around.scopes.push(*scope),
            Some(Object::ClusterScope(scope)) => around.cluster_scopes.push(*scope),
            _ => {}
        }
    }
}

/// SET-02: two objects cannot share a name.
fn duplicates(objects: &[(Place<'_>, Object)]) -> Vec<Finding> {
    let mut first: BTreeMap<_, &Place<'_>> = BTreeMap::new();
    let mut findings = Vec::new();
    for (place, object) in objects.iter().filter(|(_, object)| !object.name().is_empty()) {
        let key = (object.kind(), object.namespace(), object.name());
        if let Some(earlier) = first.get(&key) {
            let text = format!(
                "metadata.name: Duplicate value: {:?}: the object stands in {}, document {}, already",
                object.name(),
                earlier.manifest.file,
                earlier.manifest.document
            );
            let path = FieldPath::of("metadata.name");
            findings.push(place.finding(Severity::Error, Rule::Set02, &path, text));
        } else {
            first.insert(key, place);
        }
    }
    findings
}

/// SET-01: references that lead to nothing in the set. One that is malformed
/// has been reported as such and is left out.
fn dangling(objects: &[(Place<'_>, Object)], known: &[Finding], strict: bool) -> Vec<Finding> {
    let severity = if strict { Severity::Error } else { Severity::Warning };
    let identity =
        |object: &Object| (object.kind(), object.namespace().to_owned(), object.name().to_owned());
    let given: BTreeSet<_> = objects.iter().map(|(_, object)| identity(object)).collect();
    let broken: BTreeSet<_> =
        known.iter().map(|finding| (&finding.file, finding.document, &finding.field)).collect();
    let mut findings = Vec::new();
    for (place, object) in objects {
        for Reference { path, kind, namespace, name } in references(object) {
            let id = (kind, namespace, name);
            let field = path.to_string();
            let is_broken =
                broken.contains(&(&place.manifest.file, place.manifest.document, &field));
            if given.contains(&id) || is_broken {
                continue;
            }
            let (kind, namespace, name) = id;
            let slash = if namespace.is_empty() { "" } else { "/" };
            let text = format!(
                "{path}: there is no {} {namespace}{slash}{name} among what was given",
                kind.name()
            );
            findings.push(place.finding(severity, Rule::Set01, &path, text));
        }
    }
    findings
}

/// The kind of an object; `None` if it is not ours.
fn kind(value: &Value) -> Option<Result<Kind, Violation>> {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    Kind::of(text("apiVersion"), text("kind"))
}

fn secret(value: &Value) -> Option<KnownSecret> {
    if value.get("kind")? != "Secret" || value.get("apiVersion")? != "v1" {
        return None;
    }
    let metadata = value.get("metadata")?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Some(KnownSecret {
        namespace: metadata.get("namespace").and_then(text).unwrap_or_else(|| "default".to_owned()),
        name: metadata.get("name").and_then(text)?,
        allowed: metadata
            .get("annotations")
            .and_then(|all| all.get(annotation::ALLOW_SINK_NAMESPACES))
            .and_then(text),
    })
}

fn step(segment: &Segment) -> Step<'_> {
    match segment {
        Segment::Field(name) | Segment::Key(name) => Step::Field(name),
        Segment::Index(index) => Step::Index(*index),
    }
}

/// An object and where it was written.
#[derive(Clone, Copy)]
struct Place<'a> {
    manifest: &'a Manifest,
    value: &'a Value,
}

impl Place<'_> {
    fn finding(
        &self,
        severity: Severity,
        rule: Rule,
        path: &FieldPath,
        message: String,
    ) -> Finding {
        let text = |pointer: &str| {
            let value = self.value.pointer(pointer).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let at = self.manifest.position(path.segments().iter().map(step));
        Finding {
            severity,
            rule: rule.id(),
            file: self.manifest.file.clone(),
            document: self.manifest.document,
            line: at.line,
            column: at.column,
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            field: path.to_string(),
            message,
        }
    }
}
