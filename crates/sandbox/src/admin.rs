//! Faults, denials and disasters from outside: what stands below `/sandbox`.

use std::{sync::PoisonError, time::Duration};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    access::{Denial, DenialScope},
    body::Cut,
    faults::{Fault, FaultId, On},
    request::Verb,
    sandbox::Memory,
    status::Status,
    synthetic::Changes,
    world::World,
};

/// A fault and what it is for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wanted {
    #[serde(default)]
    on: Where,
    fault: What,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Where {
    verb: Option<Verb>,
    group: Option<String>,
    resource: Option<String>,
    namespace: Option<String>,
    continued: bool,
    nth: Option<usize>,
    first: Option<usize>,
    per_cent: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum What {
    Latency { millis: u64 },
    Status { code: u16 },
    TooManyRequests { retry_after: u64 },
    Refuse {},
    CutAfterBytes { bytes: usize },
    CutAfterEvents { events: usize },
    SilenceAfterEvents { events: usize },
    ErrorAfterEvents { events: usize, code: u16 },
    ExpireWatch {},
    ExpireContinue {},
    RefuseWatchList {},
    WithholdBookmarks {},
    Gzip {},
    Drip { bytes: usize, pause_millis: u64 },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Denied {
    #[serde(default = "every")]
    verb: String,
    #[serde(default)]
    group: String,
    #[serde(default = "every")]
    resource: String,
    namespace: Option<String>,
}

/// Synthetic objects of a resource.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Load {
    #[serde(default)]
    group: String,
    resource: String,
    count: usize,
    #[serde(default = "usual_size")]
    bytes_each: usize,
}

/// What real objects of a kind that runs something have on average.
fn usual_size() -> usize {
    4_000
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rate {
    #[serde(default)]
    group: String,
    resource: String,
    per_second: f64,
    #[serde(default)]
    per_cent_new: u64,
    #[serde(default)]
    per_cent_gone: u64,
}

fn every() -> String {
    "*".to_owned()
}

impl From<Where> for On {
    fn from(wanted: Where) -> Self {
        let Where { verb, group, resource, namespace, continued, nth, first, per_cent } = wanted;
        let mut on = Self::any();
        on = verb.into_iter().fold(on, Self::verb);
        on = group.iter().fold(on, |on, group| on.group(group));
        on = resource.iter().fold(on, |on, resource| on.resource(resource));
        on = namespace.iter().fold(on, |on, namespace| on.namespace(namespace));
        on = if continued { on.continued() } else { on };
        on = nth.into_iter().fold(on, Self::nth);
        on = first.into_iter().fold(on, Self::first);
        per_cent.into_iter().fold(on, Self::per_cent)
    }
}

impl From<What> for Fault {
    fn from(what: What) -> Self {
        let how = Cut::Close;
        match what {
            What::Latency { millis } => Self::Latency(Duration::from_millis(millis)),
            What::Status { code } => Self::Status(code),
            What::TooManyRequests { retry_after } => Self::TooManyRequests { retry_after },
            What::Refuse {} => Self::Refuse,
            What::CutAfterBytes { bytes } => Self::CutAfterBytes { bytes, how },
            What::CutAfterEvents { events } => Self::CutAfterEvents { events, how },
            What::SilenceAfterEvents { events } => Self::SilenceAfterEvents(events),
            What::ErrorAfterEvents { events, code } => Self::ErrorAfterEvents { events, code },
            What::ExpireWatch {} => Self::ExpireWatch,
            What::ExpireContinue {} => Self::ExpireContinue,
            What::RefuseWatchList {} => Self::RefuseWatchList,
            What::WithholdBookmarks {} => Self::WithholdBookmarks,
            What::Gzip {} => Self::Gzip,
            What::Drip { bytes, pause_millis } => {
                Self::Drip { bytes, pause: Duration::from_millis(pause_millis) }
            }
        }
    }
}

impl From<Denied> for Denial {
    fn from(denied: Denied) -> Self {
        let Denied { verb, group, resource, namespace } = denied;
        let scope = namespace.map_or(DenialScope::Everywhere, DenialScope::Namespace);
        Self { verb, group, resource, scope }
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Status> {
    serde_json::from_slice(body).map_err(|error| Status::bad_request(error.to_string()))
}

fn done(is_found: bool) -> Result<Value, Status> {
    if is_found { Ok(json!({})) } else { Err(Status::of_code(404)) }
}

/// Does what was asked from outside.
pub(crate) fn answer(
    world: &World,
    method: &str,
    path: &[String],
    body: &[u8],
) -> Result<Value, Status> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match (method, path.as_slice()) {
        ("POST", ["faults"]) => {
            let Wanted { on, fault } = read(body)?;
            let FaultId(id) = world.faults.inject(on.into(), fault.into());
            return Ok(json!({"id": id}));
        }
        ("DELETE", ["faults"]) => world.faults.lift_all(),
        ("DELETE", ["faults", id]) => {
            return done(id.parse().is_ok_and(|id| world.faults.lift(FaultId(id))));
        }
        ("POST", ["denials"]) => world.access.deny(read::<Denied>(body)?.into()),
        ("DELETE", ["denials"]) => return done(world.access.lift(&read::<Denied>(body)?.into())),
        ("POST", ["load"]) => {
            let Load { group, resource, count, bytes_each } = read(body)?;
            let made = world.store.synthesize((&group, &resource), count, bytes_each);
            made.map_err(|error| Status::bad_request(error.to_string()))?;
        }
        ("POST", ["changes"]) => {
            let Rate { group, resource, per_second, per_cent_new, per_cent_gone } = read(body)?;
            if per_cent_new + per_cent_gone > 100 {
                return Err(Status::bad_request("more than a hundred of a hundred"));
            }
            let changes = Changes { per_second, per_cent_new, per_cent_gone };
            return done(world.set_changes(&group, &resource, changes));
        }
        ("POST", ["compact"]) => world.store.compact(),
        ("POST", ["restart"]) => world.restart(Memory::Kept),
        ("POST", ["reset"]) => world.restart(Memory::Lost),
        ("POST", ["backup"]) => {
            let backup = world.store.backup();
            *world.saved.lock().unwrap_or_else(PoisonError::into_inner) = Some(backup);
        }
        ("POST", ["restore"]) => {
            let saved = world.saved.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let saved = saved.ok_or_else(|| Status::bad_request("nothing has been put aside"))?;
            world.restore(&saved);
        }
        _ => return done(false),
    }
    Ok(json!({}))
}
