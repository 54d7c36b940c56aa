//! Streams.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

fn sink(spec: Value) -> Value {
    object(Kind::EventSink, "bus", spec)
}

fn nats(subject: &str) -> Value {
    json!({ "url": "nats://nats.example.org", "subject": subject })
}

fn kafka(brokers: Value, topic: &str) -> Value {
    let block = json!({ "brokers": brokers, "topic": topic });
    sink(json!({ "type": "kafka", "kafka": block }))
}

pub(crate) fn cases() -> Vec<Case> {
    let brokers = || json!(["kafka.example.org:9092"]);
    vec![
        accepted(Rule::Esk01, sink(json!({ "type": "nats", "nats": nats("kollect") }))),
        refused(
            Rule::Esk01,
            sink(json!({ "type": "nats" })),
            "spec.nats: Required value: type nats needs this block",
        ),
        refused(
            Rule::Esk01,
            sink(json!({ "type": "kafka", "nats": nats("kollect") })),
            "spec.nats: Forbidden: this block is not for type kafka",
        ),
        accepted(Rule::Esk03, kafka(brokers(), "rows")),
        accepted(Rule::Esk03, kafka(json!(["", "kafka.example.org:9092"]), "rows")),
        refused(
            Rule::Esk03,
            kafka(json!([]), "rows"),
            "spec.kafka.brokers: Required value: at least one broker, such as kafka.example.org:9092",
        ),
        refused(
            Rule::Esk03,
            kafka(json!(["", " "]), "rows"),
            "spec.kafka.brokers: Required value: at least one broker, such as kafka.example.org:9092",
        ),
        refused(
            Rule::Esk03,
            kafka(brokers(), " "),
            "spec.kafka.topic: Required value: must not be blank",
        ),
        refused(
            Rule::Esk03,
            sink(json!({ "type": "nats", "nats": nats("") })),
            "spec.nats.subject: Required value: must not be blank",
        ),
        refused(
            Rule::Esk03,
            sink(json!({ "type": "nats", "nats": {} })),
            "spec.nats.subject: Required value: Subject to publish to",
        ),
        refused(
            Rule::Snk10,
            sink(json!({ "type": "nats", "nats": nats("kollect"), "layout": {} })),
            "spec.layout: Forbidden: only the types git, gitlab and file write files; this is nats",
        ),
        refused(
            Rule::Snk07,
            sink(json!({
                "type": "nats",
                "nats": nats("kollect"),
                "serialization": { "format": "yaml" },
            })),
            r#"spec.serialization.format: Unsupported value: "yaml": type nats supports json"#,
        ),
    ]
}
