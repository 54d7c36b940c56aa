use clap::Parser;

use super::*;
use crate::args::{Args, Command, operator::dropped::Remark};

#[track_caller]
fn parsed(flags: &[&str]) -> Box<OperatorArgs> {
    let line = ["kollect", "operator"].iter().chain(flags);
    match Args::try_parse_from(line).unwrap_or_else(|error| panic!("{error}")).command {
        Command::Operator(args) => args,
        other => panic!("{other:?}"),
    }
}

/// What is to become of a flag.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Works,
    /// It is taken, with a warning.
    Dropped,
    /// It is taken, and ends the start.
    Refused,
}

/// Every flag that upstream has, as its manifests write it.
const UPSTREAM: &[(&str, Fate)] = &[
    ("--metrics-bind-address=:8443", Fate::Works),
    ("--metrics-secure", Fate::Works),
    ("--metrics-secure=false", Fate::Works),
    ("--metrics-cert-path=", Fate::Works),
    ("--metrics-cert-path=/certs", Fate::Works),
    ("--metrics-cert-name=tls.crt", Fate::Works),
    ("--metrics-cert-key=tls.key", Fate::Works),
    ("--health-probe-bind-address=:8081", Fate::Works),
    ("--leader-elect", Fate::Works),
    ("--leader-elect=true", Fate::Works),
    ("--leader-elect-lease-duration=60s", Fate::Works),
    ("--leader-elect-renew-deadline=40s", Fate::Works),
    ("--leader-elect-retry-period=5s", Fate::Works),
    ("--validating-webhooks-enabled=false", Fate::Works),
    ("--validating-webhooks-enabled", Fate::Refused),
    ("--validating-webhooks-enabled=true", Fate::Refused),
    ("--webhook-cert-path=/certs", Fate::Dropped),
    ("--webhook-cert-name=tls.crt", Fate::Dropped),
    ("--webhook-cert-key=tls.key", Fate::Dropped),
    ("--enable-http2", Fate::Dropped),
    ("--enable-http2=false", Fate::Works),
    ("--tenant-mode=false", Fate::Works),
    ("--allow-private-sinks", Fate::Works),
    ("--allow-private-sinks=false", Fate::Works),
    ("--watch-namespaces=", Fate::Works),
    ("--watch-namespaces=a,b", Fate::Works),
    ("--default-included-namespaces=a", Fate::Works),
    ("--default-excluded-namespaces=b", Fate::Works),
    ("--scrub-keys=pin,tan", Fate::Works),
    ("--inventory-http-enabled=false", Fate::Works),
    ("--inventory-http-enabled=true", Fate::Refused),
    ("--inventory-http-port=8082", Fate::Dropped),
    ("--inventory-auth-mode=kubernetes", Fate::Dropped),
    ("--inventory-auth-mode=none", Fate::Dropped),
    ("--inventory-auth-cache-ttl=30s", Fate::Dropped),
    ("--max-export-bytes=1572864", Fate::Works),
    ("--max-concurrent-reconciles-target=5", Fate::Dropped),
    ("--max-concurrent-reconciles-inventory=3", Fate::Dropped),
    ("--max-concurrent-reconciles-cluster-target=2", Fate::Dropped),
    ("--max-concurrent-reconciles-cluster-inventory=2", Fate::Dropped),
    ("--reconcile-rate-limit=0", Fate::Dropped),
    ("--target-count-resync=-1s", Fate::Dropped),
    ("--enable-pprof=false", Fate::Works),
    ("--enable-pprof", Fate::Refused),
    ("--pprof-bind-address=:6060", Fate::Dropped),
    ("--collect-dispatch-workers=4", Fate::Dropped),
    ("--collect-dispatch-queue-size=512", Fate::Dropped),
    ("--collect-dispatch-enqueue-wait=25ms", Fate::Dropped),
    ("--informer-resync-period=12h", Fate::Works),
    ("--collect-metrics-sample-interval=30s", Fate::Dropped),
    ("--zap-devel", Fate::Works),
    ("--zap-encoder=console", Fate::Works),
    ("--zap-log-level=debug", Fate::Works),
    ("--zap-stacktrace-level=error", Fate::Dropped),
    ("--zap-time-encoding=rfc3339nano", Fate::Works),
];

#[test]
fn every_flag_of_upstream_is_taken() {
    for (flag, expected) in UPSTREAM {
        let args = parsed(&[flag]);
        assert!(settings(&args).is_ok() && terms(&args.lease).is_ok(), "{flag}");
        let remarks = args.dropped.remarks();
        let fate = match (args.not_yet.refusal(), remarks.as_slice()) {
            (None, []) => Fate::Works,
            (None, [Remark { flag: named, .. }]) => {
                assert!(flag.starts_with(named), "{flag}: {named}");
                Fate::Dropped
            }
            (Some(why), []) => {
                assert!(flag.starts_with(why.split(':').next().unwrap()), "{flag}: {why}");
                Fate::Refused
            }
            (refusal, remarks) => panic!("{flag}: {refusal:?} {remarks:?}"),
        };
        assert_eq!(fate, *expected, "{flag}");
    }
}

#[test]
fn without_flags_nothing_is_remarked_upon() {
    let args = parsed(&[]);
    assert_eq!(args.not_yet.refusal(), None);
    assert_eq!(args.dropped.remarks(), []);
    let settings = settings(&args).unwrap();
    assert_eq!(settings.grace, Duration::from_secs(20));
    assert_eq!(settings.habits.pace.resync, Duration::from_hours(12));
    assert_eq!(terms(&args.lease).unwrap(), None);
}

#[test]
fn a_flag_that_is_given_twice_counts_as_given_last() {
    let args = parsed(&["--leader-elect", "--leader-elect=false", "--watch-namespaces=a,b"]);
    assert!(!args.lease.leader_elect);
    let args = parsed(&["--watch-namespaces=a,b", "--watch-namespaces", "c"]);
    assert_eq!(args.reach.watch_namespaces, ["c"]);
}

#[test]
fn lists_are_trimmed_and_hold_everything_once() {
    let flags = ["--watch-namespaces= a,b,a,", "--scrub-keys=Pin,pin, tan"];
    let settings = settings(&parsed(&flags)).unwrap();
    assert_eq!(settings.watch_namespaces, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    assert_eq!(settings.scrub_keys, ["Pin", "tan"]);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let settings = settings(&parsed(&["--tenant-mode", "--watch-namespaces=,"]));
    assert!(settings.unwrap_err().to_string().starts_with("--tenant-mode: "));
    let flags = ["--leader-elect", "--leader-elect-renew-deadline=61s"];
    assert!(terms(&parsed(&flags).lease).is_err());
    for flag in [
        "--inventory-auth-mode=token",
        "--metrics-secure=perhaps",
        "--health-probe-bind-address=8081",
        "--informer-resync-period=soon",
        "--no-such-flag",
    ] {
        assert!(Args::try_parse_from(["kollect", "operator", flag]).is_err(), "{flag}");
    }
}

#[test]
fn a_period_of_zero_is_never() {
    let settings = settings(&parsed(&["--informer-resync-period=0"])).unwrap();
    assert_eq!(settings.habits.pace.resync, NEVER);
}

#[test]
fn the_lease_is_where_the_pod_is() {
    let file = Place::Files(Vec::new());
    assert_eq!(namespace(None, &Place::InCluster, "default"), "default");
    assert_eq!(namespace(None, &Place::InCluster, "ops"), "ops");
    assert_eq!(namespace(None, &file, "ops"), "ops");
    assert_eq!(namespace(None, &file, "default"), "kollect-system");
    assert_eq!(namespace(Some("here"), &Place::InCluster, "ops"), "here");
    assert_eq!(namespace(Some(""), &Place::InCluster, "ops"), "ops");
}
