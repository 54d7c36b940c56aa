//! What happens at the company while somebody watches.
//!
//! A seed decides, so that every run tells the same story. No object comes back
//! to a state that it has just left: a copy that saw neither would show nothing.

use jiff::civil::Date;
use serde_json::json;

use super::{
    change::{Change, Part, Proof, Reference, Step},
    company::{self, App, Release, helm, objects},
    row::RowKey,
};

/// Copies of a Deployment go up to this and begin again.
const MOST_REPLICAS: u32 = 6;

/// Goes on telling what happens next.
#[derive(Clone, Debug)]
pub(super) struct Script {
    chance: Chance,
    told: u64,
    /// What has to follow on something that was told, and when.
    due: Vec<(u64, Next)>,
    apps: Vec<App>,
    /// Of apps that have one: their place, the revision, and the last day.
    certificates: Vec<(usize, u32, Date)>,
    releases: Vec<Release>,
    flux: Vec<(&'static str, &'static str, String)>,
    applied: u32,
    today: Date,
}

/// What follows; numbers are places in the lists.
#[derive(Clone, Debug, PartialEq)]
enum Next {
    Roll(usize),
    /// Argo CD has brought an app to a commit.
    Synced(usize, String),
    RemoveCanary(usize, String),
}

impl Script {
    pub(super) fn new(today: Date, seed: u64) -> Self {
        let apps = company::apps();
        let hosts = apps.iter().enumerate().filter(|(_, app)| app.host.is_some());
        let certificates = hosts.map(|(at, _)| (at, 1, objects::days(today, 30))).collect();
        Self {
            chance: Chance(seed),
            told: 0,
            due: Vec::new(),
            apps,
            certificates,
            releases: company::releases(today),
            flux: company::flux_releases(),
            applied: 0,
            today,
        }
    }

    /// What happens next.
    pub(super) fn next(&mut self) -> Change {
        self.told += 1;
        let due = self.due.iter().position(|(when, _)| *when <= self.told);
        if let Some((_, next)) = due.map(|at| self.due.remove(at)) {
            return match next {
                Next::Roll(at) => self.roll(at),
                Next::Synced(at, revision) => self.argo(at, "Synced", "Healthy", &revision),
                Next::RemoveCanary(at, name) => self.remove_canary(at, &name),
            };
        }
        let at = self.chance.below(self.apps.len());
        match self.chance.below(100) {
            0..30 => self.deliver(at),
            30..50 => self.scale(at),
            50..62 => self.renew(),
            62..74 => self.apply(),
            74..84 => self.upgrade_flux(),
            84..92 => self.upgrade(),
            _ => self.canary(at),
        }
    }

    /// A new version of an app, by Argo CD if that delivers it.
    fn deliver(&mut self, at: usize) -> Change {
        let is_argo = self.apps.get(at).is_some_and(company::is_by_argo);
        let is_busy = self.due.iter().any(
            |(_, next)| matches!(next, Next::Roll(other) | Next::Synced(other, _) if *other == at),
        );
        if !is_argo || is_busy {
            return self.roll(at);
        }
        let revision = objects::commit(&format!("{at} {}", self.told));
        self.due.push((self.told + 2, Next::Roll(at)));
        self.due.push((self.told + 4, Next::Synced(at, revision.clone())));
        self.argo(at, "OutOfSync", "Healthy", &revision)
    }

    fn argo(&self, at: usize, state: &str, health: &str, revision: &str) -> Change {
        let (namespace, name) = match self.apps.get(at) {
            Some(app) => (app.namespace, app.name),
            None => Default::default(),
        };
        let object = Reference {
            api_version: "argoproj.io/v1alpha1",
            kind: "Application",
            namespace: company::PLATFORM.to_owned(),
            name: format!("{namespace}-{name}"),
        };
        let short: String = revision.chars().take(7).collect();
        let patch = json!({"status": objects::synced(state, health, revision)});
        // The state before had another commit, or was another one.
        let proof = match state {
            "Synced" => Proof::Holds("sync", state.to_owned()),
            _ => Proof::Holds("revision", revision.to_owned()),
        };
        change(object, format!("{state} at {short}"), Part::Whole, patch, proof)
    }

    fn roll(&mut self, at: usize) -> Change {
        let is_minor = self.chance.below(4) == 0;
        let Some(app) = self.apps.get_mut(at) else { return self.apply() };
        let old = std::mem::take(&mut app.version);
        app.version = if is_minor { next_minor(&old) } else { next_patch(&old) };
        let what = format!("image {old} → {}", app.version);
        let patch = json!({
            "metadata": {"labels": {"app.kubernetes.io/version": app.version}},
            "spec": {"template": {"spec": {"containers": objects::containers(app)}}},
        });
        let proof = Proof::Holds("image", objects::image(app));
        change(deployment(app), what, Part::Whole, patch, proof)
    }

    fn scale(&mut self, at: usize) -> Change {
        let Some(app) = self.apps.get_mut(at) else { return self.apply() };
        let old = app.replicas;
        app.replicas = if old >= MOST_REPLICAS { 2 } else { old + 1 };
        let what = format!("replicas {old} → {}", app.replicas);
        let patch = json!({"spec": {"replicas": app.replicas}});
        let proof = Proof::Holds("replicas", app.replicas.to_string());
        change(deployment(app), what, Part::Whole, patch, proof)
    }

    fn renew(&mut self) -> Change {
        let at = self.chance.below(self.certificates.len());
        let Some((app, revision, expires)) = self.certificates.get_mut(at) else {
            return self.apply();
        };
        // Each renewal is good for a day longer than any before.
        *expires = objects::days(*expires, if *revision == 1 { 60 } else { 1 });
        *revision += 1;
        let (revision, expires) = (*revision, *expires);
        let Some(app) = self.apps.get(*app) else { return self.apply() };
        let object = Reference {
            api_version: "cert-manager.io/v1",
            kind: "Certificate",
            namespace: app.namespace.to_owned(),
            name: app.name.to_owned(),
        };
        let patch = json!({"status": objects::issued(revision, expires)});
        let proof = Proof::Holds("notAfter", format!("{expires}T04:00:00Z"));
        change(object, format!("renewed until {expires}"), Part::Status, patch, proof)
    }

    fn apply(&mut self) -> Change {
        self.applied += 1;
        let names = company::kustomizations();
        let name = names.get(self.chance.below(names.len())).copied().unwrap_or_default();
        let commit = objects::commit(&format!("fleet {}", self.applied));
        let revision = format!("main@sha1:{commit}");
        let object = Reference {
            api_version: "kustomize.toolkit.fluxcd.io/v1",
            kind: "Kustomization",
            namespace: company::PLATFORM.to_owned(),
            name: name.to_owned(),
        };
        let short: String = commit.chars().take(7).collect();
        let patch = json!({"status": objects::applied(&revision)});
        let proof = Proof::Holds("revision", revision);
        change(object, format!("applied {short}"), Part::Status, patch, proof)
    }

    fn upgrade_flux(&mut self) -> Change {
        let at = self.chance.below(self.flux.len());
        let Some((name, _, version)) = self.flux.get_mut(at) else { return self.apply() };
        let old = std::mem::take(version);
        *version = next_patch(&old);
        let object = Reference {
            api_version: "helm.toolkit.fluxcd.io/v2",
            kind: "HelmRelease",
            namespace: company::PLATFORM.to_owned(),
            name: (*name).to_owned(),
        };
        let patch = json!({"spec": {"chart": {"spec": {"version": version}}}});
        let proof = Proof::Holds("version", version.clone());
        change(object, format!("chart {old} → {version}"), Part::Whole, patch, proof)
    }

    /// A Helm release is upgraded as Helm does it: the new revision is there
    /// before the old one is superseded.
    fn upgrade(&mut self) -> Change {
        let at = self.chance.below(self.releases.len());
        let Some(release) = self.releases.get_mut(at) else { return self.apply() };
        let old = release.clone();
        release.version = next_patch(&old.version);
        release.revision += 1;
        release.deployed = self.today;
        let superseded = helm::secret(&old, helm::Stage::Superseded);
        let patch = json!({
            "metadata": {"labels": superseded.pointer("/metadata/labels")},
            "data": superseded.get("data"),
        });
        let object = Reference {
            api_version: "v1",
            kind: "Secret",
            namespace: old.namespace.to_owned(),
            name: helm::name(&old),
        };
        Change {
            row: RowKey::new("Secret", release.namespace, &helm::name(release)),
            what: format!("chart {} → {}", old.version, release.version),
            aside: Some(RowKey::new("Secret", old.namespace, &helm::name(&old))),
            steps: vec![
                Step::Create(helm::secret(release, helm::Stage::Deployed)),
                Step::Merge { object, part: Part::Whole, patch },
            ],
            proof: Proof::Holds("revision", release.revision.to_string()),
        }
    }

    fn canary(&mut self, at: usize) -> Change {
        let Some(app) = self.apps.get(at) else { return self.apply() };
        let name = format!("{}-canary-{}", app.name, self.told);
        self.due.push((self.told + 9, Next::RemoveCanary(at, name.clone())));
        Change {
            row: RowKey::new("Service", app.namespace, &name),
            what: "created".to_owned(),
            aside: None,
            steps: vec![Step::Create(objects::canary(app, &name))],
            proof: Proof::Holds("port", "8080".to_owned()),
        }
    }

    fn remove_canary(&self, at: usize, name: &str) -> Change {
        let namespace = self.apps.get(at).map(|app| app.namespace).unwrap_or_default();
        let object = Reference {
            api_version: "v1",
            kind: "Service",
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        Change {
            row: RowKey::new("Service", namespace, name),
            what: "deleted".to_owned(),
            aside: None,
            steps: vec![Step::Delete(object)],
            proof: Proof::Gone,
        }
    }
}

fn deployment(app: &App) -> Reference {
    Reference {
        api_version: "apps/v1",
        kind: "Deployment",
        namespace: app.namespace.to_owned(),
        name: app.name.to_owned(),
    }
}

fn change(
    object: Reference,
    what: String,
    part: Part,
    patch: serde_json::Value,
    proof: Proof,
) -> Change {
    let row = RowKey::new(object.kind, &object.namespace, &object.name);
    Change { row, what, aside: None, steps: vec![Step::Merge { object, part, patch }], proof }
}

/// 1.2.3 becomes 1.2.4.
fn next_patch(version: &str) -> String {
    let (front, last) = version.rsplit_once('.').unwrap_or((version, "0"));
    format!("{front}.{}", last.parse::<u32>().unwrap_or_default() + 1)
}

/// 1.2.3 becomes 1.3.0.
fn next_minor(version: &str) -> String {
    let front = version.rsplit_once('.').map_or(version, |(front, _)| front);
    format!("{}.0", next_patch(front))
}

/// Numbers that look like chance and follow from a seed (SplitMix64).
#[derive(Clone, Debug)]
struct Chance(u64);

impl Chance {
    /// A number below another one; zero if there is none.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(mixed % bound).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
