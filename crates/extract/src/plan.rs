//! A profile and a target, compiled once.

use kollect_api::{
    ClusterTarget, ExportMode, GroupVersionKind, Profile, ResourceRule, Target, WatchMode,
    annotation,
};
use kollect_expr::{
    Budget, Json, Program, Projection,
    cel::{self, Gives},
    read,
};
use kollect_inventory::{Identity, Row, TargetKey, json};

use crate::{
    attributes::{self, Reader},
    guard::{self, Reach},
    helm,
    prune::Trim,
    redact::{self, Findings, Keys},
    select::{Namespace, Selection},
    verdict::{Failure, Header, Skip, Verdict},
    write,
};

/// What a target asks for, whichever kind it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    target: TargetKey,
    selection: Selection,
}

impl From<&Target> for Wanted {
    fn from(target: &Target) -> Self {
        let spec = &target.spec;
        let target = TargetKey {
            namespace: Some(target.metadata.namespace.clone().unwrap_or_default()),
            name: target.metadata.name.clone().unwrap_or_default(),
        };
        let selection = Selection {
            names: spec.names.clone(),
            labels: spec.label_selector.clone(),
            rules: spec.filter.resource_rules.clone(),
            watch_mode: spec.watch_mode,
        };
        Self { target, selection }
    }
}

impl From<&ClusterTarget> for Wanted {
    fn from(target: &ClusterTarget) -> Self {
        let rules = target.spec.filter.resource_rules.clone();
        let name = target.metadata.name.clone().unwrap_or_default();
        Self {
            target: TargetKey { namespace: None, name },
            selection: Selection { rules, watch_mode: WatchMode::All, ..Selection::default() },
        }
    }
}

/// Why a profile and a target make no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct PlanError {
    /// The field that is at fault.
    pub place: String,
    pub reason: String,
}

/// How to make rows of objects.
#[derive(Clone, Debug)]
pub struct Plan {
    target: TargetKey,
    kind: GroupVersionKind,
    selection: Selection,
    /// What the rules of the selection ask of an object, one for each.
    policies: Vec<Option<Program>>,
    readers: Vec<Reader>,
    trim: Option<Trim>,
    keys: Keys,
    projection: Projection,
    reads_release: bool,
    /// What every object of the kind says of itself, as far as it is read.
    says_of_itself: Vec<(&'static str, String)>,
    /// The places of the values, in the order of their names.
    order: Vec<usize>,
}

/// The values of a row, and where something was hidden in them.
type Values<'o> = (Vec<Option<Json<'o>>>, Findings);

impl Plan {
    /// Compiles a profile for a target. `scrub_keys` are the administrator's.
    pub fn compile(
        profile: &Profile,
        wanted: Wanted,
        scrub_keys: &[String],
    ) -> Result<Self, Vec<PlanError>> {
        let spec = &profile.spec;
        let mut errors = Vec::new();
        let mut readers = Vec::new();
        for (at, attribute) in spec.attributes.iter().enumerate() {
            match Reader::compile(attribute) {
                Ok(reader) => readers.push(reader),
                Err(reason) => {
                    let place = format!("spec.attributes[{at}].path");
                    errors.push(PlanError { place, reason });
                }
            }
        }
        let export = spec.export.as_ref().filter(|export| export.mode == ExportMode::Resource);
        let trim = export.map(Trim::compile).transpose();
        let trim = trim.unwrap_or_else(|reason| {
            errors.push(PlanError { place: "spec.export.prune".to_owned(), reason });
            None
        });
        let policies = policies(&wanted.selection, &mut errors);
        errors.extend(closed(profile, &readers, &policies, trim.is_some()));
        if !errors.is_empty() {
            return Err(errors);
        }
        let of_profile = export.and_then(|export| export.prune.as_ref());
        let of_profile = of_profile.map(|prune| prune.scrub_keys.as_slice()).unwrap_or_default();
        let further = scrub_keys.iter().chain(of_profile).map(String::as_str);
        let mut plan = Self {
            target: wanted.target,
            kind: spec.target_gvk.clone(),
            selection: wanted.selection,
            projection: projection(&readers, &policies, trim.as_ref()),
            policies,
            reads_release: readers.iter().any(Reader::reads_release),
            keys: Keys::new(further),
            says_of_itself: Vec::new(),
            order: Vec::new(),
            readers,
            trim,
        };
        let kind = &plan.kind;
        let version = match kind.group.as_str() {
            "" | "core" => kind.version.clone(),
            group => format!("{group}/{}", kind.version),
        };
        let says = [("apiVersion", version), ("kind", kind.kind.clone())];
        let is_read = |(name, _): &(&str, String)| plan.projection.reaches(&[*name]);
        plan.says_of_itself = says.into_iter().filter(is_read).collect();
        let mut order: Vec<_> =
            (0..plan.readers.len() + usize::from(plan.trim.is_some())).collect();
        order.sort_by(|one, other| plan.name(*one).cmp(plan.name(*other)));
        plan.order = order;
        Ok(plan)
    }

    /// What is read of each object.
    pub fn projection(&self) -> &Projection {
        &self.projection
    }

    /// Whether nothing of an object is read but its metadata.
    pub fn reads_metadata_only(&self) -> bool {
        self.projection.is_within("metadata")
    }

    /// Makes a row of an object's bytes, or says why there is none.
    pub fn row(&self, bytes: &[u8], namespace: Option<&Namespace>) -> Verdict {
        self.examine(bytes, |_| Some(namespace))
    }

    /// The same for an object of which nothing is known yet: `about` is asked
    /// what is known of its namespace, and says nothing if objects of that
    /// namespace are not wanted.
    pub fn examine<'n>(
        &self,
        bytes: &[u8],
        about: impl FnOnce(&Header<'_>) -> Option<Option<&'n Namespace>>,
    ) -> Verdict {
        let mut object = match read(bytes, &self.projection) {
            Ok(object) => object,
            Err(error) => return Verdict::Fail(Failure::Object(error.to_string())),
        };
        self.complete(&mut object);
        let header = Header::of(&object);
        let Some(namespace) = about(&header) else { return Verdict::Skip(Skip::Namespace) };
        let holds = |rule| self.policy_holds(rule, &object);
        if let Some(skip) = self.selection.refusal(&header, namespace, holds) {
            return Verdict::Skip(skip);
        }
        match self.values(&object) {
            Ok((values, redacted)) => {
                let row = Row::build(&self.identity(&header), |out| self.write(&values, out));
                Verdict::Keep { row, redacted }
            }
            Err(failure) => Verdict::Fail(failure),
        }
    }

    /// Whether an object is what a rule asks for; what cannot be told is not.
    fn policy_holds(&self, rule: usize, object: &Json<'_>) -> bool {
        let Some(Some(policy)) = self.policies.get(rule) else { return true };
        policy.value(object, &mut Budget::DEFAULT.clone()) == Ok(Json::Bool(true))
    }

    /// Servers leave the kind out of the items of a list. What reads it must
    /// find it all the same, or a row would depend on how its object came.
    fn complete(&self, object: &mut Json<'_>) {
        let Json::Map(fields) = object else { return };
        for (name, value) in &self.says_of_itself {
            if let Err(at) = fields.binary_search_by(|(field, _)| (**field).cmp(*name)) {
                fields.insert(at, ((*name).into(), Json::Text(value.clone().into())));
            }
        }
    }

    /// The values in the order of the profile, the copy of the object last,
    /// with nothing secret in them, and where something was hidden.
    fn values<'o>(&self, object: &Json<'o>) -> Result<Values<'o>, Failure> {
        let release = self.reads_release.then(|| helm::decode(object));
        let mut values = attributes::read_all(&self.readers, object, &release)?;
        let mut found = Findings::default();
        for (reader, value) in self.readers.iter().zip(&mut values) {
            if let Some(value) = value {
                redact::redact_attribute(&reader.name, value, &self.keys, &mut found);
            }
        }
        if let Some(trim) = &self.trim {
            let mut copy = trim.copy(object, |copy| {
                if self.kind.is_core_secret() {
                    hide_data(copy);
                }
            })?;
            redact::redact(&mut copy, &self.keys, &mut found);
            values.push(Some(copy));
        }
        Ok((values, found))
    }

    /// Writes the values as one object, in the order of their names.
    fn write(&self, values: &[Option<Json<'_>>], out: &mut Vec<u8>) {
        out.push(b'{');
        let mut is_first = true;
        for at in &self.order {
            let Some(Some(value)) = values.get(*at) else { continue };
            if !std::mem::take(&mut is_first) {
                out.push(b',');
            }
            json::write_text(self.name(*at), out);
            out.push(b':');
            write::write(value, out);
        }
        out.push(b'}');
    }

    fn name(&self, at: usize) -> &str {
        let of_copy = || self.trim.as_ref().map(|trim| &trim.key);
        self.readers.get(at).map(|reader| &reader.name).or_else(of_copy).map_or("", String::as_str)
    }

    fn identity<'h>(&'h self, header: &Header<'h>) -> Identity<'h> {
        Identity {
            target_namespace: self.target.namespace.as_deref().unwrap_or(header.namespace).into(),
            target_name: self.target.name.as_str().into(),
            namespace: header.namespace.into(),
            name: header.name.into(),
            uid: header.uid.into(),
            group: self.kind.group.as_str().into(),
            version: self.kind.version.as_str().into(),
            kind: self.kind.kind.as_str().into(),
        }
    }
}

/// Compiles what the rules ask of objects.
fn policies(selection: &Selection, errors: &mut Vec<PlanError>) -> Vec<Option<Program>> {
    let mut compile = |(at, rule): (usize, &ResourceRule)| {
        let source = rule.match_policy.as_deref()?;
        let place = format!("spec.resourceRules[{at}].matchPolicy");
        match cel::compile_giving(source, Gives::Bool) {
            Ok(program) => Some(program),
            Err(error) => {
                errors.push(PlanError { place, reason: error.point_at(source) });
                None
            }
        }
    };
    selection.rules.iter().enumerate().map(&mut compile).collect()
}

/// Everything that the readers and the selection look at; a copy of the object
/// needs all of it, except what is dropped from every copy.
fn projection(readers: &[Reader], policies: &[Option<Program>], trim: Option<&Trim>) -> Projection {
    let mut projection = Projection::default();
    for path in Header::PATHS {
        projection.add_fields(path);
    }
    for reader in readers {
        reader.add_to(&mut projection);
    }
    for policy in policies.iter().flatten() {
        projection.add(policy);
    }
    match trim {
        Some(trim) => {
            let unread = |way: &&[&str]| !projection.reaches(way);
            Projection::everything_but(trim.dropped().filter(unread))
        }
        None => projection,
    }
}

/// What a profile of Secrets may not do without its annotations. Admission
/// says the same; here it holds even if nobody asked admission.
fn closed(
    profile: &Profile,
    readers: &[Reader],
    policies: &[Option<Program>],
    whole: bool,
) -> Vec<PlanError> {
    let allows = |key: &str| {
        let annotations = profile.metadata.annotations.as_ref();
        annotations.and_then(|all| all.get(key)).is_some_and(|value| value == "true")
    };
    let mut errors = Vec::new();
    if !profile.spec.target_gvk.is_core_secret() {
        return errors;
    }
    let permission =
        format!("the annotation {}: \"true\" would permit it", annotation::ALLOW_SECRET_EXTRACTION);
    let is_open = allows(annotation::ALLOW_SECRET_EXTRACTION);
    // Which rows there are would tell what the data is.
    for (at, policy) in policies.iter().enumerate().filter(|_| !is_open) {
        let Some(policy) = policy else { continue };
        let mut projection = Projection::default();
        projection.add(policy);
        if guard::reach(&projection) != Reach::Harmless {
            errors.push(PlanError {
                place: format!("spec.resourceRules[{at}].matchPolicy"),
                reason: format!("asks for the data of Secrets; {permission}"),
            });
        }
    }
    for reader in readers.iter().filter(|_| !is_open) {
        let reads_config = reader.reads_config();
        let mut projection = Projection::default();
        reader.add_to(&mut projection);
        let reads_data = !reader.reads_release() && guard::reach(&projection) != Reach::Harmless;
        if reads_config || reads_data {
            errors.push(PlanError {
                place: format!("attribute {}", reader.name),
                reason: format!("reads the data of Secrets; {permission}"),
            });
        }
    }
    if whole && !allows(annotation::ALLOW_FULL_RESOURCE_EXPORT) {
        errors.push(PlanError {
            place: "spec.export.mode".to_owned(),
            reason: format!(
                "exports whole Secrets; the annotation {}: \"true\" would permit it",
                annotation::ALLOW_FULL_RESOURCE_EXPORT
            ),
        });
    }
    errors
}

/// The data of a Secret never leaves in a copy, whatever was permitted.
fn hide_data(copy: &mut Json<'_>) {
    let Json::Map(fields) = copy else { return };
    for (_, value) in
        fields.iter_mut().filter(|(name, _)| ["data", "stringData"].contains(&name.as_ref()))
    {
        *value = Json::Map(vec![
            ("reason".into(), Json::Text("secret-data".into())),
            ("redacted".into(), Json::Bool(true)),
        ]);
    }
}
