//! What connects: services, slices of endpoints, policies.

use serde_json::{Value, json};

use super::{default, text};
use crate::synthetic::Dice;

/// The ports that nodes give away.
const NODE_PORTS: (u64, u64) = (30_000, 2_768);

pub(super) fn service(known: Option<&Value>, object: &mut Value, version: u64) {
    default(object, "/spec/type", json!("ClusterIP"));
    default(object, "/spec/sessionAffinity", json!("None"));
    default(object, "/status/loadBalancer", json!({}));
    let kind = text(object, "/spec/type").to_owned();
    let is_outside = matches!(kind.as_str(), "NodePort" | "LoadBalancer");
    let mut dice = Dice::new(version);
    if let Some(Value::Array(ports)) = object.pointer_mut("/spec/ports") {
        for (index, port) in ports.iter_mut().enumerate() {
            default(port, "/protocol", json!("TCP"));
            let number = port.get("port").cloned().unwrap_or_default();
            default(port, "/targetPort", number);
            if is_outside {
                let old = known.and_then(|known| {
                    known.pointer(&format!("/spec/ports/{index}/nodePort")).cloned()
                });
                let fresh = json!(NODE_PORTS.0 + dice.below(NODE_PORTS.1));
                default(port, "/nodePort", old.unwrap_or(fresh));
            }
        }
    }
    if is_outside {
        default(object, "/spec/externalTrafficPolicy", json!("Cluster"));
    }
    if kind == "LoadBalancer" {
        default(object, "/spec/allocateLoadBalancerNodePorts", json!(true));
    }
    if kind == "ExternalName" {
        return;
    }
    default(object, "/spec/internalTrafficPolicy", json!("Cluster"));
    let old = known.and_then(|known| known.pointer("/spec/clusterIP").cloned());
    let fresh = || json!(format!("10.96.{}.{}", (version / 250) % 250, version % 250 + 1));
    default(object, "/spec/clusterIP", old.unwrap_or_else(fresh));
    let address = object.pointer("/spec/clusterIP").cloned().unwrap_or_default();
    let is_without = address == json!("None") && object.pointer("/spec/selector").is_none();
    default(object, "/spec/clusterIPs", json!([address]));
    // Nobody knows which addresses those have that somebody else finds.
    let (families, policy) = if is_without {
        (json!(["IPv4", "IPv6"]), "RequireDualStack")
    } else {
        (json!(["IPv4"]), "SingleStack")
    };
    default(object, "/spec/ipFamilies", families);
    default(object, "/spec/ipFamilyPolicy", json!(policy));
}

pub(super) fn policy(object: &mut Value) {
    for rules in ["ingress", "egress"] {
        let Some(Value::Array(rules)) = object.pointer_mut(&format!("/spec/{rules}")) else {
            continue;
        };
        for rule in rules {
            if let Some(Value::Array(ports)) = rule.get_mut("ports") {
                for port in ports {
                    default(port, "/protocol", json!("TCP"));
                }
            }
        }
    }
    let types = match object.pointer("/spec/egress") {
        Some(_) => json!(["Ingress", "Egress"]),
        None => json!(["Ingress"]),
    };
    default(object, "/spec/policyTypes", types);
}

pub(super) fn slice(object: &mut Value) {
    if let Some(Value::Array(endpoints)) = object.get_mut("endpoints") {
        for endpoint in endpoints {
            default(endpoint, "/conditions", json!({}));
        }
    }
    if let Some(Value::Array(ports)) = object.get_mut("ports") {
        for port in ports {
            default(port, "/name", json!(""));
            default(port, "/protocol", json!("TCP"));
        }
    }
}
