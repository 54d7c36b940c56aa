//! The sums over rows that profiles ask for, kept up to date row by row.
//!
//! The store tells of each change of a row, and the old and the new attributes
//! of that row are all that is read for it. What is kept is by profile: all
//! targets of a profile add to the same sums, however many inventories hold
//! their rows. Sums are exact ([`sum`]), so rows that are gone leave no trace.
//!
//! What holds: the sums of a profile are those over all rows in the store of
//! the targets that were last named as its own. Whoever changes which those
//! are, or what is summed, does so while holding the store.

mod read;
mod sum;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kollect_api::ProfileSpec;
use kollect_inventory::{PartitionKey, Row, Store, TargetKey, Witness, json::write_text};
use kollect_validate::is_metric_label;

use self::{
    read::{Attributes, label, number, plain},
    sum::{Number, Sum},
};
use super::text::{Page, labels, write_label};
use crate::objects::Name;

/// So many combinations of labels of one series are shown.
const MOST_SHOWN: usize = 200;
/// The series that every profile has: how many rows there are.
const COUNT: &str = "object_count";

/// The sums of all profiles; all clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    profiles: BTreeMap<Name, Group>,
    by_target: HashMap<TargetKey, Name>,
}

/// What a profile asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recipe {
    /// The kind of its objects, as it is shown.
    gvk: String,
    /// The names of attributes that matter, as JSON, in order; none if every
    /// number does.
    attributes: Vec<Box<[u8]>>,
    /// What is summed of those.
    series: Vec<Listed>,
    is_listed: bool,
}

/// One series that a profile lists.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    name: String,
    /// Which of the attributes is summed.
    path: usize,
    /// By which the sum is split, with their names, in the order of these.
    labels: Vec<(String, usize)>,
}

/// A profile and its sums.
#[derive(Debug)]
struct Group {
    recipe: Recipe,
    /// The rows of each of its targets.
    rows: BTreeMap<TargetKey, u64>,
    /// If the profile lists nothing: the sum of each attribute, by its name as JSON.
    every: BTreeMap<Box<[u8]>, Sum>,
    /// Of each series that it lists.
    listed: Vec<Kept>,
}

#[derive(Debug)]
enum Kept {
    Whole(Sum),
    /// By labels as they are shown.
    Split(BTreeMap<Box<str>, Sum>),
}

/// Which profiles there are and which targets use them. One without a recipe
/// is not there now; its targets go on by the last one.
pub(crate) type Wanted = BTreeMap<Name, (Option<Recipe>, BTreeSet<TargetKey>)>;

impl Recipe {
    /// What a profile asks for. What admission refuses, and would make the
    /// whole page unreadable, is left out.
    pub(crate) fn of(spec: &ProfileSpec) -> Self {
        let encoded = |name: &String| {
            let mut json = Vec::new();
            write_text(name, &mut json);
            json.into_boxed_slice()
        };
        let is_sound = |labels: &[String]| labels.iter().all(|label| is_metric_label(label));
        let mut named = BTreeMap::new();
        for metric in spec.metrics.iter().filter(|metric| is_sound(&metric.labels)) {
            named.entry(metric.name.as_str()).or_insert(metric);
        }
        // The number of rows is what it is, whatever else is called so.
        named.retain(|name, metric| *name != COUNT || !metric.labels.is_empty());
        let paths = named.values().flat_map(|metric| metric.labels.iter().chain([&metric.path]));
        let attributes: BTreeSet<_> = paths.map(encoded).collect();
        let attributes: Vec<_> = attributes.into_iter().collect();
        let at = |name: &String| attributes.binary_search(&encoded(name)).unwrap_or_default();
        let listed = |(name, metric): (&str, &kollect_api::Metric)| {
            let sorted: BTreeSet<_> = metric.labels.iter().collect();
            let labels = sorted.into_iter().map(|label| (label.clone(), at(label))).collect();
            Listed { name: name.to_owned(), path: at(&metric.path), labels }
        };
        let series = named.into_iter().map(listed).collect();
        let kind = &spec.target_gvk;
        let gvk = format!("{}/{}/{}", kind.group, kind.version, kind.kind);
        Self { gvk, attributes, series, is_listed: !spec.metrics.is_empty() }
    }
}

impl Series {
    /// Whether other profiles are followed than these, or in another way.
    pub(crate) fn differs(&self, wanted: &Wanted) -> bool {
        let state = self.lock();
        let is_same = |(name, (recipe, targets)): (&Name, &(Option<Recipe>, BTreeSet<_>))| {
            state.profiles.get(name).is_some_and(|group| {
                recipe.as_ref().is_none_or(|recipe| *recipe == group.recipe)
                    && targets.iter().eq(group.rows.keys())
            })
        };
        let known = wanted.iter().filter(|(name, _)| state.is_known(name, wanted));
        !known.clone().all(is_same) || known.count() != state.profiles.len()
    }

    /// Follows these profiles from now on, and no others. Only the rows of
    /// targets that come, go, or are summed in another way are read.
    pub(crate) fn follow(&self, wanted: Wanted, store: &Store) {
        self.lock().follow(wanted, store);
    }

    pub(super) fn write(&self, page: &mut Page) {
        self.lock().write(page);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Witness for Series {
    fn sees(&mut self, partition: &PartitionKey, old: Option<&Row>, new: Option<&Row>) {
        let mut state = self.lock();
        let State { profiles, by_target } = &mut *state;
        let profile = by_target.get(&partition.target);
        if let Some(group) = profile.and_then(|profile| profiles.get_mut(profile)) {
            group.change(&partition.target, old, new);
        }
    }
}

impl State {
    /// Whether anything is known of what a profile asks for.
    fn is_known(&self, name: &Name, wanted: &Wanted) -> bool {
        let is_there = wanted.get(name).is_some_and(|(recipe, _)| recipe.is_some());
        is_there || self.profiles.contains_key(name)
    }

    fn follow(&mut self, wanted: Wanted, store: &Store) {
        let mut before = std::mem::take(&mut self.profiles);
        self.by_target.clear();
        for (name, (recipe, targets)) in wanted {
            let known = before.remove(&name);
            let recipe = recipe.or_else(|| known.as_ref().map(|group| group.recipe.clone()));
            let Some(recipe) = recipe else { continue };
            let same = known.filter(|group| group.recipe == recipe);
            let mut group = same.unwrap_or_else(|| Group::new(recipe));
            let left: Vec<_> =
                group.rows.keys().filter(|one| !targets.contains(*one)).cloned().collect();
            for target in left {
                store.each_row_of(&target, |row| group.change(&target, Some(row), None));
                group.rows.remove(&target);
            }
            for target in targets {
                if !group.rows.contains_key(&target) {
                    group.rows.insert(target.clone(), 0);
                    store.each_row_of(&target, |row| group.change(&target, None, Some(row)));
                }
                self.by_target.insert(target, name.clone());
            }
            self.profiles.insert(name, group);
        }
    }
}

impl Group {
    fn new(recipe: Recipe) -> Self {
        let kept = |listed: &Listed| match listed.labels.as_slice() {
            [] => Kept::Whole(Sum::default()),
            _ => Kept::Split(BTreeMap::new()),
        };
        let listed = recipe.series.iter().map(kept).collect();
        Self { recipe, rows: BTreeMap::new(), every: BTreeMap::new(), listed }
    }

    /// A row has come, changed or gone.
    fn change(&mut self, target: &TargetKey, old: Option<&Row>, new: Option<&Row>) {
        if let Some(rows) = self.rows.get_mut(target) {
            *rows = (*rows + u64::from(new.is_some())).saturating_sub(u64::from(old.is_some()));
        }
        let (old, new) = (old.map(Row::attributes), new.map(Row::attributes));
        // First what comes, so that a sum does not go and come again.
        if old != new {
            if let Some(attributes) = new {
                self.count(attributes, Sum::add);
            }
            if let Some(attributes) = old {
                self.count(attributes, Sum::take);
            }
        }
    }

    fn count(&mut self, attributes: &[u8], how: fn(&mut Sum, Number)) {
        if self.recipe.is_listed {
            self.count_listed(attributes, how);
            return;
        }
        for (name, value) in Attributes::of(attributes) {
            let Some(number) = number(value) else { continue };
            if !self.every.contains_key(name) {
                self.every.insert(name.into(), Sum::default());
            }
            if let Some(sum) = self.every.get_mut(name) {
                how(sum, number);
                if sum.is_empty() {
                    self.every.remove(name);
                }
            }
        }
    }

    fn count_listed(&mut self, attributes: &[u8], how: fn(&mut Sum, Number)) {
        let names = &self.recipe.attributes;
        let mut found = vec![None; names.len()];
        for (name, value) in Attributes::of(attributes) {
            let at = names.binary_search_by(|one| (**one).cmp(name));
            if let Some(place) = at.ok().and_then(|at| found.get_mut(at)) {
                *place = Some(value);
            }
        }
        let value = |at: usize| found.get(at).copied().flatten();
        for (listed, kept) in self.recipe.series.iter().zip(&mut self.listed) {
            let Some(number) = value(listed.path).and_then(number) else { continue };
            match kept {
                Kept::Whole(sum) => how(sum, number),
                Kept::Split(sums) => {
                    let mut tuple = String::new();
                    for (name, at) in &listed.labels {
                        write_label(&mut tuple, name, &label(value(*at)));
                    }
                    let sum = sums.entry(tuple.as_str().into()).or_default();
                    how(sum, number);
                    if sum.is_empty() {
                        sums.remove(tuple.as_str());
                    }
                }
            }
        }
    }
}

impl State {
    fn write(&self, page: &mut Page) {
        self.write_rows(page);
        let mut family = page.gauge(
            "kollect_custom_resource_series",
            "Sums that profiles ask for, over the rows of all their targets.",
        );
        for (name, group) in &self.profiles {
            let mut sample = |series: &str, value: &dyn std::fmt::Display| {
                family.sample(&group.labels(name, series), value);
            };
            sample(COUNT, &group.rows.values().sum::<u64>());
            for (attribute, sum) in &group.every {
                let attribute = plain(attribute);
                if attribute != COUNT {
                    sample(&attribute, sum);
                }
            }
            for (listed, kept) in group.recipe.series.iter().zip(&group.listed) {
                if let Kept::Whole(sum) = kept {
                    sample(&listed.name, sum);
                }
            }
        }
        self.write_split(page);
    }

    /// The series that labels split, and how much of them is not shown.
    fn write_split(&self, page: &mut Page) {
        let mut family = page.gauge(
            "kollect_custom_resource_labeled_series",
            "Sums that profiles ask for, split by attributes; the first 200 of each series.",
        );
        let mut capped = Vec::new();
        for (name, group) in &self.profiles {
            for (listed, kept) in group.recipe.series.iter().zip(&group.listed) {
                let Kept::Split(sums) = kept else { continue };
                let common = group.labels(name, &listed.name);
                for (tuple, sum) in sums.iter().take(MOST_SHOWN) {
                    family.sample(&format!("{common},{tuple}"), sum);
                }
                capped.push((common, sums.len().saturating_sub(MOST_SHOWN)));
            }
        }
        let mut family = page.gauge(
            "kollect_custom_resource_labeled_series_capped_total",
            "Combinations of labels that are not shown because there are more than 200.",
        );
        for (labels, more) in capped {
            family.sample(&labels, more);
        }
    }

    fn write_rows(&self, page: &mut Page) {
        let mut family = page.gauge("kollect_collected_objects", "Rows of each target.");
        for (name, group) in &self.profiles {
            for (target, rows) in &group.rows {
                let labels = labels(&[
                    ("profile_namespace", &name.namespace),
                    ("profile", &name.name),
                    ("gvk", &group.recipe.gvk),
                    ("target_namespace", target.namespace.as_deref().unwrap_or_default()),
                    ("target_name", &target.name),
                ]);
                family.sample(&labels, rows);
            }
        }
    }
}

impl Group {
    /// What every series of a profile is labelled with. The namespace is a
    /// label of its own, so that whoever selects or adds up by the profile's
    /// name goes on doing so, and two profiles of one name do not meet.
    fn labels(&self, profile: &Name, series: &str) -> String {
        labels(&[
            ("profile_namespace", &profile.namespace),
            ("profile", &profile.name),
            ("gvk", &self.recipe.gvk),
            ("series", series),
        ])
    }
}

#[cfg(test)]
mod tests;
