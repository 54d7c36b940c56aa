//! What the operator may do in a cluster: every right that it uses, and no other.
//!
//! A right stands here because some code of ours asks for it; the scenario that
//! runs the operator with exactly these fails both on a right that is missing
//! and on one that nobody used. What is *collected* is not ours to decide: that
//! is a role of its own, which whoever runs the cluster fills.

pub(crate) mod manifests;

use std::collections::BTreeSet;

use kollect_api::GROUP;
use kollect_validate::Kind;

use crate::{eyes::resource, lease};

/// Something that may be done, and why it has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Right {
    group: &'static str,
    /// Plurals; one of a part of an object is spelled with a slash.
    resources: Vec<String>,
    verbs: &'static [&'static str],
    /// The only objects that it is about; all if there are none.
    names: Vec<String>,
    why: &'static str,
}

/// Which rights an operator is to be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Install {
    /// What the names of all its objects begin with.
    pub name: String,
    /// Where the operator runs.
    pub namespace: String,
    pub reach: Reach,
    /// The kinds that it may collect.
    pub collected: Vec<Collected>,
}

/// How far an operator reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    Cluster,
    /// These, and nothing of the cluster itself.
    Namespaces(BTreeSet<String>),
}

/// A resource that may be collected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Collected {
    pub group: String,
    pub plural: String,
}

/// What our samples collect, and whether it is in namespaces. Helm releases are
/// Secrets, which nobody gets by default.
const SAMPLED: [(&str, &str, bool); 10] = [
    ("", "configmaps", true),
    ("", "nodes", false),
    ("", "services", true),
    ("apps", "deployments", true),
    ("aquasecurity.github.io", "vulnerabilityreports", true),
    ("argoproj.io", "applications", true),
    ("batch", "cronjobs", true),
    ("cert-manager.io", "certificates", true),
    ("helm.toolkit.fluxcd.io", "helmreleases", true),
    ("networking.k8s.io", "ingresses", true),
];

/// To collect is to list, and to be told what changes.
const FOLLOW: &[&str] = &["list", "watch"];
const METRICS: &str = "who asks for metrics shows a token and must be allowed to; for the \
                       endpoint of --metrics-secure";

impl Collected {
    /// Reads `deployments.apps`, or `configmaps` for the group without a name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (plural, group) = text.split_once('.').unwrap_or((text, ""));
        let is_name = |part: &str| {
            part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c))
        };
        if plural.is_empty() || text.ends_with('.') || !is_name(plural) || !is_name(group) {
            let help = "expected the plural of a kind and its group, such as deployments.apps";
            return Err(help.to_owned());
        }
        Ok(Self { group: group.to_owned(), plural: plural.to_owned() })
    }

    /// What our samples collect, as far as an operator reaches.
    pub fn sampled(reach: &Reach) -> Vec<Self> {
        let sampled = SAMPLED
            .iter()
            .filter(|(_, _, is_namespaced)| *is_namespaced || *reach == Reach::Cluster);
        let one = |(group, plural, _): &(&str, &str, bool)| Self {
            group: (*group).to_owned(),
            plural: (*plural).to_owned(),
        };
        sampled.map(one).collect()
    }
}

/// What an operator does with its own objects and with those that they name,
/// in the whole cluster or in one namespace.
fn manager(namespace: Option<&str>) -> Vec<Right> {
    let mut rights = own(namespace.is_none());
    rights.push(core("events", &["create"], "what happened to an object is told"));
    let why = "the Secrets that sinks name, each watched by its name; there is no right to list \
               them, so no target can collect Secrets unless somebody grants that";
    rights.push(core("secrets", &["get", "watch"], why));
    match namespace {
        Some(name) => {
            let why = "its labels and annotations, which may keep it from being collected";
            let names = vec![name.to_owned()];
            rights.push(Right { names, ..core("namespaces", &["get"], why) });
        }
        None => rights.extend(of_cluster()),
    }
    rights
}

/// What is done with our own kinds.
fn own(is_everywhere: bool) -> Vec<Right> {
    let right = |kinds: &[Kind], part: &str, verbs, why| {
        let seen = kinds.iter().filter(|kind| is_everywhere || kind.is_namespaced());
        let resources = seen.map(|kind| format!("{}{part}", resource(*kind).plural)).collect();
        Right { group: GROUP, resources, verbs, names: Vec::new(), why }
    };
    let targets = [Kind::Target, Kind::ClusterTarget];
    let inventories = [Kind::Inventory, Kind::ClusterInventory];
    let sinks = [Kind::SnapshotSink, Kind::DatabaseSink, Kind::EventSink];
    let tests = [Kind::ConnectionTest];
    let patch = &["patch"];
    vec![
        right(Kind::ALL, "", FOLLOW, "what is asked for is followed"),
        right(
            &[Kind::Profile],
            "",
            &["get"],
            "a profile that seems to be gone is asked for once more before rows go",
        ),
        right(
            &[targets, inventories].concat(),
            "/status",
            patch,
            "targets and inventories say how they are",
        ),
        right(&inventories, "", patch, "their finalizer, by which copies are cleaned up"),
        right(&targets, "", patch, "finalizers of earlier versions are taken from those that go"),
        right(&sinks, "/status", patch, "sinks say whether they can be reached"),
        right(
            &[Kind::SnapshotSink, Kind::DatabaseSink],
            "",
            patch,
            "the annotation that asks for one probe is taken away after it",
        ),
        right(&tests, "/status", patch, "connection tests say what came of them"),
        right(
            &tests,
            "",
            &["delete", "patch"],
            "their sink becomes their owner, and they go in time",
        ),
    ]
}

/// What only concerns whoever reaches everything.
fn of_cluster() -> Vec<Right> {
    let right = |group, plural: &str, verbs, why| Right { group, ..named(plural, verbs, why) };
    let create = &["create"];
    vec![
        core("namespaces", &["get", "list", "watch"], "which there are, and what they say"),
        right(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            FOLLOW,
            "kinds that come and go are noticed at once",
        ),
        right(
            "authorization.k8s.io",
            "selfsubjectaccessreviews",
            create,
            "nothing is read before it is known that it may be",
        ),
        right("authentication.k8s.io", "tokenreviews", create, METRICS),
        right("authorization.k8s.io", "subjectaccessreviews", create, METRICS),
    ]
}

/// What an operator does with the lease that it competes for.
fn election() -> Vec<Right> {
    let of_leases = |verbs, names, why| {
        let group = "coordination.k8s.io";
        Right { group, names, ..named("leases", verbs, why) }
    };
    vec![
        of_leases(&["create"], Vec::new(), "whoever comes first makes the lease"),
        of_leases(
            &["get", "update"],
            vec![lease::NAME.to_owned()],
            "of several replicas one works at a time",
        ),
    ]
}

fn core(plural: &str, verbs: &'static [&'static str], why: &'static str) -> Right {
    named(plural, verbs, why)
}

fn named(plural: &str, verbs: &'static [&'static str], why: &'static str) -> Right {
    Right { group: "", resources: vec![plural.to_owned()], verbs, names: Vec::new(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_gets_nothing_of_the_cluster() {
        for right in manager(Some("a")) {
            assert!(!right.resources.is_empty(), "{right:?}");
            for plural in &right.resources {
                assert!(!plural.starts_with("kollectcluster"), "{plural}");
            }
            assert!(["", GROUP].contains(&right.group), "{right:?}");
        }
        let tenant = Reach::Namespaces(BTreeSet::new());
        assert!(Collected::sampled(&tenant).iter().all(|one| one.plural != "nodes"));
    }

    #[test]
    fn nothing_is_granted_that_changes_what_others_own() {
        let all = [manager(None), manager(Some("a")), election()].concat();
        for Right { group, resources, verbs, .. } in all {
            assert!(!verbs.contains(&"*") && !group.contains('*'));
            let is_ours = group == GROUP || group == "coordination.k8s.io";
            let writes = verbs.iter().any(|verb| ["update", "patch", "delete"].contains(verb));
            assert!(is_ours || !writes, "{resources:?} {verbs:?}");
        }
    }

    #[test]
    fn secrets_cannot_be_listed() {
        for right in [manager(None), manager(Some("a"))].concat() {
            let is_secret = right.resources.contains(&"secrets".to_owned());
            assert!(!is_secret || !right.verbs.contains(&"list"));
        }
    }

    #[test]
    fn what_is_collected_is_named_by_its_plural_and_its_group() {
        let one = |group: &str, plural: &str| {
            Ok(Collected { group: group.to_owned(), plural: plural.to_owned() })
        };
        assert_eq!(Collected::parse("deployments.apps"), one("apps", "deployments"));
        assert_eq!(Collected::parse("configmaps"), one("", "configmaps"));
        let dotted = one("cert-manager.io", "certificates");
        assert_eq!(Collected::parse("certificates.cert-manager.io"), dotted);
        for text in ["", ".apps", "deployments.", "*", "Deployment", "a/b"] {
            assert!(Collected::parse(text).is_err(), "{text}");
        }
    }
}
