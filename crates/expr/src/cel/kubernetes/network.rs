//! Addresses and networks.

use super::{
    super::{
        functions::{Function, global, method, unfit},
        value::Value,
    },
    Computed, Special, given, invalid, is, pay, read, special,
};
use crate::{
    budget::Budget,
    kube::{cidr::Cidr, ip::Ip},
};

pub(super) const FUNCTIONS: &[Function] = &[
    global("ip", "string -> net.IP", ip),
    global("isIP", "string -> bool", |b, a| is::<Ip>(b, a, "isIP")),
    global("ip.isCanonical", "string -> bool", is_canonical),
    method("family", "net.IP -> int", family),
    method("isUnspecified", "net.IP -> bool", |_, a| of_ip(a, Ip::is_unspecified)),
    method("isLoopback", "net.IP -> bool", |_, a| of_ip(a, Ip::is_loopback)),
    method("isLinkLocalMulticast", "net.IP -> bool", |_, a| of_ip(a, Ip::is_link_local_multicast)),
    method("isLinkLocalUnicast", "net.IP -> bool", |_, a| of_ip(a, Ip::is_link_local_unicast)),
    method("isGlobalUnicast", "net.IP -> bool", |_, a| of_ip(a, Ip::is_global_unicast)),
    global("cidr", "string -> net.CIDR", cidr),
    global("isCIDR", "string -> bool", |b, a| is::<Cidr>(b, a, "isCIDR")),
    method("containsIP", "net.CIDR, net.IP -> bool", contains_ip),
    method("containsIP", "net.CIDR, string -> bool", contains_ip),
    method("containsCIDR", "net.CIDR, net.CIDR -> bool", contains_cidr),
    method("containsCIDR", "net.CIDR, string -> bool", contains_cidr),
    method("ip", "net.CIDR -> net.IP", |_, a| of_cidr(a, |c| special(Special::Ip(c.ip())))),
    method("masked", "net.CIDR -> net.CIDR", |_, a| {
        of_cidr(a, |c| special(Special::Cidr(c.masked())))
    }),
    method("prefixLength", "net.CIDR -> int", |_, a| of_cidr(a, |c| Value::Int(c.prefix_length()))),
    global("string", "net.IP -> string", unreached),
    global("string", "net.CIDR -> string", unreached),
];

/// Never runs: conversions to a text are all in one place.
fn unreached<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    Err(unfit("string", args))
}

fn ip<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    read(budget, args, "ip", Special::Ip)
}

fn is_canonical<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(text)] = args else { return Err(unfit("ip.isCanonical", args)) };
    pay(budget, text.as_str())?;
    Ip::is_canonical(text.as_str()).map(Value::Bool).map_err(invalid)
}

fn family<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args.first().and_then(given) {
        Some(Special::Ip(ip)) => Ok(Value::Int(ip.family())),
        _ => Err(unfit("family", args)),
    }
}

fn of_ip<'v, 'a>(args: &[Value<'v, 'a>], test: fn(Ip) -> bool) -> Computed<'v, 'a> {
    match args.first().and_then(given) {
        Some(Special::Ip(ip)) => Ok(Value::Bool(test(*ip))),
        _ => Err(unfit("a function of addresses", args)),
    }
}

fn cidr<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    read(budget, args, "cidr", Special::Cidr)
}

fn of_cidr<'v, 'a>(
    args: &[Value<'v, 'a>],
    part: fn(Cidr) -> Value<'static, 'static>,
) -> Computed<'v, 'a> {
    match args.first().and_then(given) {
        Some(Special::Cidr(cidr)) => Ok(part(*cidr)),
        _ => Err(unfit("a function of networks", args)),
    }
}

fn contains_ip<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let unfit = || unfit("containsIP", args);
    let [one, other] = args else { return Err(unfit()) };
    let Some(Special::Cidr(cidr)) = given(one) else { return Err(unfit()) };
    let ip = match (other.as_text(), given(other)) {
        (Some(text), _) => {
            pay(budget, text)?;
            text.parse::<Ip>().map_err(invalid)?
        }
        (_, Some(Special::Ip(ip))) => *ip,
        _ => return Err(unfit()),
    };
    Ok(Value::Bool(cidr.contains_ip(ip)))
}

fn contains_cidr<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let unfit = || unfit("containsCIDR", args);
    let [one, other] = args else { return Err(unfit()) };
    let Some(Special::Cidr(cidr)) = given(one) else { return Err(unfit()) };
    let other = match (other.as_text(), given(other)) {
        (Some(text), _) => {
            pay(budget, text)?;
            text.parse::<Cidr>().map_err(invalid)?
        }
        (_, Some(Special::Cidr(other))) => *other,
        _ => return Err(unfit()),
    };
    Ok(Value::Bool(cidr.contains_cidr(other)))
}
