//! Rules of KollectInventory and KollectClusterInventory.

use std::time::Duration;

use kollect_api::{
    ClusterInventory, ClusterInventorySpec, ExportInterval, Inventory, ScopeCeiling, SinkRef,
    SinkRefEntry,
};

use crate::{
    names,
    object::DEFAULT_NAMESPACE,
    report::{FieldPath, Problem, Report, Violation, spelled},
    rule::Rule,
    selector,
    surroundings::Surroundings,
    target,
};

/// Sinks that one inventory may have.
const MOST_SINKS: usize = 20;

/// One of the three lists of sink references.
pub(crate) struct RefList<'a> {
    pub(crate) field: &'static str,
    pub(crate) family: &'static str,
    pub(crate) entries: &'a [SinkRefEntry],
}

impl<'a> RefList<'a> {
    /// The well-formed references, each with its path.
    pub(crate) fn refs(&self) -> impl Iterator<Item = (FieldPath, &'a SinkRef)> + use<'a> {
        let list = FieldPath::of("spec").field(self.field);
        self.entries.iter().enumerate().filter_map(move |(at, entry)| {
            entry.sink_ref().map(|sink_ref| (list.index(at), sink_ref))
        })
    }
}

/// The three lists, in the order of the reference.
pub(crate) fn ref_lists<'a>(
    snapshot: &'a [SinkRefEntry],
    database: &'a [SinkRefEntry],
    event: &'a [SinkRefEntry],
) -> [RefList<'a>; 3] {
    [
        RefList { field: "snapshotSinkRefs", family: "snapshot", entries: snapshot },
        RefList { field: "databaseSinkRefs", family: "database", entries: database },
        RefList { field: "eventSinkRefs", family: "event", entries: event },
    ]
}

/// Under which ids the shared rules speak.
struct Ids {
    number: Rule,
    name: Rule,
    repeated: Rule,
    interval: Rule,
    size: Rule,
    floor: Rule,
    sink: Rule,
}

const NAMESPACED: Ids = Ids {
    number: Rule::Inv01,
    name: Rule::Inv02,
    repeated: Rule::Inv03,
    interval: Rule::Inv05,
    size: Rule::Inv06,
    floor: Rule::Inv07,
    sink: Rule::Inv08,
};

const CLUSTER: Ids = Ids {
    number: Rule::Civ05,
    name: Rule::Civ05,
    repeated: Rule::Civ05,
    interval: Rule::Civ07,
    size: Rule::Civ07,
    floor: Rule::Civ09,
    sink: Rule::Civ11,
};

/// Runs every rule of KollectInventory.
pub(crate) fn check(inventory: &Inventory, around: &Surroundings, report: &mut Report) {
    let spec = &inventory.spec;
    let namespace = inventory.metadata.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
    if namespace == "cluster" {
        let detail = "the namespace cluster is reserved for the rows of cluster inventories";
        report.forbidden(Rule::Inv09, FieldPath::of("metadata.namespace"), detail);
    }
    let lists =
        ref_lists(&spec.snapshot_sink_refs, &spec.database_sink_refs, &spec.event_sink_refs);
    let cap = around.policy.max_export_bytes;
    refs_are_sound(&NAMESPACED, &lists, cap, report);
    for (path, sink_ref) in lists.iter().flat_map(RefList::refs) {
        if sink_ref.namespace.is_some() {
            let detail = "sinks are looked up in the namespace of the inventory";
            report.forbidden(Rule::Inv04, path.field("namespace"), detail);
        }
    }
    let path = FieldPath::of("spec.exportMinInterval");
    names::interval(Rule::Inv05, path, &spec.export_min_interval, report);
    if let Some(bytes) = spec.max_export_bytes {
        size_is_within(Rule::Inv06, FieldPath::of("spec.maxExportBytes"), bytes, cap, report);
    }
    if spec.http_endpoint.as_ref().is_some_and(|endpoint| endpoint.port.is_some()) {
        let detail =
            "has no effect: one port, set by --inventory-http-port, serves all inventories";
        report.warn(Rule::InvW1, FieldPath::of("spec.httpEndpoint.port"), detail);
    }
    if let Some(scope) = around.scope(namespace).filter(|_| report.is_clean()) {
        let name = format!("KollectScope {}", scope.metadata.name.as_deref().unwrap_or_default());
        let ceiling = Ceiling { name, limits: &scope.spec.ceiling, ids: &NAMESPACED };
        ceiling.default_interval(&spec.export_min_interval, report);
        for (path, sink_ref) in lists.iter().flat_map(RefList::refs) {
            ceiling.ref_interval(&path, sink_ref, report);
        }
        ceiling.sinks(&lists, report);
    }
}

/// Runs every rule of KollectClusterInventory.
pub(crate) fn check_cluster(
    inventory: &ClusterInventory,
    around: &Surroundings,
    report: &mut Report,
) {
    let spec = &inventory.spec;
    if around.policy.tenant_mode {
        let detail = "a KollectClusterInventory needs cluster-wide rights, which the operator \
            does not have in tenant mode; use a KollectInventory in each namespace";
        report.forbidden(Rule::Civ00, FieldPath::of("kind"), detail);
        return;
    }
    if let Some(profile) = &spec.profile_ref {
        target::namespaced_ref((Rule::Civ01, Rule::Civ01), profile, report);
    }
    for (at, name) in spec.target_refs.iter().enumerate() {
        target_is_a_name(FieldPath::of("spec.targetRefs").index(at), name, report);
    }
    namespaces_are_chosen(spec, report);
    let lists =
        ref_lists(&spec.snapshot_sink_refs, &spec.database_sink_refs, &spec.event_sink_refs);
    refs_are_sound(&CLUSTER, &lists, around.policy.max_export_bytes, report);
    for (path, sink_ref) in lists.iter().flat_map(RefList::refs) {
        if let Some(namespace) = sink_ref.namespace.as_deref().filter(|ns| !names::is_label(ns)) {
            report.invalid(Rule::Civ06, path.field("namespace"), namespace, names::LABEL);
        }
    }
    let path = FieldPath::of("spec.exportMinInterval");
    names::interval(Rule::Civ07, path, &spec.export_min_interval, report);
    if !names::is_label(&spec.sink_namespace) {
        let path = FieldPath::of("spec.sinkNamespace");
        report.invalid(Rule::Civ08, path, &spec.sink_namespace, names::LABEL);
    }
    if report.is_clean() {
        scopes_hold(spec, &lists, around, report);
    }
}

/// CIV-02: cluster targets have a name and nothing else.
fn target_is_a_name(path: FieldPath, name: &str, report: &mut Report) {
    if name.trim().is_empty() {
        report.required(Rule::Civ02, path, "the name of a KollectClusterTarget");
    } else if name.contains('/') {
        let detail = "must be a name alone: cluster targets have no namespace";
        report.invalid(Rule::Civ02, path, name, detail);
    }
}

/// CIV-03, CIV-04, TGT-08: which namespaces count is said, and sayable.
fn namespaces_are_chosen(spec: &ClusterInventorySpec, report: &mut Report) {
    let selectors = [
        ("spec.targetSelector", spec.target_selector.as_ref()),
        ("spec.namespaceSelector", spec.namespace_selector.as_ref()),
    ];
    for (path, selector) in selectors {
        selector::well_formed(&FieldPath::of(path), selector, report);
    }
    names::namespaces(Rule::Civ03, &FieldPath::of("spec.namespaces"), &spec.namespaces, report);
    if spec.namespaces.is_empty() && !selector::selects(spec.namespace_selector.as_ref()) {
        let detail = "namespaceSelector or namespaces is needed; without either the whole \
            cluster would be rolled up";
        report.required(Rule::Civ04, FieldPath::of("spec.namespaceSelector"), detail);
    }
}

/// GEN-01 and the rules on names, numbers, intervals and sizes.
///
/// Too many references are reported alone: whoever has to drop some will
/// write the rest anew.
fn refs_are_sound(ids: &Ids, lists: &[RefList<'_>], cap: i64, report: &mut Report) {
    let total: usize = lists.iter().map(|list| list.entries.len()).sum();
    if total > MOST_SINKS {
        let spec = FieldPath::of("spec");
        let long = lists.iter().find(|list| list.entries.len() > MOST_SINKS);
        let path = long.map_or(spec.clone(), |list| spec.field(list.field));
        let detail = format!("at most {MOST_SINKS} sinks are allowed over the three lists");
        report.too_many(ids.number, path, total, detail);
        return;
    }
    for list in lists {
        entries_are_references(list, report);
        let refs: Vec<_> = list.refs().collect();
        for (at, (path, sink_ref)) in refs.iter().enumerate() {
            sink_is_a_name(ids, path.field("name"), &sink_ref.name, report);
            if refs.iter().take(at).any(|(_, earlier)| earlier.name == sink_ref.name) {
                report.duplicate(ids.repeated, path.field("name"), &sink_ref.name);
            }
            if let Some(interval) = &sink_ref.export_min_interval {
                names::interval(ids.interval, path.field("exportMinInterval"), interval, report);
            }
            if let Some(bytes) = sink_ref.max_export_bytes {
                size_is_within(ids.size, path.field("maxExportBytes"), bytes, cap, report);
            }
        }
    }
}

/// INV-02, CIV-05: the namespace of a sink is not part of its name.
fn sink_is_a_name(ids: &Ids, path: FieldPath, name: &str, report: &mut Report) {
    if ids.name == Rule::Inv02 {
        names::local_name(ids.name, path, name, report);
    } else if name.trim().is_empty() {
        report.required(ids.name, path, "the name of a sink");
    } else if name.contains('/') {
        let detail = "must be the name alone; the namespace has a field of its own";
        report.invalid(ids.name, path, name, detail);
    }
}

/// GEN-01: an entry is a name or an object with a name.
fn entries_are_references(list: &RefList<'_>, report: &mut Report) {
    let path = FieldPath::of("spec").field(list.field);
    for (at, entry) in list.entries.iter().enumerate() {
        if let SinkRefEntry::Malformed { value, reason } = entry {
            report.add(Violation {
                rule: Rule::Gen01,
                path: path.index(at),
                problem: Problem::Invalid(spelled(value)),
                detail: format!(
                    "must be the name of a sink, or an object of name, namespace, \
                     exportMinInterval and maxExportBytes: {reason}"
                ),
            });
        }
    }
}

fn size_is_within(rule: Rule, path: FieldPath, bytes: i64, cap: i64, report: &mut Report) {
    if bytes <= 0 || bytes > cap {
        let detail = format!("must be 1 to {cap} bytes, the operator's --max-export-bytes");
        report.add(Violation { rule, path, problem: Problem::Invalid(bytes.to_string()), detail });
    }
}

/// CIV-09, CIV-10, CIV-11: each sink is judged by the scope of its own
/// namespace, and everything by the cluster scope.
fn scopes_hold(
    spec: &ClusterInventorySpec,
    lists: &[RefList<'_>],
    around: &Surroundings,
    report: &mut Report,
) {
    let in_namespace = |namespace: &str| {
        around.scope(namespace).map(|scope| {
            let name = scope.metadata.name.as_deref().unwrap_or_default();
            let name = format!("KollectScope {namespace}/{name}");
            Ceiling { name, limits: &scope.spec.ceiling, ids: &CLUSTER }
        })
    };
    if let Some(ceiling) = in_namespace(&spec.sink_namespace) {
        ceiling.default_interval(&spec.export_min_interval, report);
    }
    for (path, sink_ref) in lists.iter().flat_map(RefList::refs) {
        let namespace = sink_ref.namespace.as_ref().unwrap_or(&spec.sink_namespace);
        if let Some(ceiling) = in_namespace(namespace) {
            ceiling.ref_interval(&path, sink_ref, report);
        }
    }
    let Some(scope) = around.cluster_scope() else { return };
    let name = scope.metadata.name.as_deref().unwrap_or_default();
    let name = format!("KollectClusterScope {name}");
    let ceiling = Ceiling { name, limits: &scope.spec.ceiling, ids: &CLUSTER };
    ceiling.default_interval(&spec.export_min_interval, report);
    for (path, sink_ref) in lists.iter().flat_map(RefList::refs) {
        ceiling.ref_interval(&path, sink_ref, report);
    }
    ceiling.sinks(lists, report);
    let allowed = &scope.spec.allowed_static_ref_namespaces;
    let of_profile = spec
        .profile_ref
        .iter()
        .map(|profile| (FieldPath::of("spec.profileRef.namespace"), &profile.namespace));
    let of_sinks = lists.iter().flat_map(RefList::refs).map(|(path, sink_ref)| {
        (path, sink_ref.namespace.as_ref().unwrap_or(&spec.sink_namespace))
    });
    for (path, namespace) in of_profile.chain(of_sinks) {
        if !allowed.is_empty() && !allowed.contains(namespace) {
            let detail =
                format!("{namespace} is not in allowedStaticRefNamespaces of {}", ceiling.name);
            report.forbidden(Rule::Civ10, path, detail);
        }
    }
}

/// A scope as it limits one kind of inventory.
struct Ceiling<'a> {
    name: String,
    limits: &'a ScopeCeiling,
    ids: &'a Ids,
}

impl Ceiling<'_> {
    fn floor(&self) -> Option<Duration> {
        self.limits.min_export_interval.as_ref().and_then(|floor| floor.duration().ok())
    }

    /// INV-07, CIV-09 for the interval of the inventory.
    ///
    /// Exactly the schema default is raised instead of refused, because it is
    /// stored even when nobody wrote it.
    fn default_interval(&self, interval: &ExportInterval, report: &mut Report) {
        let path = FieldPath::of("spec.exportMinInterval");
        let below = interval.duration().ok().zip(self.floor()).filter(|(own, floor)| own < floor);
        match below {
            Some((own, _)) if own == ExportInterval::INVENTORY_DEFAULT => {
                let detail = format!("30s is raised to {}", self.floor_text());
                report.warn(Rule::InvW2, path, detail);
            }
            Some(_) => self.below_floor(path, interval, report),
            None => {}
        }
    }

    /// INV-07, CIV-09 for the interval of one reference.
    fn ref_interval(&self, path: &FieldPath, sink_ref: &SinkRef, report: &mut Report) {
        let Some(interval) = &sink_ref.export_min_interval else { return };
        let own = interval.duration().ok();
        if own.zip(self.floor()).is_some_and(|(own, floor)| own < floor) {
            self.below_floor(path.field("exportMinInterval"), interval, report);
        }
    }

    fn below_floor(&self, path: FieldPath, interval: &ExportInterval, report: &mut Report) {
        let detail = format!("must be at least {}", self.floor_text());
        report.invalid(self.ids.floor, path, interval.as_str(), detail);
    }

    fn floor_text(&self) -> String {
        let floor = self.limits.min_export_interval.as_ref().map_or("0s", ExportInterval::as_str);
        format!("{floor}, the minExportInterval of {}", self.name)
    }

    /// INV-08, CIV-11: only sinks that the scope lists.
    fn sinks(&self, lists: &[RefList<'_>], report: &mut Report) {
        for list in lists {
            let allowed = match list.family {
                "snapshot" => &self.limits.snapshot_sink_refs,
                "database" => &self.limits.database_sink_refs,
                _ => &self.limits.event_sink_refs,
            };
            for (path, sink_ref) in list.refs().filter(|_| !allowed.is_empty()) {
                if !allowed.contains(&sink_ref.name) {
                    let detail = format!(
                        "{} sink {} is not in {} of {}",
                        list.family, sink_ref.name, list.field, self.name
                    );
                    report.forbidden(self.ids.sink, path, detail);
                }
            }
        }
    }
}
