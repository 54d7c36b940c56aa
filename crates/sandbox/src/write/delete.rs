//! Deletes one object, or many.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Asked, Done, text};
use crate::{
    decode,
    definition::ResourceDefinition,
    filter::Filter,
    object::Form,
    status::Status,
    storage::{Mode, Next, Propagation, Range, Store, Written},
};

/// What the body and the query say of how to delete.
struct Options {
    mode: Mode,
    propagation: Propagation,
    uid: String,
    version: String,
}

impl Options {
    fn read(asked: &Asked<'_>) -> Result<Self, Status> {
        let body = decode::options(asked.request, asked.body)?;
        let said = |name: &str| match asked.request.parameter(name) {
            "" => text(&body, &format!("/{name}")).to_owned(),
            parameter => parameter.to_owned(),
        };
        let is_tried = body.pointer("/dryRun/0") == Some(&json!("All"));
        let mode = if is_tried { Mode::DryRun } else { super::mode(asked.request)? };
        let propagation = match said("propagationPolicy").as_str() {
            "Orphan" => Propagation::Orphan,
            _ => Propagation::Follow,
        };
        Ok(Self {
            mode,
            propagation,
            uid: text(&body, "/preconditions/uid").to_owned(),
            version: text(&body, "/preconditions/resourceVersion").to_owned(),
        })
    }

    fn agree(&self, known: &Value, definition: &ResourceDefinition) -> Result<(), Status> {
        let own = |name: &str| text(known, &format!("/metadata/{name}"));
        let name = own("name");
        if !self.uid.is_empty() && self.uid != own("uid") {
            let why = format!(
                "Precondition failed: UID in precondition: {}, UID in object meta: {}",
                self.uid,
                own("uid")
            );
            return Err(Status::conflict(definition, name, &why));
        }
        if !self.version.is_empty() && self.version != own("resourceVersion") {
            let why = format!(
                "Precondition failed: ResourceVersion in precondition: {}, ResourceVersion in \
                 object meta: {}",
                self.version,
                own("resourceVersion")
            );
            return Err(Status::conflict(definition, name, &why));
        }
        Ok(())
    }
}

pub(super) fn one(store: &Store, asked: &Asked<'_>) -> Result<Done, Status> {
    let options = Options::read(asked)?;
    let key = asked.target.key();
    let definition = &asked.served.definition;
    let written = store.write(asked.served, &key, options.mode, |known, _| {
        let known = known.ok_or_else(|| Status::not_found(definition, &key.1))?;
        options.agree(known, definition)?;
        Ok(Next::Delete(options.propagation))
    })?;
    let document = if written.is_gone && !asked.served.is_of("", "pods") {
        success(definition, &written)
    } else {
        let mut text = String::new();
        written.object.render(Form::Whole, asked.served, &mut text);
        text
    };
    Ok(Done { code: 200, document: Bytes::from(document + "\n"), warnings: Vec::new() })
}

fn success(definition: &ResourceDefinition, written: &Written) -> String {
    let fields = Value::Object(written.object.fields());
    let mut details = json!({
        "name": written.object.key.1,
        "kind": definition.plural,
        "uid": text(&fields, "/metadata/uid"),
    });
    if let (Value::Object(details), false) = (&mut details, definition.group.is_empty()) {
        details.insert("group".to_owned(), Value::from(definition.group.clone()));
    }
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": details,
    })
    .to_string()
}

pub(super) fn many(store: &Store, asked: &Asked<'_>, filter: &Filter) -> Result<Done, Status> {
    let options = Options::read(asked)?;
    let range =
        Range { namespace: filter.namespace.as_deref(), version: None, from: None, limit: None };
    let page = store.page(&asked.served.definition, &range, |item| filter.matches(item));
    // The newest version is always remembered.
    let items = page.map(|page| page.items).unwrap_or_default();
    for item in items {
        let deleted = store.write(asked.served, &item.key(), options.mode, |known, _| {
            known.map(|_| Next::Delete(options.propagation)).ok_or_else(|| Status::of_code(404))
        });
        match deleted {
            // Somebody else was faster.
            Ok(_) => {}
            Err(status) if status.code == 404 => {}
            Err(status) => return Err(status),
        }
    }
    let document = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 200,
    });
    Ok(Done { code: 200, document: Bytes::from(format!("{document}\n")), warnings: Vec::new() })
}
