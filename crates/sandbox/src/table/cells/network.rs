//! The columns of what connects: services, endpoints, ingresses.

use serde_json::{Value, json};

use super::{count, joined, list, or_none, plain, text};

pub(super) fn service(object: &Value, column: &str) -> Value {
    match column {
        "Type" => text(object, "/spec/type"),
        "Cluster-IP" => match plain(object, "/spec/clusterIP") {
            "" => json!("<none>"),
            address => json!(address),
        },
        "External-IP" => {
            let outside = joined(list(object, "/spec/externalIPs").filter_map(Value::as_str));
            match plain(object, "/spec/type") {
                "ExternalName" => text(object, "/spec/externalName"),
                "LoadBalancer" => {
                    let given = list(object, "/status/loadBalancer/ingress");
                    let given =
                        given.filter_map(|it| it.get("ip").or(it.get("hostname"))?.as_str());
                    match joined(given) {
                        given if given.is_empty() => json!("<pending>"),
                        given => json!(given),
                    }
                }
                _ => or_none(outside),
            }
        }
        "Port(s)" => {
            let ports = list(object, "/spec/ports").map(|port| {
                let (number, protocol) = (count(port, "/port"), plain(port, "/protocol"));
                match count(port, "/nodePort") {
                    0 => format!("{number}/{protocol}"),
                    node => format!("{number}:{node}/{protocol}"),
                }
            });
            or_none(ports.collect::<Vec<_>>().join(","))
        }
        _ => Value::Null,
    }
}

pub(super) fn ingress(object: &Value, column: &str) -> Value {
    match column {
        "Class" => or_none(plain(object, "/spec/ingressClassName").to_owned()),
        "Hosts" => {
            let hosts = list(object, "/spec/rules").map(|rule| plain(rule, "/host"));
            let hosts = joined(hosts.filter(|host| !host.is_empty()));
            json!(if hosts.is_empty() { "*".to_owned() } else { hosts })
        }
        "Address" => {
            let given = list(object, "/status/loadBalancer/ingress");
            json!(joined(given.filter_map(|it| it.get("ip").or(it.get("hostname"))?.as_str())))
        }
        "Ports" => {
            let has_tls = list(object, "/spec/tls").next().is_some();
            json!(if has_tls { "80, 443" } else { "80" })
        }
        "Controller" => text(object, "/spec/controller"),
        "Parameters" => match object.pointer("/spec/parameters") {
            None => json!("<none>"),
            Some(parameters) => {
                let kind = plain(parameters, "/kind");
                let group = plain(parameters, "/apiGroup");
                let group = if group.is_empty() { String::new() } else { format!(".{group}") };
                json!(format!("{kind}{group}/{}", plain(parameters, "/name")))
            }
        },
        _ => Value::Null,
    }
}

pub(super) fn endpoints(object: &Value) -> String {
    let mut all = Vec::new();
    for subset in list(object, "/subsets") {
        for port in list(subset, "/ports") {
            for address in list(subset, "/addresses") {
                all.push(format!("{}:{}", plain(address, "/ip"), count(port, "/port")));
            }
        }
    }
    if all.is_empty() {
        return "<none>".to_owned();
    }
    all.join(",")
}

pub(super) fn slice(object: &Value, column: &str) -> Value {
    match column {
        "AddressType" => text(object, "/addressType"),
        "Ports" => {
            let ports = list(object, "/ports").map(|port| count(port, "/port").to_string());
            shortened(ports.collect(), "<unset>")
        }
        "Endpoints" => {
            let endpoints = list(object, "/endpoints");
            let addresses = endpoints.flat_map(|endpoint| list(endpoint, "/addresses"));
            let addresses = addresses.filter_map(|it| Some(it.as_str()?.to_owned()));
            shortened(addresses.collect(), "<unset>")
        }
        _ => Value::Null,
    }
}

/// The first three, and how many more there are.
fn shortened(mut all: Vec<String>, nothing: &str) -> Value {
    let more = all.len().saturating_sub(3);
    all.truncate(3);
    json!(match (all.join(","), more) {
        (text, _) if text.is_empty() => nothing.to_owned(),
        (text, 0) => text,
        (text, more) => format!("{text} + {more} more..."),
    })
}
