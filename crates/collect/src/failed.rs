//! Which objects give no row, now.

use std::{
    collections::{BTreeMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

use crate::intake::{FailedObject, MOST_NAMED};

/// The objects of one target that are wanted and give no row.
///
/// All are counted and few are named: a profile with a mistake fails on every
/// object that there is, and their names would need more memory than rows.
#[derive(Debug, Default)]
pub(crate) struct Failed {
    by_namespace: BTreeMap<String, Place>,
    named: BTreeMap<(String, String), String>,
}

/// By the hashes of their names.
#[derive(Debug, Default)]
struct Place {
    now: HashSet<u64>,
    /// Those that the running list has met.
    met: HashSet<u64>,
}

impl Failed {
    /// An object gives no row.
    pub(crate) fn fails(&mut self, namespace: &str, name: &str, reason: &str) {
        let place = self.by_namespace.entry(namespace.to_owned()).or_default();
        let hash = hash(name);
        place.now.insert(hash);
        place.met.insert(hash);
        let key = (namespace.to_owned(), name.to_owned());
        if self.named.len() < MOST_NAMED || self.named.contains_key(&key) {
            self.named.insert(key, reason.to_owned());
        }
    }

    /// An object gives a row, or is wanted no longer.
    pub(crate) fn is_well(&mut self, namespace: &str, name: &str) {
        // Mostly nothing fails.
        let Some(place) = self.by_namespace.get_mut(namespace) else { return };
        let hash = hash(name);
        place.met.remove(&hash);
        if place.now.remove(&hash) {
            self.named.remove(&(namespace.to_owned(), name.to_owned()));
        }
    }

    pub(crate) fn list_begins(&mut self, namespace: &str) {
        if let Some(place) = self.by_namespace.get_mut(namespace) {
            place.met.clear();
        }
    }

    /// A list has ended: what it did not meet fails no longer.
    pub(crate) fn list_ends(&mut self, namespace: &str) {
        let Some(place) = self.by_namespace.get_mut(namespace) else { return };
        place.now = std::mem::take(&mut place.met);
        let still = &place.now;
        self.named.retain(|(of, name), _| of != namespace || still.contains(&hash(name)));
        if place.now.is_empty() {
            self.by_namespace.remove(namespace);
        }
    }

    pub(crate) fn leave(&mut self, namespace: &str) {
        self.by_namespace.remove(namespace);
        self.named.retain(|(of, _), _| of != namespace);
    }

    /// Whether every object gives a row.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_namespace.is_empty()
    }

    pub(crate) fn count(&self) -> u64 {
        self.by_namespace.values().map(|place| place.now.len() as u64).sum()
    }

    pub(crate) fn named(&self) -> Vec<FailedObject> {
        let object = |((namespace, name), reason): (&(String, String), &String)| FailedObject {
            namespace: namespace.clone(),
            name: name.clone(),
            reason: reason.clone(),
        };
        self.named.iter().map(object).collect()
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(failed: &Failed) -> Vec<String> {
        failed.named().into_iter().map(|one| format!("{}/{}", one.namespace, one.name)).collect()
    }

    #[test]
    fn an_object_fails_until_it_is_well() {
        let mut failed = Failed::default();
        failed.fails("shop", "web", "no colour");
        failed.fails("shop", "web", "no size");
        failed.fails("mall", "cart", "no colour");
        assert_eq!((failed.count(), failed.named()[1].reason.as_str()), (2, "no size"));
        failed.is_well("shop", "web");
        failed.is_well("shop", "never failed");
        assert_eq!((failed.count(), names(&failed)), (1, vec!["mall/cart".to_owned()]));
        failed.leave("mall");
        assert_eq!(failed.count(), 0);
    }

    #[test]
    fn what_a_list_does_not_meet_fails_no_longer() {
        let mut failed = Failed::default();
        for name in ["gone", "still"] {
            failed.fails("shop", name, "no colour");
        }
        failed.fails("mall", "cart", "no colour");
        failed.list_begins("shop");
        failed.fails("shop", "still", "no colour");
        assert_eq!(failed.count(), 3);
        failed.list_ends("shop");
        assert_eq!(names(&failed), ["mall/cart", "shop/still"]);
    }

    #[test]
    fn all_are_counted_and_few_are_named() {
        let mut failed = Failed::default();
        for number in 0..1000 {
            failed.fails("shop", &number.to_string(), "no colour");
        }
        assert_eq!((failed.count(), failed.named().len()), (1000, MOST_NAMED));
    }
}
