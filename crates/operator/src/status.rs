//! What objects say about themselves. Pure: what is known comes in, and the
//! status that they should have comes out.

pub(crate) mod connection_test;
pub(crate) mod coverage;
pub(crate) mod inventory;
pub(crate) mod sink;
pub(crate) mod target;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// The conditions of one object, in the making. A condition that is not set is
/// not there.
#[derive(Debug)]
pub(crate) struct Conditions<'a> {
    before: &'a [Condition],
    now: Timestamp,
    generation: Option<i64>,
    all: Vec<Condition>,
}

impl<'a> Conditions<'a> {
    pub(crate) fn new(before: &'a [Condition], generation: Option<i64>, now: Timestamp) -> Self {
        Self { before, now, generation, all: Vec::new() }
    }

    /// Sets a condition. It has changed when its status has, and not when its
    /// words have.
    pub(crate) fn set(&mut self, name: &str, is_so: bool, reason: &str, message: &str) {
        let status = if is_so { "True" } else { "False" };
        self.all.retain(|one| one.type_ != name);
        let known = self.before.iter().find(|one| one.type_ == name && one.status == status);
        let since =
            known.map_or_else(|| Time(seconds(self.now)), |one| one.last_transition_time.clone());
        self.all.push(Condition {
            type_: name.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: cut(message),
            observed_generation: self.generation,
            last_transition_time: since,
        });
    }

    /// Something is in the way: it is degraded, and not ready for that reason.
    pub(crate) fn blocked(&mut self, reason: &str, message: &str) {
        self.set("Degraded", true, reason, message);
        self.set("Ready", false, reason, message);
    }

    /// Whether a condition has been set, and is so.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.all.iter().any(|one| one.type_ == name && one.status == "True")
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// Leaves a condition as it was, if it was there.
    pub(crate) fn keep(&mut self, name: &str) {
        self.all.extend(self.before.iter().find(|one| one.type_ == name).cloned());
    }

    /// They are sorted, so that two that say the same are the same.
    pub(crate) fn done(mut self) -> Vec<Condition> {
        self.all.sort_by(|one, other| one.type_.cmp(&other.type_));
        self.all
    }
}

/// Times in status have seconds, and no more.
pub(crate) fn seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// Names for people: the first of them, and how many more there are.
pub(crate) fn list(names: &[&str]) -> String {
    /// So many are named.
    const MOST: usize = 20;
    let shown = names.get(..MOST).unwrap_or(names).join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What nobody would read is cut off.
fn cut(message: &str) -> String {
    /// The API server takes many times this.
    const LONGEST: usize = 1024;
    match message.char_indices().nth(LONGEST) {
        None => message.to_owned(),
        Some((at, _)) => format!("{}…", message.split_at(at).0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_has_changed_when_its_status_has() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut first = Conditions::new(&[], Some(1), at(10));
        first.set("Ready", true, "Collecting", "1 row");
        let first = first.done();
        let mut second = Conditions::new(&first, Some(2), at(20));
        second.set("Ready", true, "Collecting", "2 rows");
        let second = second.done();
        assert_eq!(second[0].last_transition_time, Time(at(10)));
        assert_eq!(
            (second[0].message.as_str(), second[0].observed_generation),
            ("2 rows", Some(2))
        );
        let mut third = Conditions::new(&second, Some(2), at(30));
        third.set("Ready", false, "Suspended", "");
        assert_eq!(third.done()[0].last_transition_time, Time(at(30)));
    }

    #[test]
    fn long_words_are_cut() {
        assert_eq!(cut("ä".repeat(2000).as_str()).chars().count(), 1025);
    }
}
