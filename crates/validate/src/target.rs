//! Rules of KollectTarget and KollectClusterTarget.

use kollect_api::{
    ClusterTarget, CollectionFilter, GroupVersionKind, NamespacedRef, Profile, ScopeCeiling,
    Target, annotation,
};
use kollect_expr::cel::{self, Gives};

use crate::{
    names,
    object::DEFAULT_NAMESPACE,
    profile::placed,
    report::{FieldPath, Report},
    rule::Rule,
    secret_guard::{self, Reading},
    selector,
    surroundings::Surroundings,
};

/// Runs every rule of KollectTarget.
pub(crate) fn check(target: &Target, around: &Surroundings, report: &mut Report) {
    let spec = &target.spec;
    let namespace = target.metadata.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
    names::local_name(Rule::Tgt01, FieldPath::of("spec.profileRef"), &spec.profile_ref, report);
    let selectors = [
        ("spec.namespaceSelector", spec.namespace_selector.as_ref()),
        ("spec.labelSelector", spec.label_selector.as_ref()),
    ];
    for (path, selector) in selectors {
        selector::well_formed(&FieldPath::of(path), selector, report);
    }
    let profile = around.profile(namespace, &spec.profile_ref);
    filter_is_sound(&spec.filter, profile, report);
    if let Some(scope) = around.scope(namespace).filter(|_| report.is_clean()) {
        let ceiling = Ceiling {
            name: format!("KollectScope {}", scope.metadata.name.as_deref().unwrap_or_default()),
            limits: &scope.spec.ceiling,
            kind_rule: Rule::Tgt06,
            namespace_rule: Rule::Tgt07,
        };
        ceiling.holds(&spec.filter, profile, report);
    }
}

/// Runs every rule of KollectClusterTarget.
pub(crate) fn check_cluster(target: &ClusterTarget, around: &Surroundings, report: &mut Report) {
    let spec = &target.spec;
    if around.policy.tenant_mode {
        let detail = "a KollectClusterTarget needs cluster-wide rights, which the operator does \
            not have in tenant mode; use a KollectTarget in each namespace";
        report.forbidden(Rule::Ctg00, FieldPath::of("kind"), detail);
        return;
    }
    namespaced_ref((Rule::Ctg01, Rule::Ctg02), &spec.profile_ref, report);
    let path = FieldPath::of("spec.namespaceSelector");
    if selector::selects(spec.namespace_selector.as_ref()) {
        selector::well_formed(&path, spec.namespace_selector.as_ref(), report);
    } else {
        let detail = "at least one label or expression is needed; an empty selector would \
            collect from the whole cluster";
        report.required(Rule::Ctg03, path, detail);
    }
    let profile = around.profile(&spec.profile_ref.namespace, &spec.profile_ref.name);
    filter_is_sound(&spec.filter, profile, report);
    if let Some(scope) = around.cluster_scope().filter(|_| report.is_clean()) {
        let name = scope.metadata.name.as_deref().unwrap_or_default();
        let ceiling = Ceiling {
            name: format!("KollectClusterScope {name}"),
            limits: &scope.spec.ceiling,
            kind_rule: Rule::Ctg05,
            namespace_rule: Rule::Ctg06,
        };
        ceiling.holds(&spec.filter, profile, report);
        let allowed = &scope.spec.allowed_static_ref_namespaces;
        let namespace = &spec.profile_ref.namespace;
        if !allowed.is_empty() && !allowed.contains(namespace) {
            let path = FieldPath::of("spec.profileRef.namespace");
            let detail = format!(
                "{namespace} is not in allowedStaticRefNamespaces of KollectClusterScope {name}"
            );
            report.forbidden(Rule::Ctg07, path, detail);
        }
    }
}

/// CTG-01, CTG-02 and CIV-01: name and namespace are given and could exist.
pub(crate) fn namespaced_ref(
    (name_rule, namespace_rule): (Rule, Rule),
    reference: &NamespacedRef,
    report: &mut Report,
) {
    let path = FieldPath::of("spec.profileRef");
    let NamespacedRef { name, namespace } = reference;
    if name.trim().is_empty() {
        report.required(name_rule, path.field("name"), "the name of a KollectProfile");
    } else if name.contains('/') {
        let detail = "must be the name alone; the namespace has a field of its own";
        report.invalid(name_rule, path.field("name"), name, detail);
    } else if !names::is_subdomain(name) {
        report.invalid(name_rule, path.field("name"), name, names::SUBDOMAIN);
    }
    if namespace.trim().is_empty() {
        let detail = "the profile's namespace; there is no default";
        report.required(namespace_rule, path.field("namespace"), detail);
    } else if !names::is_label(namespace) {
        report.invalid(namespace_rule, path.field("namespace"), namespace, names::LABEL);
    }
}

/// TGT-02, TGT-03, TGT-04, TGT-08, TGT-09: what both kinds of target filter by.
fn filter_is_sound(filter: &CollectionFilter, profile: Option<&Profile>, report: &mut Report) {
    let spec = FieldPath::of("spec");
    let lists = [
        ("includedNamespaces", &filter.included_namespaces),
        ("excludedNamespaces", &filter.excluded_namespaces),
    ];
    for (name, namespaces) in lists {
        names::namespaces(Rule::Tgt02, &spec.field(name), namespaces, report);
    }
    let path = spec.field("namespaceExcludeSelector");
    selector::well_formed(&path, filter.namespace_exclude_selector.as_ref(), report);
    for (at, rule) in filter.resource_rules.iter().enumerate() {
        let path = spec.field("resourceRules").index(at);
        names::gvk(Rule::Tgt03, &path.field("gvk"), &rule.gvk, report);
        let selector = rule.namespace_selector.as_ref();
        selector::well_formed(&path.field("namespaceSelector"), selector, report);
        selector::labels(&path.field("matchLabels"), &rule.match_labels, report);
        let path_of_expressions = path.field("matchExpressions");
        selector::requirements(&path_of_expressions, &rule.match_expressions, report);
        if let Some(policy) = &rule.match_policy {
            policy_is_sound(path.field("matchPolicy"), policy, profile, report);
        }
        if let Some(profile) = profile.filter(|profile| !profile.spec.target_gvk.is(&rule.gvk)) {
            let detail = format!(
                "the profile reads {}, and only that kind is watched",
                profile.spec.target_gvk
            );
            report.invalid(Rule::Tgt09, path.field("gvk"), &rule.gvk.to_string(), detail);
        }
    }
}

/// TGT-04: a policy compiles, can be a boolean, and does not tell what the data
/// of a Secret is by which rows there are.
fn policy_is_sound(path: FieldPath, policy: &str, profile: Option<&Profile>, report: &mut Report) {
    let program = match cel::compile_giving(policy, Gives::Bool) {
        Ok(program) => program,
        Err(error) => {
            report.invalid(Rule::Tgt04, path, policy, placed(&error, policy));
            return;
        }
    };
    let closed = profile.is_some_and(|profile| {
        let annotations = profile.metadata.annotations.as_ref();
        let allowed = annotations.and_then(|all| all.get(annotation::ALLOW_SECRET_EXTRACTION));
        profile.spec.target_gvk.is_core_secret() && allowed.is_none_or(|value| value != "true")
    });
    if let Reading::Data(why) = secret_guard::judge(Ok(program))
        && closed
    {
        let detail = format!(
            "{why}; the annotation {}: \"true\" on the profile would permit it",
            annotation::ALLOW_SECRET_EXTRACTION
        );
        report.forbidden(Rule::Tgt04, path, detail);
    }
}

/// A scope as it limits one kind of target.
struct Ceiling<'a> {
    name: String,
    limits: &'a ScopeCeiling,
    kind_rule: Rule,
    namespace_rule: Rule,
}

impl Ceiling<'_> {
    /// TGT-06, TGT-07, CTG-05, CTG-06: the target asks for nothing above it.
    fn holds(&self, filter: &CollectionFilter, profile: Option<&Profile>, report: &mut Report) {
        let rules = filter.resource_rules.iter().enumerate().map(|(at, rule)| {
            (FieldPath::of("spec.resourceRules").index(at).field("gvk"), &rule.gvk)
        });
        let of_profile = profile
            .filter(|_| filter.resource_rules.is_empty())
            .map(|profile| (FieldPath::of("spec.profileRef"), &profile.spec.target_gvk));
        for (path, gvk) in rules.chain(of_profile) {
            self.kind_is_allowed(path, gvk, report);
        }
        for (at, namespace) in filter.included_namespaces.iter().enumerate() {
            let path = FieldPath::of("spec.includedNamespaces").index(at);
            self.namespace_is_allowed(path, namespace, report);
        }
    }

    fn kind_is_allowed(&self, path: FieldPath, gvk: &GroupVersionKind, report: &mut Report) {
        let allowed = &self.limits.allowed_gvks;
        if !allowed.is_empty() && !allowed.iter().any(|allowed| allowed.is(gvk)) {
            let detail = format!("{gvk} is not in allowedGVKs of {}", self.name);
            report.forbidden(self.kind_rule, path, detail);
        }
    }

    fn namespace_is_allowed(&self, path: FieldPath, namespace: &String, report: &mut Report) {
        let ScopeCeiling { denied_namespaces, allowed_namespaces, .. } = self.limits;
        let broken = if denied_namespaces.contains(namespace) {
            "is in deniedNamespaces"
        } else if !allowed_namespaces.is_empty() && !allowed_namespaces.contains(namespace) {
            "is not in allowedNamespaces"
        } else {
            return;
        };
        report.forbidden(
            self.namespace_rule,
            path,
            format!("{namespace} {broken} of {}", self.name),
        );
    }
}
