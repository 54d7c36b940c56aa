//! Everything of ours that the API server has, as it was last seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use kollect_api::{
    ClusterInventory, ClusterScope, ClusterTarget, ConnectionTest, DatabaseSink, EventSink,
    Inventory, Profile, Scope, SnapshotSink, Target,
};
use kollect_validate::{Kind, Object};

/// Names an object of a kind; one without a namespace has an empty one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Name {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// The namespace, if it is in one.
    pub(crate) fn in_namespace(&self) -> Option<&str> {
        Some(self.namespace.as_str()).filter(|namespace| !namespace.is_empty())
    }

    /// The name that an object has.
    pub(crate) fn of(object: &Object) -> Self {
        let meta = object.meta();
        Self {
            namespace: meta.namespace.clone().unwrap_or_default(),
            name: meta.name.clone().unwrap_or_default(),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "" => f.write_str(&self.name),
            namespace => write!(f, "{namespace}/{}", self.name),
        }
    }
}

/// What a watch of our objects tells. A kind may be watched in several places,
/// each a namespace, or one place for all.
#[derive(Clone, Debug)]
pub(crate) enum News {
    /// Everything there is in a place.
    Listed {
        kind: Kind,
        place: String,
        objects: Vec<Arc<Object>>,
    },
    Set(Arc<Object>),
    Gone(Kind, Name),
    /// It cannot be known now what there is in a place.
    Unseen {
        kind: Kind,
        place: String,
        why: String,
    },
}

/// Everything of ours that the API server has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    items: BTreeMap<(Kind, Name), Arc<Object>>,
    listed: BTreeSet<(Kind, String)>,
    /// Why places that were not listed could not be.
    unseen: BTreeMap<(Kind, String), String>,
}

impl Objects {
    /// Takes in what a watch tells. Whether anything has changed by it.
    pub(crate) fn take(&mut self, news: News) -> bool {
        match news {
            News::Listed { kind, place, objects } => {
                let there: BTreeSet<_> = objects.iter().map(|object| Name::of(object)).collect();
                let is_gone = |(known, name): &(Kind, Name)| {
                    *known == kind
                        && (place.is_empty() || name.namespace == place)
                        && !there.contains(name)
                };
                let before = self.items.len();
                self.items.retain(|key, _| !is_gone(key));
                let mut is_new = self.items.len() != before;
                for object in objects {
                    is_new |= self.set(object);
                }
                self.unseen.remove(&(kind, place.clone()));
                self.listed.insert((kind, place)) || is_new
            }
            News::Set(object) => self.set(object),
            News::Gone(kind, name) => self.items.remove(&(kind, name)).is_some(),
            News::Unseen { kind, place, why } => {
                self.unseen.insert((kind, place), why);
                false
            }
        }
    }

    fn set(&mut self, object: Arc<Object>) -> bool {
        let key = (object.kind(), Name::of(&object));
        match self.items.get(&key) {
            // An equal object keeps its place, so that what was made of it stays good.
            Some(known) if **known == *object => false,
            _ => {
                self.items.insert(key, object);
                true
            }
        }
    }

    /// The places that have not been listed once, and why; in words.
    pub(crate) fn unlisted(
        &self,
        kinds: &[Kind],
        places: impl Fn(Kind) -> Vec<String>,
    ) -> Vec<String> {
        let all = kinds.iter().flat_map(|kind| places(*kind).into_iter().map(|at| (*kind, at)));
        let unlisted = all.filter(|key| !self.listed.contains(key));
        let words = unlisted.map(|key| {
            let of = key.0.name();
            let at = if key.1.is_empty() { of.to_owned() } else { format!("{of} in {}", key.1) };
            self.unseen.get(&key).map_or(at.clone(), |why| format!("{at}: {why}"))
        });
        words.collect()
    }

    /// Every object of a kind.
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (&Name, &Arc<Object>)> {
        let first = (kind, Name::new("", ""));
        let from = self.items.range(first..).take_while(move |((one, _), _)| *one == kind);
        from.map(|((_, name), object)| (name, object))
    }

    pub(crate) fn get(&self, kind: Kind, name: &Name) -> Option<&Arc<Object>> {
        self.items.get(&(kind, name.clone()))
    }
}

/// Makes a way from the kinds as one type to each of them.
macro_rules! typed {
    ($($kind:ident)*) => {$(
        impl Typed for $kind {
            const KIND: Kind = Kind::$kind;

            fn of(object: &Object) -> Option<&Self> {
                match object {
                    Object::$kind(object) => Some(object),
                    _ => None,
                }
            }
        }
    )*};
}

/// One of the eleven kinds by its own type.
pub(crate) trait Typed: Sized {
    const KIND: Kind;

    fn of(object: &Object) -> Option<&Self>;
}

typed! {
    Profile Target ClusterTarget Inventory ClusterInventory SnapshotSink DatabaseSink EventSink
    Scope ClusterScope ConnectionTest
}

impl Objects {
    /// Every object of a type.
    pub(crate) fn all<'a, T: Typed + 'a>(&'a self) -> impl Iterator<Item = (&'a Name, &'a T)> {
        self.of_kind(T::KIND).filter_map(|(name, object)| Some((name, T::of(object)?)))
    }

    /// One object of a type.
    pub(crate) fn find<T: Typed>(&self, namespace: &str, name: &str) -> Option<&T> {
        self.get(T::KIND, &Name::new(namespace, name)).and_then(|object| T::of(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn profile(namespace: &str, name: &str, kind: &str) -> Arc<Object> {
        let object = json!({
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"targetGVK": {"version": "v1", "kind": kind}, "attributes": []},
        });
        Arc::new(Object::decode(Kind::Profile, object).unwrap())
    }

    fn names(objects: &Objects) -> Vec<String> {
        objects.all::<Profile>().map(|(name, _)| name.to_string()).collect()
    }

    #[test]
    fn a_list_says_what_there_is_in_its_place_and_nothing_about_others() {
        let mut objects = Objects::default();
        let listed = |place: &str, objects: Vec<Arc<Object>>| News::Listed {
            kind: Kind::Profile,
            place: place.to_owned(),
            objects,
        };
        assert!(objects.take(listed("a", vec![profile("a", "one", "Pod")])));
        assert!(objects.take(listed("b", vec![profile("b", "two", "Pod")])));
        assert_eq!(names(&objects), ["a/one", "b/two"]);
        assert!(!objects.take(listed("a", vec![profile("a", "one", "Pod")])), "it is no news");
        assert!(objects.take(listed("a", vec![])));
        assert_eq!(names(&objects), ["b/two"]);
        let places = |_| vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
        assert_eq!(objects.unlisted(&[Kind::Profile], places), ["KollectProfile in c"]);
        let unseen = |place: &str| News::Unseen {
            kind: Kind::Profile,
            place: place.to_owned(),
            why: "it is forbidden".to_owned(),
        };
        assert!(!objects.take(unseen("b")), "what was seen stays");
        assert!(!objects.take(unseen("c")));
        let expected = ["KollectProfile in c: it is forbidden"];
        assert_eq!(objects.unlisted(&[Kind::Profile], places), expected);
        assert!(objects.take(listed("c", vec![])));
        assert!(objects.unlisted(&[Kind::Profile], places).is_empty());
    }

    #[test]
    fn an_equal_object_is_no_news() {
        let mut objects = Objects::default();
        assert!(objects.take(News::Set(profile("a", "one", "Pod"))));
        assert!(!objects.take(News::Set(profile("a", "one", "Pod"))));
        assert!(objects.take(News::Set(profile("a", "one", "Node"))));
        assert!(objects.find::<Profile>("a", "one").is_some());
        assert!(objects.find::<Target>("a", "one").is_none());
        assert!(objects.take(News::Gone(Kind::Profile, Name::new("a", "one"))));
        assert!(!objects.take(News::Gone(Kind::Profile, Name::new("a", "one"))));
    }
}
