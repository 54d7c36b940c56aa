//! What each target comes to, whichever of the two kinds it is.

use std::{collections::BTreeMap, sync::Arc};

use kollect_api::{ClusterScope, ClusterTarget, Profile, Scope, ScopeCeiling, Target, annotation};
use kollect_collect::Assignment;
use kollect_inventory::TargetKey;
use kollect_sinks::ProfileSchema;
use kollect_validate::{Kind, Object, Report, Rule, Surroundings};

use super::{Knowledge, Planner, Trouble};
use crate::{
    objects::{Name, Objects},
    settings::Settings,
};

/// What a target comes to.
#[derive(Clone, Debug)]
pub(crate) struct TargetPlan {
    pub(crate) object: Arc<Object>,
    pub(crate) stance: Stance,
    /// What is wrong with it, before anything is read.
    pub(crate) trouble: Option<Trouble>,
    /// What its rows look like, where that is known.
    pub(crate) schema: Option<ProfileSchema>,
}

/// What is done for a target.
#[derive(Clone, Debug)]
pub(crate) enum Stance {
    Collect(Arc<Assignment>),
    /// It cannot be understood now: what was understood last goes on, and
    /// nothing is deleted because of it (R3).
    Doubt(Option<Arc<Assignment>>),
    /// Its rows go.
    Withdraw,
}

impl Stance {
    /// Whether anything is read for it.
    pub(crate) fn is_read(&self) -> bool {
        matches!(self, Self::Collect(_) | Self::Doubt(Some(_)))
    }
}

/// An assignment and what it was made of.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    basis: Basis,
    assignment: Arc<Assignment>,
}

/// Changes whenever an assignment may have to be another.
#[derive(Clone, Debug, PartialEq)]
struct Basis {
    target: (Option<String>, Option<i64>),
    profile: (Option<String>, Option<i64>, Option<BTreeMap<String, String>>),
    ceiling: Option<ScopeCeiling>,
}

/// A target of either kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnyTarget<'a> {
    Namespaced(&'a Target),
    Cluster(&'a ClusterTarget),
}

impl<'a> AnyTarget<'a> {
    pub(crate) fn of(object: &'a Object) -> Option<Self> {
        match object {
            Object::Target(target) => Some(Self::Namespaced(target)),
            Object::ClusterTarget(target) => Some(Self::Cluster(target)),
            _ => None,
        }
    }

    pub(crate) fn key(self) -> TargetKey {
        let (namespace, name) = match self {
            Self::Namespaced(target) => {
                (Some(target.metadata.namespace.clone().unwrap_or_default()), &target.metadata.name)
            }
            Self::Cluster(target) => (None, &target.metadata.name),
        };
        TargetKey { namespace, name: name.clone().unwrap_or_default() }
    }

    pub(crate) fn profile(self) -> Name {
        match self {
            Self::Namespaced(target) => {
                let namespace = target.metadata.namespace.as_deref().unwrap_or_default();
                Name::new(namespace, &target.spec.profile_ref)
            }
            Self::Cluster(target) => {
                let reference = &target.spec.profile_ref;
                Name::new(&reference.namespace, &reference.name)
            }
        }
    }

    fn is_suspended(self) -> bool {
        match self {
            Self::Namespaced(target) => target.spec.suspend,
            Self::Cluster(target) => target.spec.suspend,
        }
    }

    pub(crate) fn rules(self) -> usize {
        match self {
            Self::Namespaced(target) => target.spec.filter.resource_rules.len(),
            Self::Cluster(target) => target.spec.filter.resource_rules.len(),
        }
    }
}

impl Planner {
    pub(super) fn targets(
        &mut self,
        objects: &Objects,
        settings: &Settings,
        knowledge: &Knowledge,
        around: &Surroundings,
    ) -> BTreeMap<TargetKey, TargetPlan> {
        let both = [Kind::Target, Kind::ClusterTarget].into_iter();
        let both = both.flat_map(|kind| objects.of_kind(kind));
        let mut plans = BTreeMap::new();
        for (_, object) in both {
            let Some(target) = AnyTarget::of(object) else { continue };
            // One that is being deleted is as good as gone.
            if object.meta().deletion_timestamp.is_some() {
                continue;
            }
            let plan = self.target(object, target, (objects, settings, knowledge), around);
            plans.insert(target.key(), plan);
        }
        self.compiled.retain(|key, _| plans.contains_key(key));
        plans
    }

    fn target(
        &mut self,
        object: &Arc<Object>,
        target: AnyTarget<'_>,
        (objects, settings, knowledge): (&Objects, &Settings, &Knowledge),
        around: &Surroundings,
    ) -> TargetPlan {
        let plan = |stance, trouble, schema| TargetPlan {
            object: Arc::clone(object),
            stance,
            trouble,
            schema,
        };
        let (key, ceiling) = (target.key(), ceiling(target, objects));
        if target.is_suspended() {
            let trouble = Trouble::new("Suspended", "spec.suspend is set: nothing is collected");
            return plan(Stance::Withdraw, Some(trouble), None);
        }
        let refused = refusal(object, around).or_else(|| beyond(target, settings));
        if let Some(violation) = refused {
            let (stance, trouble) = match violation.reason {
                "InvalidSpec" => self.doubt(&key, ceiling, violation),
                _ => (Stance::Withdraw, violation),
            };
            return plan(stance, Some(trouble), None);
        }
        let name = target.profile();
        let Some(profile) = objects.find::<Profile>(&name.namespace, &name.name) else {
            let trouble =
                Trouble::new("ProfileNotFound", format!("there is no KollectProfile {name}"));
            let is_sure = knowledge.missing_profiles.contains(&name);
            let (stance, trouble) = if is_sure {
                (Stance::Withdraw, trouble)
            } else {
                self.doubt(&key, ceiling, trouble)
            };
            return plan(stance, Some(trouble), None);
        };
        let assignment = match self.compile(target, profile, ceiling, settings) {
            Ok(assignment) => assignment,
            Err(message) => {
                let trouble = Trouble::new("InvalidSpec", format!("profile {name}: {message}"));
                let (stance, trouble) = if self.has_lost_consent(&key, profile) {
                    (Stance::Withdraw, trouble)
                } else {
                    self.doubt(&key, ceiling, trouble)
                };
                return plan(stance, Some(trouble), None);
            }
        };
        let schema = schema(profile, &name, key);
        if let Some(trouble) = denied(target, &assignment, ceiling, (settings, knowledge)) {
            return plan(Stance::Withdraw, Some(trouble), Some(schema));
        }
        plan(Stance::Collect(assignment), None, Some(schema))
    }

    /// What was understood last goes on, but never above the ceiling of now:
    /// else whoever is to be kept within one would only have to be unclear.
    fn doubt(
        &mut self,
        key: &TargetKey,
        ceiling: Option<&ScopeCeiling>,
        trouble: Trouble,
    ) -> (Stance, Trouble) {
        let Some(known) = self.compiled.get_mut(key) else { return (Stance::Doubt(None), trouble) };
        if known.basis.ceiling.as_ref() != ceiling {
            known.basis.ceiling = ceiling.cloned();
            known.assignment = Arc::new(known.assignment.under(ceiling));
        }
        let kind = known.assignment.kind();
        let allowed = ceiling.map(|ceiling| &ceiling.allowed_gvks[..]).unwrap_or_default();
        if allowed.is_empty() || allowed.iter().any(|one| one.is(kind)) {
            return (Stance::Doubt(Some(Arc::clone(&known.assignment))), trouble);
        }
        let text = format!("{kind} is not in allowedGVKs of the scope; and {}", trouble.message);
        (Stance::Withdraw, Trouble::new("ScopeGVKDenied", text))
    }

    /// Whether a profile of Secrets was permitted something that it no longer
    /// is. What it was last understood to want must not go on then.
    fn has_lost_consent(&self, key: &TargetKey, profile: &Profile) -> bool {
        let consents = |annotations: Option<&BTreeMap<String, String>>, name: &str| {
            annotations.and_then(|all| all.get(name)).is_some_and(|value| value == "true")
        };
        let before = self.compiled.get(key).map(|known| known.basis.profile.2.as_ref());
        let now = profile.metadata.annotations.as_ref();
        let is_lost = |name: &str| {
            before.is_some_and(|before| consents(before, name)) && !consents(now, name)
        };
        profile.spec.target_gvk.is_core_secret()
            && [annotation::ALLOW_SECRET_EXTRACTION, annotation::ALLOW_FULL_RESOURCE_EXPORT]
                .into_iter()
                .any(is_lost)
    }

    fn compile(
        &mut self,
        target: AnyTarget<'_>,
        profile: &Profile,
        ceiling: Option<&ScopeCeiling>,
        settings: &Settings,
    ) -> Result<Arc<Assignment>, String> {
        let meta = match target {
            AnyTarget::Namespaced(target) => &target.metadata,
            AnyTarget::Cluster(target) => &target.metadata,
        };
        let of_profile = &profile.metadata;
        let basis = Basis {
            target: (meta.uid.clone(), meta.generation),
            profile: (
                of_profile.uid.clone(),
                of_profile.generation,
                of_profile.annotations.clone(),
            ),
            ceiling: ceiling.cloned(),
        };
        let key = target.key();
        if let Some(known) = self.compiled.get(&key).filter(|known| known.basis == basis) {
            return Ok(Arc::clone(&known.assignment));
        }
        let scrub_keys = &settings.scrub_keys;
        let compiled = match target {
            AnyTarget::Namespaced(target) => {
                Assignment::of_target(target, profile, ceiling, scrub_keys)
            }
            AnyTarget::Cluster(target) => {
                Assignment::of_cluster_target(target, profile, ceiling, scrub_keys)
            }
        };
        let assignment = compiled.map(Arc::new).map_err(|errors| {
            errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        })?;
        let compiled = Compiled { basis, assignment: Arc::clone(&assignment) };
        self.compiled.insert(key, compiled);
        Ok(assignment)
    }
}

/// What the rules of admission say against a target.
fn refusal(object: &Object, around: &Surroundings) -> Option<Trouble> {
    let mut report = Report::default();
    kollect_validate::check(object, around, &mut report);
    // What a ceiling denies of a cluster target is left out, no error.
    let violation = report.violations.into_iter().find(|one| one.rule != Rule::Ctg06)?;
    let reason = match violation.rule {
        Rule::Tgt06 | Rule::Ctg05 => "ScopeGVKDenied",
        Rule::Tgt07 | Rule::Ctg07 => "ScopeNamespaceDenied",
        _ => "InvalidSpec",
    };
    Some(Trouble::new(reason, violation.to_string()))
}

/// Whether a target names a namespace that the operator was told not to look
/// at. A target of the cluster is narrowed instead.
fn beyond(target: AnyTarget<'_>, settings: &Settings) -> Option<Trouble> {
    let AnyTarget::Namespaced(target) = target else { return None };
    let bound = &settings.watch_namespaces;
    let is_beyond = |name: &&String| !bound.is_empty() && !bound.contains(*name);
    let first = target.spec.filter.included_namespaces.iter().find(is_beyond)?;
    let text = format!(
        "spec.includedNamespaces: {first} is not in --watch-namespaces of the operator, which \
         reads nothing elsewhere"
    );
    Some(Trouble::new("ScopeNamespaceDenied", text))
}

/// The ceiling that a target is under: that of the scope whose name sorts first.
fn ceiling<'o>(target: AnyTarget<'_>, objects: &'o Objects) -> Option<&'o ScopeCeiling> {
    match target.key().namespace {
        Some(namespace) => {
            let mut scopes = objects.all::<Scope>();
            let scope = scopes.find(|(name, _)| name.namespace == namespace)?.1;
            Some(&scope.spec.ceiling)
        }
        None => objects.all::<ClusterScope>().next().map(|(_, scope)| &scope.spec.ceiling),
    }
}

/// Whether a target asks for namespaces that its scope does not allow. One that
/// asks for nothing in particular is narrowed instead, and so is a cluster
/// target.
fn denied(
    target: AnyTarget<'_>,
    assignment: &Assignment,
    ceiling: Option<&ScopeCeiling>,
    (settings, knowledge): (&Settings, &Knowledge),
) -> Option<Trouble> {
    let AnyTarget::Namespaced(_) = target else { return None };
    let (_, universe) = (ceiling?, knowledge.namespaces.as_ref()?);
    if !assignment.names_namespaces() {
        return None;
    }
    let sets = assignment.chosen(&settings.defaults, universe);
    let mut beyond = sets.matched.difference(&sets.effective);
    let first = beyond.next()?;
    let more = match beyond.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!("the scope of the namespace does not allow namespace {first}{more}");
    Some(Trouble::new("ScopeNamespaceDenied", text))
}

fn schema(profile: &Profile, name: &Name, target: TargetKey) -> ProfileSchema {
    let schema = ProfileSchema::of(&name.name, &profile.spec, vec![target]);
    ProfileSchema { namespace: name.namespace.clone(), ..schema }
}
