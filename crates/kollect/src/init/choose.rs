//! Which kinds are meant.

use std::collections::BTreeSet;

use anyhow::bail;
use kollect_api::GroupVersionKind;
use kollect_collect::{Catalogue, Resource, Scope};

use crate::collect::builtin;

/// More names are no help.
const MOST_GUESSES: usize = 3;
/// How many letters may be wrong.
const FARTHEST: usize = 2;

/// A kind that a profile is written for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) gvk: GroupVersionKind,
    pub(super) plural: String,
    pub(super) scope: Scope,
}

impl Kind {
    /// As kubectl takes it without doubt.
    pub(super) fn full_name(&self) -> String {
        match self.gvk.group.as_str() {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        }
    }
}

impl From<&Resource> for Kind {
    fn from(resource: &Resource) -> Self {
        let Resource { group, version, kind, plural, scope, .. } = resource;
        let gvk =
            GroupVersionKind { group: group.clone(), version: version.clone(), kind: kind.clone() };
        Self { gvk, plural: plural.clone(), scope: *scope }
    }
}

/// What there is to choose from: of each group its best version.
pub(super) fn offered(catalogue: &Catalogue) -> Vec<&Resource> {
    let mut seen = BTreeSet::new();
    let listable = catalogue.resources().filter(|resource| resource.verbs.list);
    // The preferred version comes first.
    listable.filter(|resource| seen.insert(resource.full_name())).collect()
}

/// The resources that words mean, each once; and what the author should know
/// about that. All words that mean nothing are named at once.
pub(super) fn kinds<'c>(
    catalogue: &'c Catalogue,
    words: &[String],
) -> anyhow::Result<(Vec<&'c Resource>, Vec<String>)> {
    let (mut chosen, mut remarks, mut unknown) = (Vec::<&Resource>::new(), Vec::new(), Vec::new());
    for word in words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()) {
        let found = catalogue.named(word);
        let mut listable = found.iter().copied().filter(|resource| resource.verbs.list);
        let Some(first) = listable.next() else {
            unknown.push(match found.first() {
                Some(resource) => format!("{} cannot be listed", resource.full_name()),
                None => format!("there is no kind {word:?}{}", guesses(catalogue, word)),
            });
            continue;
        };
        for other in listable {
            let (first, other) = (first.full_name(), other.full_name());
            remarks.push(format!("{word} is taken for {first}; it could be {other} too"));
        }
        if !chosen.contains(&first) {
            chosen.push(first);
        }
    }
    if !unknown.is_empty() {
        let gaps: Vec<_> =
            catalogue.gaps().map(|gap| format!("; not all is known: {gap}")).collect();
        bail!("{}{}", unknown.join("; "), gaps.concat());
    }
    if chosen.is_empty() {
        bail!("no kind was named");
    }
    Ok((chosen, remarks))
}

/// The kinds that words mean without a cluster.
pub(super) fn known(words: &[String]) -> anyhow::Result<Vec<Kind>> {
    let mut kinds = Vec::new();
    for word in words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()) {
        let bare = word.split_once('.').map_or(word, |(bare, _)| bare);
        let known = builtin::called(bare);
        let known = known.filter(|known| {
            word == bare || word.eq_ignore_ascii_case(&format!("{}.{}", known.name(), known.group))
        });
        let Some(known) = known else {
            bail!(
                "without a cluster there is no kind {word:?}, only {}",
                builtin::names().join(", ")
            );
        };
        let gvk = GroupVersionKind {
            group: known.group.to_owned(),
            version: known.version.to_owned(),
            kind: known.kind.to_owned(),
        };
        let scope = if known.is_namespaced() { Scope::Namespaced } else { Scope::Cluster };
        let kind = Kind { gvk, plural: known.name().to_owned(), scope };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    Ok(kinds)
}

/// Kinds that a word that means nothing may have meant.
fn guesses(catalogue: &Catalogue, word: &str) -> String {
    let word = word.to_lowercase();
    let bare = word.split('.').next().unwrap_or(&word);
    let distance = |resource: &Resource| {
        let names = [&resource.plural, &resource.singular].into_iter().chain(&resource.short_names);
        let nearest = names.map(|name| strsim::osa_distance(name, bare)).min();
        let holds = bare.len() > 2 && resource.plural.contains(bare);
        if holds { 0 } else { nearest.unwrap_or(usize::MAX) }
    };
    let offered = offered(catalogue);
    let mut near: Vec<_> = offered.iter().map(|one| (distance(one), one.full_name())).collect();
    near.retain(|(distance, name)| {
        // Of a word of three letters two may not be wrong.
        *distance <= FARTHEST.min(bare.chars().count() / 3) && *name != word
    });
    near.sort();
    near.truncate(MOST_GUESSES);
    let names: Vec<_> = near.into_iter().map(|(_, name)| name).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}
