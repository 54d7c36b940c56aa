//! What people are told when the conditions of an object change: on change, and
//! never again while it stays so.

use kollect_validate::Kind;
use serde_json::Value;

/// Something to tell about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) is_warning: bool,
    pub(super) reason: String,
    pub(super) message: String,
}

impl Event {
    pub(super) fn warning(reason: &str, message: &str) -> Self {
        Self { is_warning: true, reason: reason.to_owned(), message: message.to_owned() }
    }

    fn normal(reason: &str, message: &str) -> Self {
        Self { is_warning: false, ..Self::warning(reason, message) }
    }
}

/// A condition, as far as it is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Said<'a> {
    status: &'a str,
    reason: &'a str,
    message: &'a str,
}

/// What there is to tell when the status of an object becomes another.
pub(super) fn of(kind: Kind, before: &Value, after: &Value) -> Vec<Event> {
    let changed = |name: &str| {
        let (old, new) = (condition(before, name), condition(after, name)?);
        let is_same = old.is_some_and(|old| (old.status, old.reason) == (new.status, new.reason));
        (!is_same).then_some((old, new))
    };
    let mut events = Vec::new();
    if let Some((_, new)) = changed("Degraded")
        && new.reason != "Suspended"
    {
        events.push(Event::warning(new.reason, new.message));
    }
    match kind {
        Kind::Target | Kind::ClusterTarget => {
            if let Some((_, new)) = changed("Synced")
                && new.reason == "ScopeForbidden"
            {
                events.push(Event::warning(new.reason, new.message));
            }
            events.extend(changed("SinkReachable").and_then(reachable));
        }
        Kind::Inventory | Kind::ClusterInventory => {
            events.extend(failures(before, after));
            if let Some((_, new)) = changed("Synced")
                && new.reason == "Exported"
            {
                events.push(Event::normal("ExportSucceeded", new.message));
            }
        }
        Kind::SnapshotSink | Kind::DatabaseSink | Kind::EventSink | Kind::ConnectionTest => {
            // What a sink is degraded by is the same, and told already.
            let told = |reason: &str| events.iter().any(|event: &Event| event.reason == reason);
            if let Some((_, new)) = changed("ConnectionVerified")
                && !told(new.reason)
            {
                let is_good = new.status == "True";
                events.push(if is_good {
                    Event::normal(new.reason, new.message)
                } else {
                    Event::warning(new.reason, new.message)
                });
            }
        }
        Kind::Profile | Kind::Scope | Kind::ClusterScope => {}
    }
    events
}

/// Sinks that are there from the beginning are no news.
fn reachable((old, new): (Option<Said<'_>>, Said<'_>)) -> Option<Event> {
    match (old, new.status) {
        (_, "False") => Some(Event::warning(new.reason, new.message)),
        (Some(Said { status: "False", .. }), _) => {
            Some(Event::normal("SinksReachable", new.message))
        }
        _ => None,
    }
}

/// Copies that have begun to fail while others go on, or before all of them do.
fn failures(before: &Value, after: &Value) -> Vec<Event> {
    let exports = |status: &'_ Value| status["sinkExports"].as_array().cloned().unwrap_or_default();
    let old = exports(before);
    let mut events = Vec::new();
    for export in exports(after) {
        let name = export["name"].as_str().unwrap_or_default();
        let known = old.iter().find(|known| known["name"] == export["name"]);
        let was = known.and_then(|known| condition(known, "Synced")).map(|said| said.reason);
        if let Some(said) = condition(&export, "Synced")
            && said.status == "False"
            && said.reason != "Progressing"
            && was != Some(said.reason)
        {
            events.push(Event::warning(said.reason, &format!("{name}: {}", said.message)));
        }
    }
    events
}

fn condition<'v>(of: &'v Value, name: &str) -> Option<Said<'v>> {
    let mut conditions = of.get("conditions")?.as_array()?.iter();
    let found = conditions.find(|one| one["type"] == name)?;
    let text = |field: &str| found[field].as_str().unwrap_or_default();
    Some(Said { status: text("status"), reason: text("reason"), message: text("message") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn status(name: &str, is: &str, reason: &str) -> Value {
        json!({"conditions": [
            {"type": name, "status": is, "reason": reason, "message": "because"},
        ]})
    }

    #[test]
    fn what_becomes_degraded_is_told_once() {
        let degraded = status("Degraded", "True", "ScopeGVKDenied");
        let told = of(Kind::Target, &json!({}), &degraded);
        assert_eq!(told, [Event::warning("ScopeGVKDenied", "because")]);
        assert_eq!(of(Kind::Target, &degraded, &degraded), []);
        let other = status("Degraded", "True", "ProfileNotFound");
        assert_eq!(of(Kind::Target, &degraded, &other).len(), 1);
        assert_eq!(of(Kind::Target, &json!({}), &status("Degraded", "True", "Suspended")), []);
    }

    #[test]
    fn the_first_success_and_a_recovery_are_told_and_nothing_between() {
        let good = status("Synced", "True", "Exported");
        let bad = status("Synced", "False", "Progressing");
        assert_eq!(of(Kind::Inventory, &json!({}), &good)[0].reason, "ExportSucceeded");
        assert_eq!(of(Kind::Inventory, &good, &good), []);
        assert_eq!(of(Kind::Inventory, &bad, &good)[0].reason, "ExportSucceeded");
    }

    #[test]
    fn a_copy_that_fails_is_named() {
        let export = |reason: &str| {
            let mut export = status("Synced", "False", reason);
            export["name"] = json!("database/rows");
            json!({"sinkExports": [export]})
        };
        let told = of(Kind::Inventory, &export("Progressing"), &export("ExportFailed"));
        assert_eq!(told, [Event::warning("ExportFailed", "database/rows: because")]);
        assert_eq!(of(Kind::Inventory, &export("ExportFailed"), &export("ExportFailed")), []);
    }

    #[test]
    fn sinks_that_answer_again_are_told_of_and_those_that_always_did_are_not() {
        let good = status("SinkReachable", "True", "SinksReachable");
        let bad = status("SinkReachable", "False", "SinkNotFound");
        assert_eq!(of(Kind::Target, &json!({}), &good), []);
        assert!(of(Kind::Target, &good, &bad)[0].is_warning);
        assert_eq!(of(Kind::Target, &bad, &good), [Event::normal("SinksReachable", "because")]);
    }
}
