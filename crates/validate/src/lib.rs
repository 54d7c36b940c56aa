//! The admission rules of Kollect: objects in, violations out.
//!
//! Beside the path: the webhook, the command line and every controller ask
//! here, so that nothing depends on which of them is running. All of it is
//! pure; what a rule has to know about other objects comes in as
//! [`Surroundings`].
//!
//! Two promises: *all* violations are returned at once, each with its rule,
//! field path, what was found and what would be right; and a rule that holds
//! is silent, so an empty [`Report`] means that the object is fine.
//!
//! Start with [`review`], which judges an object as it was written: first its
//! structure against the published schema, then the rules of its kind.

mod report;
mod rule;
mod object;
mod surroundings;
mod structure;
mod names;
mod selector;
mod profile;
mod secret_guard;
mod target;
mod scope;
mod inventory;
mod connection_test;
mod sink;
mod set;

pub use object::{Kind, Object};
pub use profile::is_metric_label;
pub use report::{FieldPath, Problem, Report, Segment, Violation, Warning};
pub use rule::Rule;
pub use set::{Reference, references};
pub use surroundings::{KnownSecret, LocalPaths, Policy, Surroundings};

use serde_json::Value;

/// What came of judging one object.
#[derive(Debug)]
pub struct Review {
    /// The object, unless its structure is too broken to be read.
    pub object: Option<Object>,
    /// What is wrong with it.
    pub report: Report,
}

/// Judges an object of a known kind as it was written.
///
/// What the API server would do on the way is done first: unknown fields go,
/// schema defaults come in. The rules of the kind run only when
/// every value has the right shape, because before that they would complain
/// about consequences.
pub fn review(kind: Kind, value: Value, around: &Surroundings) -> Review {
    let structure::Outcome { value, unknown, nulls, shape, limits } = structure::check(kind, value);
    let mut report = Report::default();
    if let Some(alone) = shape.iter().find(|violation| violation.rule == Rule::Snk01) {
        report.add(alone.clone());
        return Review { object: None, report };
    }
    for path in nulls {
        let detail = "null says nothing, and server-side apply refuses it; leave the field out";
        report.warn(Rule::StrW1, path, detail);
    }
    let broken = !shape.is_empty();
    report.violations.extend(unknown.into_iter().chain(shape));
    let object = if broken { None } else { decode(kind, value, &mut report) };
    if let Some(object) = &object {
        check(object, around, &mut report);
    }
    for limit in limits {
        if !report.violations.iter().any(|found| found.path == limit.path) {
            report.add(limit);
        }
    }
    Review { object, report }
}

/// Runs the rules of the object's kind.
///
/// Rules about the object alone come first; those that compare it with scopes
/// run only when it is clean, so that one mistake is reported once.
pub fn check(object: &Object, around: &Surroundings, report: &mut Report) {
    object::metadata(object, report);
    match object {
        Object::Profile(profile) => profile::check(profile, report),
        Object::Target(target) => target::check(target, around, report),
        Object::ClusterTarget(target) => target::check_cluster(target, around, report),
        Object::Scope(scope) => scope::check(scope, around, report),
        Object::ClusterScope(scope) => scope::check_cluster(scope, around, report),
        Object::Inventory(inventory) => inventory::check(inventory, around, report),
        Object::ClusterInventory(inventory) => {
            inventory::check_cluster(inventory, around, report);
        }
        Object::SnapshotSink(sink) => sink::check_snapshot(sink, around, report),
        Object::DatabaseSink(sink) => sink::check_database(sink, around, report),
        Object::EventSink(sink) => sink::check_event(sink, around, report),
        Object::ConnectionTest(test) => connection_test::check(test, report),
    }
}

fn decode(kind: Kind, value: Value, report: &mut Report) -> Option<Object> {
    match Object::decode(kind, value) {
        Ok(object) => Some(object),
        Err(error) => {
            // The structure was judged sound, so this is a promise of `api`
            // that does not hold; say so instead of passing the object.
            let detail = format!("the schema admits this object but it cannot be read: {error}");
            report.forbidden(Rule::Str02, FieldPath::default(), detail);
            None
        }
    }
}
