//! Requests that change something.

mod body;
mod built_in;
mod delete;
mod prepare;
mod scale;

use bytes::Bytes;
use serde_json::Value;

use self::{
    body::{Patch, read_object, read_patch},
    prepare::Preparation,
};
use crate::{
    definition::Served,
    filter::Filter,
    object::Form,
    patch::{json, merge, strategic},
    request::{Request, Target, Verb},
    schema::Schema,
    status::Status,
    storage::{Mode, Next, Store, Written},
};

/// What a change is answered with.
pub(crate) struct Done {
    pub(crate) code: u16,
    pub(crate) document: Bytes,
    /// What the client should know though it was done.
    pub(crate) warnings: Vec<String>,
}

/// A request to change an object of a kind.
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a Request,
    pub(crate) target: &'a Target,
    pub(crate) served: &'a Served,
    pub(crate) body: &'a [u8],
}

/// Does what was asked.
pub(crate) fn answer(store: &Store, asked: &Asked<'_>) -> Result<Done, Status> {
    let Asked { request, target, served, .. } = asked;
    let verb = match request.verb {
        Verb::Create => "create",
        Verb::Update => "update",
        Verb::Patch => "patch",
        Verb::Delete => "delete",
        Verb::DeleteCollection => "deletecollection",
        Verb::Get | Verb::List | Verb::Watch | Verb::Discovery | Verb::Other => "",
    };
    let is_known = match target.subresource.as_str() {
        "" => served.about.verbs.iter().any(|known| known == verb),
        "status" => served.about.has_status && matches!(verb, "update" | "patch"),
        "scale" => served.about.scale.is_some() && matches!(verb, "update" | "patch"),
        "finalize" => served.is_of("", "namespaces") && verb == "update",
        _ => return Err(Status::of_code(404)),
    };
    if !is_known {
        return Err(Status::method_not_allowed());
    }
    if target.subresource == "scale" {
        return scale::write(store, asked);
    }
    match request.verb {
        Verb::Create => create(store, asked),
        Verb::Update => update(store, asked),
        Verb::Patch => patch(store, asked),
        Verb::Delete => delete::one(store, asked),
        _ => {
            let filter = Filter::of(request, target)?;
            delete::many(store, asked, &filter)
        }
    }
}

/// Whether the request is only tried.
fn mode(request: &Request) -> Result<Mode, Status> {
    match request.parameter("dryRun") {
        "" => Ok(Mode::Real),
        "All" => Ok(Mode::DryRun),
        other => Err(Status::bad_request(format!("invalid dryRun: {other}"))),
    }
}

fn create(store: &Store, asked: &Asked<'_>) -> Result<Done, Status> {
    let object = read_object(asked)?;
    let mode = mode(asked.request)?;
    let mut preparation = Preparation::new(asked)?;
    let object = preparation.name(store, object)?;
    if store.is_ending(&asked.served.definition) {
        let why = "create not allowed while custom resource definition is terminating";
        let name = Some(text(&object, "/metadata/name").to_owned());
        return Err(Status::forbidden(&Target { name, ..asked.target.clone() }, why));
    }
    let key = preparation.key(&object);
    let written = store.write(asked.served, &key, mode, |known, stamp| {
        if known.is_some() {
            return Err(Status::already_exists(&asked.served.definition, &key.1));
        }
        preparation.prepare(None, object, stamp).map(Next::Put)
    })?;
    Ok(done(201, asked, &written, preparation))
}

fn update(store: &Store, asked: &Asked<'_>) -> Result<Done, Status> {
    let object = read_object(asked)?;
    let mode = mode(asked.request)?;
    let mut preparation = Preparation::new(asked)?;
    let key = asked.target.key();
    let written = store.write(asked.served, &key, mode, |known, stamp| {
        let known = known.ok_or_else(|| Status::not_found(&asked.served.definition, &key.1))?;
        preparation.agrees(known, &object, true)?;
        preparation.prepare(Some(known), object, stamp).map(Next::Put)
    })?;
    Ok(done(200, asked, &written, preparation))
}

fn patch(store: &Store, asked: &Asked<'_>) -> Result<Done, Status> {
    let patch = read_patch(asked)?;
    let mode = mode(asked.request)?;
    let mut preparation = Preparation::new(asked)?;
    let definition = &asked.served.definition;
    let key = asked.target.key();
    let schema = asked.served.about.schema.as_ref().map(Schema::new);
    let namespace = prepare::namespace(store, asked.target);
    let mut code = 200;
    let written = store.write(asked.served, &key, mode, |known, stamp| {
        if let Patch::Apply(config) = patch {
            if known.is_none() {
                prepare::may_create(asked.target, namespace)?;
                code = 201;
            }
            return preparation.apply(known, config, stamp).map(Next::Put);
        }
        let known = known.ok_or_else(|| Status::not_found(definition, &key.1))?;
        let mut object = preparation.whole(known);
        match &patch {
            Patch::Merge(patch) => merge::merge(&mut object, patch),
            Patch::Strategic(patch) => strategic::merge(&mut object, patch, schema),
            Patch::Json(patch) => {
                // Real servers do not say which operation it was.
                object = json::apply(&object, patch).map_err(|_| {
                    let text = "the server rejected our request due to an error in our request";
                    Status::new(422, "Invalid", text)
                })?;
            }
            Patch::Apply(_) => {}
        }
        preparation.agrees(known, &object, false)?;
        preparation.prepare(Some(known), object, stamp).map(Next::Put)
    })?;
    Ok(done(code, asked, &written, preparation))
}

fn done(code: u16, asked: &Asked<'_>, written: &Written, preparation: Preparation<'_>) -> Done {
    let mut text = String::new();
    written.object.render(Form::Whole, asked.served, &mut text);
    text.push('\n');
    Done { code, document: Bytes::from(text), warnings: preparation.warnings }
}

fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}
