//! The trimmed copy of an object.

use std::collections::BTreeSet;

use kollect_api::{Include, ResourceExport};
use kollect_expr::{
    Budget, Json, Program,
    cel::{self, Gives},
    json_path,
};

use crate::verdict::Failure;

/// What changes without meaning, as pointers.
const NOISE: [&str; 5] = [
    "/metadata/managedFields",
    "/metadata/resourceVersion",
    "/metadata/generation",
    "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration",
    "/metadata/annotations/argocd.argoproj.io~1tracking-id",
];

const IDENTITY: [&str; 3] = ["/metadata/name", "/metadata/namespace", "/metadata/uid"];

/// How a copy is trimmed, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Trim {
    pub(crate) key: String,
    include: Include,
    pointers: Vec<Vec<String>>,
    paths: Vec<Program>,
    /// What gives further pointers, when it sees what the rest left.
    expressions: Vec<Program>,
}

impl Trim {
    /// Compiles the settings; an error says which entry is wrong.
    pub(crate) fn compile(export: &ResourceExport) -> Result<Self, String> {
        let prune = export.prune.clone().unwrap_or_default();
        let expressions = prune.cel.iter().map(|expression| {
            cel::compile_giving(expression, Gives::Texts)
                .map_err(|error| format!("export.prune.cel: {}", error.point_at(expression)))
        });
        let expressions = expressions.collect::<Result<_, _>>()?;
        let mut pointers: Vec<_> = prune.json_pointers.iter().map(|one| pointer(one)).collect();
        if prune.defaults.unwrap_or(true) {
            pointers.extend(NOISE.map(pointer));
        }
        if export.dedupe_identity.unwrap_or(true) {
            pointers.extend(IDENTITY.map(pointer));
        }
        let compile = |path: &String| {
            let rooted = match path.trim() {
                path if path.starts_with(['$', '{']) => path.to_owned(),
                path if path.starts_with(['.', '[']) => format!("${path}"),
                path => format!("$.{path}"),
            };
            json_path::compile(&rooted)
                .map_err(|error| format!("export.prune.jsonPaths: {}", error.point_at(&rooted)))
        };
        let paths = prune.json_paths.iter().map(compile).collect::<Result<_, _>>()?;
        let (key, include) = (export.key.clone(), export.include);
        Ok(Self { key, include, pointers, paths, expressions })
    }

    /// What is in no copy, and large: there it need not even be read. A path
    /// can lead anywhere, so that beside one everything is read.
    pub(crate) fn dropped(&self) -> impl Iterator<Item = &'static [&'static str]> {
        const LARGE: [&[&str]; 2] = [
            &["metadata", "managedFields"],
            &["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"],
        ];
        let is_dropped = |way: &[&str]| self.pointers.iter().any(|pointer| pointer == way);
        let ways = LARGE.into_iter().filter(|_| self.paths.is_empty());
        ways.filter(move |way| is_dropped(way))
    }

    /// The copy. Everything that is to go is found before anything goes, so
    /// that indices mean what they say; what expressions want gone comes
    /// after, and they see what is left once `hide` has seen it.
    pub(crate) fn copy<'o>(
        &self,
        object: &Json<'o>,
        hide: impl FnOnce(&mut Json<'o>),
    ) -> Result<Json<'o>, Failure> {
        let mut copy = self.sections(object);
        let mut doomed = BTreeSet::new();
        for pointer in self.pointers.iter().filter(|pointer| !pointer.is_empty()) {
            let found = pointer.iter().try_fold(&copy, |value, part| child(value, part));
            doomed.extend(found.map(address));
        }
        for path in &self.paths {
            // A path that leads nowhere on this object has nothing to drop.
            let found = path.evaluate(&copy, &mut Budget::DEFAULT.clone()).unwrap_or_default();
            doomed.extend(found.into_iter().map(address));
        }
        if !doomed.is_empty() {
            remove(&mut copy, &doomed);
        }
        // What must not leave is not to be asked about either: whether
        // something else is dropped would tell.
        hide(&mut copy);
        if !self.expressions.is_empty() {
            let doomed = self.expressed(&copy).map_err(Failure::Prune)?;
            remove(&mut copy, &doomed);
        }
        Ok(copy)
    }

    /// What the expressions want dropped from the copy.
    fn expressed(&self, copy: &Json<'_>) -> Result<BTreeSet<usize>, String> {
        let mut doomed = BTreeSet::new();
        for expression in &self.expressions {
            let found = expression.value(copy, &mut Budget::DEFAULT.clone());
            let Json::List(found) = found.map_err(|error| error.to_string())? else {
                return Err("a list of pointers is needed".to_owned());
            };
            for one in &found {
                let Json::Text(text) = one else {
                    return Err(format!("a pointer is a text, and this is {}", one.kind()));
                };
                if !text.is_empty() && !text.starts_with('/') {
                    return Err(format!("{text:?} is no pointer: it must start with /"));
                }
                let parts = pointer(text);
                let place = parts.iter().try_fold(copy, |value, part| child(value, part));
                doomed.extend(place.filter(|_| !parts.is_empty()).map(address));
            }
        }
        Ok(doomed)
    }

    fn sections<'o>(&self, object: &Json<'o>) -> Json<'o> {
        let kept: &[&str] = match self.include {
            Include::All => return object.clone(),
            Include::MetadataOnly => &["metadata"],
            Include::SpecOnly => &["spec"],
            Include::StatusOnly => &["status"],
            Include::SpecAndStatus => &["spec", "status"],
        };
        match object {
            Json::Map(fields) => {
                let is_kept =
                    |name: &str| ["apiVersion", "kind"].contains(&name) || kept.contains(&name);
                Json::Map(fields.iter().filter(|(name, _)| is_kept(name)).cloned().collect())
            }
            other => other.clone(),
        }
    }
}

/// The parts of an RFC 6901 pointer.
fn pointer(text: &str) -> Vec<String> {
    let parts = text.split('/').skip(1);
    let parts: Vec<_> = parts.map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
    // The whole object is not to be dropped.
    if parts.iter().all(String::is_empty) { Vec::new() } else { parts }
}

fn child<'v, 'o>(value: &'v Json<'o>, part: &str) -> Option<&'v Json<'o>> {
    match value {
        Json::List(items) => part.parse::<usize>().ok().and_then(|at| items.get(at)),
        other => other.get(part),
    }
}

/// Where a value stands; values do not move while they are looked for.
fn address(value: &Json<'_>) -> usize {
    std::ptr::from_ref(value).addr()
}

fn remove(value: &mut Json<'_>, doomed: &BTreeSet<usize>) {
    match value {
        Json::Map(fields) => fields.retain_mut(|(_, value)| stays(value, doomed)),
        Json::List(items) => items.retain_mut(|value| stays(value, doomed)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
    }
}

fn stays(value: &mut Json<'_>, doomed: &BTreeSet<usize>) -> bool {
    if doomed.contains(&address(value)) {
        return false;
    }
    remove(value, doomed);
    true
}
