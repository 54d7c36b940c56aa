//! From what a client says to what is kept.

use serde_json::{Map, Value};

use super::{Asked, built_in, text};
use crate::{
    crd::{
        complete::complete,
        prune::{Origin, prune},
        validate::violations,
    },
    definition::{ResourceDefinition, Served},
    object::Key,
    patch::{
        apply::{self, Conflicts},
        managers::{self, Operation, Writer},
    },
    request::Target,
    schema::Schema,
    status::{Status, Violation},
    storage::{NamespaceState, Stamp, Store},
    synthetic::Dice,
};

/// What is done with fields that the schema does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unknown {
    Ignore,
    Warn,
    Refuse,
}

/// Makes objects ready to be kept.
pub(super) struct Preparation<'a> {
    served: &'a Served,
    target: &'a Target,
    manager: String,
    force: bool,
    unknown: Unknown,
    pub(super) warnings: Vec<String>,
}

/// How it stands with the namespace of a request, if it has one.
pub(super) fn namespace(store: &Store, target: &Target) -> Option<NamespaceState> {
    target.namespace.as_deref().and_then(|namespace| store.namespace(namespace))
}

/// Refuses new objects where there is no namespace, or one that goes.
pub(super) fn may_create(target: &Target, state: Option<NamespaceState>) -> Result<(), Status> {
    let Some(namespace) = &target.namespace else { return Ok(()) };
    match state {
        Some(NamespaceState::Active) => Ok(()),
        Some(NamespaceState::Terminating) => {
            let action = format!(
                "unable to create new content in namespace {namespace} because it is being \
                 terminated"
            );
            Err(Status::forbidden(target, &action))
        }
        None => Err(Status::namespace_not_found(namespace)),
    }
}

impl<'a> Preparation<'a> {
    pub(super) fn new(asked: &Asked<'a>) -> Result<Self, Status> {
        let Asked { request, target, served, .. } = *asked;
        let unknown = match request.parameter("fieldValidation") {
            "" | "Warn" => Unknown::Warn,
            "Ignore" => Unknown::Ignore,
            "Strict" => Unknown::Refuse,
            other => {
                return Err(Status::bad_request(format!("invalid fieldValidation: {other}")));
            }
        };
        let agent = request.headers.get("user-agent").map_or("unknown", String::as_str);
        let manager = match request.parameter("fieldManager") {
            "" => agent.split('/').next().unwrap_or(agent),
            manager => manager,
        };
        Ok(Self {
            served,
            target,
            manager: manager.to_owned(),
            force: request.is_set("force"),
            unknown,
            warnings: Vec::new(),
        })
    }

    /// Gives a new object its name and its namespace.
    pub(super) fn name(&self, store: &Store, mut object: Value) -> Result<Value, Status> {
        let definition = &self.served.definition;
        if definition.namespaced && self.target.namespace.is_none() {
            let message = "an empty namespace may not be set during creation";
            return Err(Status::bad_request(message));
        }
        may_create(self.target, namespace(store, self.target))?;
        if !text(&object, "/metadata/resourceVersion").is_empty() {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(Status::bad_request(message));
        }
        let given = text(&object, "/metadata/namespace").to_owned();
        let own = self.target.namespace.clone().unwrap_or_default();
        if !given.is_empty() && given != own {
            return Err(Status::bad_request(
                "the namespace of the provided object does not match the namespace sent on the \
                 request",
            ));
        }
        let prefix = text(&object, "/metadata/generateName").to_owned();
        let name = match text(&object, "/metadata/name") {
            "" if !prefix.is_empty() => format!("{prefix}{}", suffix(store.version())),
            name => name.to_owned(),
        };
        if let Some(message) = wrong_name(definition, &name) {
            return Err(Status::invalid(definition, &name, &[message]));
        }
        let fields = object.as_object_mut().map(|fields| fields.entry("metadata"));
        let metadata = fields.map(|entry| entry.or_insert(Value::Object(Map::new())));
        if let Some(Value::Object(metadata)) = metadata {
            metadata.insert("name".to_owned(), Value::from(name));
            if definition.namespaced {
                metadata.insert("namespace".to_owned(), Value::from(own));
            }
        }
        Ok(object)
    }

    pub(super) fn key(&self, object: &Value) -> Key {
        let namespace = self.target.namespace.clone().unwrap_or_default();
        (namespace, text(object, "/metadata/name").to_owned())
    }

    /// A kept object with the kind that it is asked for as.
    pub(super) fn whole(&self, known: &Value) -> Value {
        let mut object = known.clone();
        if let Value::Object(fields) = &mut object {
            let definition = &self.served.definition;
            fields.insert("apiVersion".to_owned(), Value::from(definition.api_version()));
            fields.insert("kind".to_owned(), Value::from(definition.kind.clone()));
        }
        object
    }

    /// Refuses a new state that is not one of the object that there is.
    pub(super) fn agrees(
        &self,
        known: &Value,
        object: &Value,
        is_whole: bool,
    ) -> Result<(), Status> {
        let definition = &self.served.definition;
        let name = text(known, "/metadata/name");
        let given = text(object, "/metadata/name");
        if given != name {
            let message = format!(
                "the name of the object ({given}) does not match the name on the URL ({name})"
            );
            return Err(Status::bad_request(message));
        }
        let version = text(object, "/metadata/resourceVersion");
        if is_whole && version.is_empty() && !self.served.built_in {
            return Err(Status::invalid(
                definition,
                name,
                &[Violation {
                    reason: "FieldValueInvalid",
                    field: "metadata.resourceVersion".to_owned(),
                    message: "Invalid value: 0: must be specified for an update".to_owned(),
                }],
            ));
        }
        if !version.is_empty() && version != text(known, "/metadata/resourceVersion") {
            return Err(Status::modified(definition, name));
        }
        let (uid, own) = (text(object, "/metadata/uid"), text(known, "/metadata/uid"));
        if !uid.is_empty() && uid != own {
            let why = format!(
                "Precondition failed: UID in precondition: {uid}, UID in object meta: {own}"
            );
            return Err(Status::conflict(definition, name, &why));
        }
        Ok(())
    }

    /// Makes a new state out of what a client says and what there is.
    pub(super) fn prepare(
        &mut self,
        known: Option<&Value>,
        mut object: Value,
        stamp: &Stamp,
    ) -> Result<Value, Status> {
        self.prune(&mut object)?;
        self.separate(known, &mut object);
        self.complete(known, &mut object, stamp)?;
        let writer = self.writer(Operation::Update, stamp);
        let schema = self.served.about.schema.as_ref().map(Schema::new);
        let nothing = Value::Object(Map::new());
        // A status that the server makes up is nobody's.
        let is_own = known.is_none() && self.served.about.has_status;
        let made_up = is_own.then(|| object.as_object_mut()?.remove("status")).flatten();
        managers::note(known.unwrap_or(&nothing), &mut object, &writer, schema);
        if let (Some(status), Value::Object(fields)) = (made_up, &mut object) {
            fields.insert("status".to_owned(), status);
        }
        Ok(object)
    }

    /// Makes a new state out of what a manager applies and what there is.
    pub(super) fn apply(
        &mut self,
        known: Option<&Value>,
        mut config: Value,
        stamp: &Stamp,
    ) -> Result<Value, Status> {
        let definition = &self.served.definition;
        let name = self.target.name.clone().unwrap_or_default();
        if known.is_none() && !self.target.subresource.is_empty() {
            return Err(Status::not_found(definition, &name));
        }
        if let Some(known) = known {
            let version = text(&config, "/metadata/resourceVersion");
            if !version.is_empty() && version != text(known, "/metadata/resourceVersion") {
                return Err(Status::modified(definition, &name));
            }
        }
        self.prune(&mut config)?;
        if let Value::Object(fields) = &mut config {
            match self.target.subresource.as_str() {
                "status" => fields.retain(|name, _| matches!(name.as_str(), "metadata" | "status")),
                _ if self.served.about.has_status => drop(fields.remove("status")),
                _ => {}
            }
        }
        if let Some(Value::Object(metadata)) = config.get_mut("metadata") {
            metadata.insert("name".to_owned(), Value::from(name));
            if let Some(namespace) = &self.target.namespace {
                metadata.insert("namespace".to_owned(), Value::from(namespace.clone()));
            }
            metadata.remove("resourceVersion");
        }
        let writer = self.writer(Operation::Apply, stamp);
        let schema = self.served.about.schema.as_ref().map(Schema::new);
        let nothing = Value::Object(Map::new());
        let live = known.unwrap_or(&nothing);
        let mut object = apply::apply(live, &config, &writer, schema, self.force)
            .map_err(|Conflicts(conflicts)| Status::owned_by_others(&conflicts))?;
        self.complete(known, &mut object, stamp)?;
        Ok(object)
    }

    fn writer(&self, operation: Operation, stamp: &Stamp) -> Writer {
        Writer {
            name: self.manager.clone(),
            operation,
            subresource: self.target.subresource.clone(),
            api_version: self.served.definition.api_version(),
            time: stamp.time.clone(),
        }
    }

    /// Drops what the schema does not know, or refuses it.
    fn prune(&mut self, object: &mut Value) -> Result<(), Status> {
        if let Some(schema) = &self.served.about.schema {
            let kind = &self.served.definition.kind;
            let wrong = built_in::wrong_type(kind, object, Schema::new(schema));
            if let Some(wrong) = wrong.filter(|_| self.served.built_in) {
                return Err(self.unfit(&wrong));
            }
            let origin = if self.served.built_in { Origin::BuiltIn } else { Origin::Custom };
            let unknown = prune(object, Schema::new(schema), origin);
            let texts = unknown.iter().map(|path| format!("unknown field \"{path}\""));
            match self.unknown {
                Unknown::Ignore => {}
                Unknown::Warn => self.warnings.extend(texts),
                Unknown::Refuse if unknown.is_empty() => {}
                Unknown::Refuse => {
                    let texts: Vec<String> = texts.collect();
                    let why = format!("strict decoding error: {}", texts.join(", "));
                    return Err(self.unfit(&why));
                }
            }
        }
        if let Value::Object(fields) = object {
            fields.remove("apiVersion");
            fields.remove("kind");
        }
        Ok(())
    }

    fn unfit(&self, why: &str) -> Status {
        let ResourceDefinition { kind, version, .. } = &self.served.definition;
        Status::bad_request(format!(
            "{kind} in version \"{version}\" cannot be handled as a {kind}: {why}"
        ))
    }

    /// Keeps apart who may write the status and who the rest.
    fn separate(&self, known: Option<&Value>, object: &mut Value) {
        let Value::Object(fields) = object else { return };
        let known = known.and_then(Value::as_object);
        match self.target.subresource.as_str() {
            "status" => {
                let status = fields.remove("status");
                *fields = known.cloned().unwrap_or_default();
                match status {
                    Some(status) => fields.insert("status".to_owned(), status),
                    None => fields.remove("status"),
                };
            }
            _ if self.served.about.has_status => {
                match known.and_then(|known| known.get("status")) {
                    Some(status) => fields.insert("status".to_owned(), status.clone()),
                    None => fields.remove("status"),
                };
            }
            _ => {}
        }
    }

    /// Fills in defaults, and refuses what the schema forbids.
    fn complete(
        &self,
        known: Option<&Value>,
        object: &mut Value,
        stamp: &Stamp,
    ) -> Result<(), Status> {
        if self.served.built_in {
            built_in::complete(&self.served.definition.kind, known, object, stamp.version);
            return built_in::check(self.served, known, object);
        }
        let Some(schema) = &self.served.about.schema else { return Ok(()) };
        complete(object, Schema::new(schema));
        let violations = violations(object, Schema::new(schema));
        if violations.is_empty() {
            return Ok(());
        }
        let name = text(object, "/metadata/name");
        Err(Status::invalid(&self.served.definition, name, &violations))
    }
}

/// Five characters as those of real servers, which spell no words.
fn suffix(version: u64) -> String {
    const CHARACTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut dice = Dice::new(version);
    let draw = || {
        let drawn = usize::try_from(dice.below(CHARACTERS.len() as u64)).unwrap_or_default();
        CHARACTERS.get(drawn).copied().map_or('x', char::from)
    };
    std::iter::repeat_with(draw).take(5).collect()
}

fn wrong_name(definition: &ResourceDefinition, name: &str) -> Option<Violation> {
    let field = "metadata.name".to_owned();
    if name.is_empty() {
        let message = "Required value: name or generateName is required".to_owned();
        return Some(Violation { reason: "FieldValueRequired", field, message });
    }
    // Names of roles may hold anything that a path may.
    if definition.group == "rbac.authorization.k8s.io" {
        return None;
    }
    let is_part = |part: &str| {
        let is_inner = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit();
        !part.is_empty()
            && part.chars().all(|char| is_inner(char) || char == '-')
            && part.starts_with(is_inner)
            && part.ends_with(is_inner)
    };
    if name.split('.').all(is_part) && name.len() <= 253 {
        return None;
    }
    let message = format!(
        "Invalid value: \"{name}\": a lowercase RFC 1123 subdomain must consist of lower case \
         alphanumeric characters, '-' or '.', and must start and end with an alphanumeric \
         character (e.g. 'example.com', regex used for validation is \
         '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    );
    Some(Violation { reason: "FieldValueInvalid", field, message })
}
