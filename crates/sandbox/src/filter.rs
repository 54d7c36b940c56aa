//! Which objects a client wants to see, and how much of each.

use crate::{
    object::{Form, Object},
    request::{Request, Target},
    selector::{Fields, Labels},
    status::Status,
    storage::Item,
    table::{Included, Rows},
};

/// Which objects are meant.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub(crate) namespace: Option<String>,
    labels: Labels,
    fields: Fields,
}

impl Filter {
    pub(crate) fn of(request: &Request, target: &Target) -> Result<Self, Status> {
        let labels = Labels::parse(request.parameter("labelSelector"));
        let fields =
            Fields::parse(request.parameter("fieldSelector"), &target.group, &target.plural);
        Ok(Self {
            namespace: target.namespace.clone(),
            labels: labels.map_err(Status::bad_request)?,
            fields: fields.map_err(Status::bad_request)?,
        })
    }

    pub(crate) fn selects(&self) -> bool {
        !self.labels.is_empty() || !self.fields.is_empty()
    }

    /// Makes a synthetic object only if a selector must see it.
    pub(crate) fn matches(&self, item: &Item) -> bool {
        match item {
            Item::Stored(object) => self.takes(object),
            Item::Synthetic { .. } if self.selects() => self.takes(&item.object()),
            Item::Synthetic { .. } => {
                self.namespace.as_ref().is_none_or(|namespace| *namespace == item.key().0)
            }
        }
    }

    fn takes(&self, object: &Object) -> bool {
        let (namespace, _) = &object.key;
        self.namespace.as_ref().is_none_or(|own| own == namespace)
            && self.labels.matches(&object.labels)
            && self.fields.matches(object)
    }
}

/// Reads from the `Accept` header whether whole objects are wanted; the first
/// form that we have is taken, as real servers do.
///
/// `now` is the cluster's time, in seconds: tables show how old things are.
pub(crate) fn form(request: &Request, whole: Form, now: i64) -> Result<Form, Status> {
    let accept = request.headers.get("accept").map_or("", String::as_str);
    if accept.is_empty() {
        return Ok(whole);
    }
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        if !matches!(parts.next(), Some("application/json" | "application/*" | "*/*")) {
            continue;
        }
        match parts.find_map(|part| part.strip_prefix("as=")) {
            None => return Ok(whole),
            // One is for objects and events, the other for lists.
            Some("Table") => {
                let included = match request.parameter("includeObject") {
                    "" | "Metadata" => Included::Metadata,
                    "Object" => Included::Object,
                    "None" => Included::Nothing,
                    other => {
                        let text = format!("unrecognized includeObject value: \"{other}\"");
                        return Err(Status::bad_request(text));
                    }
                };
                return Ok(Form::Row(Rows { included, now }));
            }
            Some("PartialObjectMetadata") if whole == Form::Whole => return Ok(Form::Metadata),
            Some("PartialObjectMetadataList") if whole == Form::Item => return Ok(Form::Metadata),
            Some(_) => {}
        }
    }
    let message = "only the following media types are accepted: application/json";
    Err(Status::new(406, "NotAcceptable", message))
}
