//! What a Lease says, and what follows from it.

use std::time::Duration;

use http::{Request, header::CONTENT_TYPE};
use jiff::Timestamp;
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::time::Instant;

/// What a Lease says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Nobody's if it is empty.
    pub(super) holder: String,
    pub(super) acquired: Option<Timestamp>,
    pub(super) renewed: Option<Timestamp>,
    pub(super) lease: Duration,
    pub(super) transitions: i64,
    pub(super) version: Option<String>,
}

/// A record as it was when it last changed, and when that was by our clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) holder: String,
    pub(super) renewed: Option<Timestamp>,
    pub(super) at: Instant,
}

/// What to do about a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is ours, and we say so again.
    Renew,
    /// It is nobody's.
    Take { transitions: i64 },
    /// It is somebody else's.
    Wait,
}

/// What to do about a record; remembers what was seen of it.
pub(super) fn decide(
    record: Option<&Record>,
    seen: &mut Option<Seen>,
    own: &str,
    now: Instant,
) -> Step {
    let Some(record) = record else { return Step::Take { transitions: 0 } };
    if record.holder == own {
        return Step::Renew;
    }
    if record.holder.is_empty() {
        return Step::Take { transitions: record.transitions + 1 };
    }
    let is_new = seen
        .as_ref()
        .is_none_or(|seen| (&seen.holder, seen.renewed) != (&record.holder, record.renewed));
    if is_new {
        *seen = Some(Seen { holder: record.holder.clone(), renewed: record.renewed, at: now });
    }
    let since = seen.as_ref().map_or(now, |seen| seen.at);
    if now.duration_since(since) >= record.lease {
        return Step::Take { transitions: record.transitions + 1 };
    }
    Step::Wait
}

/// Reads a Lease; nothing if there is none.
pub(super) async fn read(
    client: &Client,
    namespace: &str,
    name: &str,
) -> Result<Option<Record>, String> {
    let request = Request::get(path(namespace, name)).body(Body::empty());
    let request = request.map_err(|error| error.to_string())?;
    let response = client.send(request).await.map_err(|error| error.to_string())?;
    let status = response.status();
    let bytes = response.into_body().collect_bytes().await.map_err(|error| error.to_string())?;
    match status.as_u16() {
        404 => Ok(None),
        200 => {
            let value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
            Ok(Some(parse(&value)))
        }
        code => Err(format!("the server answered {code}")),
    }
}

/// Writes a Lease as it was read; false if somebody else was quicker.
pub(super) async fn write(
    client: &Client,
    namespace: &str,
    name: &str,
    record: &Record,
) -> Result<bool, String> {
    let body = render(namespace, name, record).to_string().into_bytes();
    let request = if record.version.is_some() {
        Request::put(path(namespace, name))
    } else {
        Request::post(path(namespace, ""))
    };
    let request = request.header(CONTENT_TYPE, "application/json").body(Body::from(body));
    let request = request.map_err(|error| error.to_string())?;
    let response = client.send(request).await.map_err(|error| error.to_string())?;
    match response.status().as_u16() {
        200 | 201 => Ok(true),
        409 => Ok(false),
        code => Err(format!("the server answered {code}")),
    }
}

fn path(namespace: &str, name: &str) -> String {
    let all = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
    if name.is_empty() { all } else { format!("{all}/{name}") }
}

fn parse(value: &Value) -> Record {
    let spec = value.get("spec").cloned().unwrap_or_default();
    let time = |name: &str| spec.get(name)?.as_str()?.parse().ok();
    let number = |name: &str| spec.get(name).and_then(Value::as_i64).unwrap_or_default();
    let version = value.pointer("/metadata/resourceVersion").and_then(Value::as_str);
    Record {
        holder: spec.get("holderIdentity").and_then(Value::as_str).unwrap_or_default().to_owned(),
        acquired: time("acquireTime"),
        renewed: time("renewTime"),
        lease: Duration::from_secs(
            u64::try_from(number("leaseDurationSeconds")).unwrap_or_default(),
        ),
        transitions: number("leaseTransitions"),
        version: version.map(str::to_owned),
    }
}

fn render(namespace: &str, name: &str, record: &Record) -> Value {
    let time = |time: Option<Timestamp>| {
        time.map(|time| time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string())
    };
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "namespace": namespace, "resourceVersion": record.version},
        "spec": {
            "holderIdentity": record.holder,
            "acquireTime": time(record.acquired),
            "renewTime": time(record.renewed),
            "leaseDurationSeconds": record.lease.as_secs(),
            "leaseTransitions": record.transitions,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(holder: &str, renewed: i64) -> Record {
        Record {
            holder: holder.to_owned(),
            acquired: None,
            renewed: Timestamp::from_second(renewed).ok(),
            lease: Duration::from_mins(1),
            transitions: 3,
            version: Some("7".to_owned()),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_holder_is_gone_when_it_has_said_nothing_for_as_long_as_it_asked_for() {
        let (mut seen, start) = (None, Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        // Its own clock may be hours off; only ours counts.
        let mut decide = |renewed, at| decide(Some(&record("other", renewed)), &mut seen, "us", at);
        assert_eq!(decide(5, start), Step::Wait);
        assert_eq!(decide(5, after(59)), Step::Wait);
        assert_eq!(decide(6, after(59)), Step::Wait);
        assert_eq!(decide(6, after(118)), Step::Wait);
        assert_eq!(decide(6, after(119)), Step::Take { transitions: 4 });
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_ours_is_renewed_and_what_is_nobodys_is_taken() {
        let (mut seen, now) = (None, Instant::now());
        assert_eq!(decide(None, &mut seen, "us", now), Step::Take { transitions: 0 });
        assert_eq!(decide(Some(&record("us", 1)), &mut seen, "us", now), Step::Renew);
        let nobodys = decide(Some(&record("", 1)), &mut seen, "us", now);
        assert_eq!(nobodys, Step::Take { transitions: 4 });
    }

    #[test]
    fn a_record_survives_being_written_and_read() {
        let record = Record { acquired: Timestamp::from_second(4).ok(), ..record("us", 5) };
        assert_eq!(parse(&render("kollect-system", "lease", &record)), record);
    }
}
