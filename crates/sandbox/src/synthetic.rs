//! Objects that are made when they are asked for.
//!
//! What an object looks like follows from its number and its version alone, so
//! a million of them need no more memory than their versions.

use std::{
    cmp::Ordering,
    collections::BTreeMap,
    fmt::{self, Write as _},
};

use crate::object::{Key, Object};

/// How many objects share a namespace, about.
const PER_NAMESPACE: usize = 1_000;

/// How synthetic objects change: how often, and how.
///
/// Which object changes when follows from the number of the change alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Changes {
    /// How many there are in a second.
    pub per_second: f64,
    /// Of a hundred, how many make an object; one that was gone comes back as
    /// another of the same name. Nothing is made that was not gone.
    pub per_cent_new: u64,
    /// Of a hundred, how many let one go.
    pub per_cent_gone: u64,
}

/// How to make the objects of one resource.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) plural: String,
    pub(crate) namespaced: bool,
    pub(crate) count: usize,
    /// About how long the JSON of one is; never much shorter than what it
    /// takes to say who it is.
    pub(crate) bytes_each: usize,
}

impl Recipe {
    /// Numbers and keys have the same order.
    pub(crate) fn key(&self, index: usize) -> Key {
        let namespace = if self.namespaced { self.namespace(index) } else { String::new() };
        (namespace, format!("{}-{index:08}", self.plural))
    }

    pub(crate) fn namespaces(&self) -> impl Iterator<Item = String> {
        let of_each = (0..self.count).step_by(PER_NAMESPACE).map(|index| self.namespace(index));
        of_each.filter(|_| self.namespaced)
    }

    #[expect(clippy::unused_self, reason = "a recipe may want other namespaces one day")]
    fn namespace(&self, index: usize) -> String {
        format!("load-{:04}", index / PER_NAMESPACE)
    }

    /// The number of the first object whose key is not before this one.
    pub(crate) fn position(&self, key: (&str, &str)) -> usize {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            let (namespace, name) = self.key(middle);
            match (namespace.as_str(), name.as_str()).cmp(&key) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal | Ordering::Greater => high = middle,
            }
        }
        low
    }

    /// Makes one object; the same for the same number and versions, always.
    pub(crate) fn object(&self, index: usize, version: u64, born: u64) -> Object {
        // The body follows from the number, so that a change is a small one.
        let mut dice = Dice::new(index as u64 ^ born.rotate_left(32));
        let key = self.key(index);
        let app = format!("{}-{}", dice.word(), dice.word());
        let labels = BTreeMap::from([
            ("app.kubernetes.io/name".to_owned(), app.clone()),
            ("pod-template-hash".to_owned(), format!("{:010x}", dice.next() >> 24)),
            ("tier".to_owned(), dice.word().to_owned()),
        ]);
        let metadata = metadata(&key, version, &labels, dice.uid());
        let after = self.body(&mut dice, metadata.len(), &app, version);
        Object::written(key, version, labels, metadata, after)
    }

    fn body(&self, dice: &mut Dice, spent: usize, app: &str, version: u64) -> String {
        let image = format!(
            "registry.example/{app}@sha256:{:016x}{:016x}{:016x}{:016x}",
            dice.next(),
            dice.next(),
            dice.next(),
            dice.next(),
        );
        let node = dice.below(5_000);
        let (head, tail) = match self.plural.as_str() {
            "configmaps" => (r#","data":{"settings.json":"#.to_owned(), "}".to_owned()),
            "deployments" | "replicasets" | "statefulsets" => workload(app, &image, version),
            _ => pod(app, &image, node, version),
        };
        let is_text = self.plural == "configmaps";
        let mut list = String::from("[");
        while spent + head.len() + list.len() + tail.len() < self.bytes_each {
            let separator = if list.len() > 1 { "," } else { "" };
            let (name, number) = (dice.word(), dice.below(100));
            let written = write!(list, r#"{separator}{{"name":"{name}_{number}","value":""#)
                .and_then(|()| dice.write_value(&mut list))
                .and_then(|()| list.write_str(r#""}"#));
            debug_assert!(written.is_ok(), "a string takes everything");
        }
        list.push(']');
        if is_text {
            list = serde_json::Value::from(list).to_string();
        }
        format!("{head}{list}{tail}")
    }
}

/// What stands before the settings of a pod, and after them.
fn pod(app: &str, image: &str, node: u64, version: u64) -> (String, String) {
    let mut now = Dice::new(version);
    let head = format!(
        r#","spec":{{"nodeName":"node-{node}","containers":[{{"name":"{app}","image":"{image}","env":"#
    );
    let address = format!("10.{}.{}.{}", now.below(256), now.below(256), now.below(256));
    let restarts = now.below(40);
    let tail = format!(
        r#"}}]}},"status":{{"observedGeneration":{version},"podIP":"{address}","phase":"Running","restarts":{restarts},"containerStatuses":[{{"name":"{app}","image":"{image}","ready":true,"restartCount":{restarts}}}]}}"#
    );
    (head, tail)
}

/// The same of what makes pods.
fn workload(app: &str, image: &str, version: u64) -> (String, String) {
    let mut now = Dice::new(version);
    let replicas = 1 + now.below(9);
    let labels = format!(r#"{{"app.kubernetes.io/name":"{app}"}}"#);
    let head = format!(
        r#","spec":{{"replicas":{replicas},"selector":{{"matchLabels":{labels}}},"template":{{"metadata":{{"labels":{labels}}},"spec":{{"containers":[{{"name":"{app}","image":"{image}","env":"#
    );
    let ready = now.below(replicas + 1);
    let tail = format!(
        r#"}}]}}}}}},"status":{{"observedGeneration":{version},"replicas":{replicas},"updatedReplicas":{replicas},"readyReplicas":{ready},"availableReplicas":{ready}}}"#
    );
    (head, tail)
}

fn metadata(
    (namespace, name): &Key,
    version: u64,
    labels: &BTreeMap<String, String>,
    uid: String,
) -> String {
    let namespace = match namespace.as_str() {
        "" => String::new(),
        namespace => format!(r#""namespace":"{namespace}","#),
    };
    let labels: Vec<String> =
        labels.iter().map(|(name, value)| format!(r#""{name}":"{value}""#)).collect();
    format!(
        r#"{{"name":"{name}",{namespace}"uid":"{uid}","resourceVersion":"{version}","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z","labels":{{{}}}}}"#,
        labels.join(","),
    )
}

const WORDS: [&str; 32] = [
    "account", "agent", "audit", "billing", "cache", "cart", "catalog", "checkout", "cluster",
    "config", "edge", "export", "feed", "gateway", "image", "index", "invoice", "ledger", "login",
    "mail", "metric", "order", "payment", "price", "profile", "queue", "report", "search",
    "session", "stock", "token", "worker",
];

/// Numbers that look random and are the same in every run (splitmix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// In the form of a random UUID.
    pub(crate) fn uid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            low >> 52,
            low & 0xffff_ffff_ffff
        )
    }

    fn word(&mut self) -> &'static str {
        let at = usize::try_from(self.below(WORDS.len() as u64)).unwrap_or_default();
        WORDS.get(at).copied().unwrap_or_default()
    }

    /// Words, numbers and digests in turns, as settings have them: a
    /// compressor finds something, but not everything.
    fn write_value(&mut self, to: &mut String) -> fmt::Result {
        match self.below(3) {
            0 => {
                let (host, zone, port) = (self.word(), self.word(), self.below(65_536));
                write!(to, "https://{host}.{zone}.svc:{port}")
            }
            1 => write!(to, "{:016x}{:08x}", self.next(), self.next() >> 32),
            _ => write!(to, "{} {} {}", self.word(), self.word(), self.below(1_000_000)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{definition::Served, object::Form, recorded};

    fn pods(count: usize) -> Recipe {
        Recipe { plural: "pods".into(), namespaced: true, count, bytes_each: 2_000 }
    }

    fn text(index: usize, version: u64) -> String {
        text_of(&pods(5_000), index, version)
    }

    fn text_of(recipe: &Recipe, index: usize, version: u64) -> String {
        let mut kinds = recorded::kinds().into_iter();
        let kind = kinds.find(|(definition, _)| definition.plural == recipe.plural);
        let (definition, about) = kind.expect("a kind");
        let served = Served { definition, built_in: true, since: 0, about };
        let mut text = String::new();
        recipe.object(index, version, 0).render(Form::Whole, &served, &mut text);
        text
    }

    #[test]
    fn objects_say_what_those_of_their_kind_say() {
        let object = |plural: &str| -> serde_json::Value {
            let recipe = Recipe { plural: plural.into(), ..pods(10) };
            let text = text_of(&recipe, 3, 7);
            assert!((2_000..2_600).contains(&text.len()), "{plural}: {} bytes", text.len());
            serde_json::from_str(&text).unwrap()
        };
        assert_eq!(object("pods")["status"]["containerStatuses"][0]["ready"], true);
        let deployment = object("deployments");
        let containers = &deployment["spec"]["template"]["spec"]["containers"];
        assert!(containers[0]["image"].is_string(), "{deployment}");
        assert_eq!(deployment["spec"]["replicas"], deployment["status"]["replicas"]);
        assert!(object("configmaps")["data"]["settings.json"].is_string());
    }

    #[test]
    fn the_same_number_and_version_give_the_same_object() {
        assert_eq!(text(17, 3), text(17, 3));
        assert_ne!(text(17, 3), text(18, 3));
        assert_ne!(text(17, 3), text(17, 4));
    }

    #[test]
    fn objects_are_json_of_about_the_size_that_was_asked_for() {
        for index in 0..100 {
            let text = text(index, 1);
            let read: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(read["metadata"]["name"], format!("pods-{index:08}"));
            assert!((2_000..2_300).contains(&text.len()), "{} bytes", text.len());
        }
    }

    #[test]
    fn objects_do_not_consist_of_one_thing_said_often() {
        let text = text(1, 1);
        let pieces: BTreeSet<&[u8]> = text.as_bytes().chunks(8).collect();
        assert!(pieces.len() > 200, "{} different pieces", pieces.len());
    }

    #[test]
    fn every_object_has_its_namespace() {
        for count in [0, 1, 999, 1_000, 1_001, 2_500] {
            let recipe = pods(count);
            let used: BTreeSet<String> = (0..count).map(|index| recipe.key(index).0).collect();
            assert_eq!(recipe.namespaces().collect::<BTreeSet<_>>(), used);
        }
    }

    #[test]
    fn numbers_and_keys_have_the_same_order() {
        let recipe = pods(2_500);
        for index in 0..2_500 {
            let (namespace, name) = recipe.key(index);
            assert_eq!(recipe.position((&namespace, &name)), index);
        }
        assert_eq!(recipe.position(("", "")), 0);
        assert_eq!(recipe.position(("load-0001", "")), 1_000);
        assert_eq!(recipe.position(("z", "")), 2_500);
    }
}
