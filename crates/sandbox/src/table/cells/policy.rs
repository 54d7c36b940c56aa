//! The columns of what limits others: autoscalers, budgets, quotas.

use serde_json::{Value, json};

use super::{count, list, plain};

pub(super) fn autoscaler(object: &Value, column: &str) -> Value {
    match column {
        "Reference" => {
            let target = object.pointer("/spec/scaleTargetRef").unwrap_or(&Value::Null);
            json!(format!("{}/{}", plain(target, "/kind"), plain(target, "/name")))
        }
        "Targets" => {
            let targets: Vec<String> =
                list(object, "/spec/metrics").map(|metric| target(object, metric)).collect();
            json!(if targets.is_empty() { "<none>".to_owned() } else { targets.join(", ") })
        }
        "MinPods" => match object.pointer("/spec/minReplicas").and_then(Value::as_i64) {
            Some(least) => json!(least.to_string()),
            None => json!("<unset>"),
        },
        "MaxPods" => json!(count(object, "/spec/maxReplicas")),
        "Replicas" => json!(count(object, "/status/currentReplicas")),
        _ => Value::Null,
    }
}

/// What one metric is, and what it should be.
fn target(object: &Value, metric: &Value) -> String {
    let name = plain(metric, "/resource/name");
    let mut all = list(object, "/status/currentMetrics");
    let now = all.find(|current| plain(current, "/resource/name") == name && !name.is_empty());
    let now = now.and_then(|current| current.pointer("/resource/current"));
    let share = |value: Option<&Value>| Some(format!("{}%", value?.get("averageUtilization")?));
    let amount = |value: Option<&Value>| Some(plain(value?, "/averageValue").to_owned());
    let wanted = metric.pointer("/resource/target");
    let spelled = |said: &dyn Fn(Option<&Value>) -> Option<String>| {
        let now = said(now).filter(|text| !text.is_empty());
        let now = now.unwrap_or_else(|| "<unknown>".to_owned());
        Some(format!("{name}: {now}/{}", said(wanted).filter(|text| !text.is_empty())?))
    };
    spelled(&share).or_else(|| spelled(&amount)).unwrap_or_else(|| "<unknown>".to_owned())
}

pub(super) fn budget(object: &Value, column: &str) -> Value {
    let said = |path: &str| match object.pointer(path) {
        Some(Value::String(text)) => json!(text),
        Some(number) => json!(number.to_string()),
        None => json!("N/A"),
    };
    match column {
        "Min Available" => said("/spec/minAvailable"),
        "Max Unavailable" => said("/spec/maxUnavailable"),
        "Allowed Disruptions" => json!(count(object, "/status/disruptionsAllowed")),
        _ => Value::Null,
    }
}

/// What is used of what may be used, of requests or of limits.
pub(super) fn quota(object: &Value, column: &str) -> String {
    let hard = object.pointer("/status/hard").and_then(Value::as_object).into_iter().flatten();
    let of_limits = |name: &str| name.starts_with("limits");
    let each = hard.filter(|(name, _)| of_limits(name) == (column == "Limit"));
    let each = each.map(|(name, most)| {
        let used = object.pointer(&format!("/status/used/{}", name.replace('/', "~1")));
        let used = used.and_then(Value::as_str).unwrap_or("0");
        format!("{name}: {used}/{}", most.as_str().unwrap_or_default())
    });
    each.collect::<Vec<_>>().join(", ")
}
