//! Every condition that objects of ours can have, and every reason, with what
//! it says.
//!
//! Pages about kinds are made of this. A test compares it with the words in the
//! code, so that neither has one that the other lacks.

use kollect_validate::Kind;

/// A reason of a condition, and what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The type of the condition; empty for the reasons of coverage.
    pub condition: &'static str,
    /// `True` or `False`.
    pub status: &'static str,
    /// One word, or `…` where every reason of `Degraded` can stand.
    pub reason: &'static str,
    /// What it says, without a full stop.
    pub says: &'static str,
}

/// The conditions of objects of a kind, with their reasons. Kinds without
/// conditions have none.
pub fn words(kind: Kind) -> Vec<Word> {
    match kind {
        Kind::Profile | Kind::Scope | Kind::ClusterScope => Vec::new(),
        Kind::Target => [TARGET, SINKS_OF_TARGET].concat(),
        Kind::ClusterTarget => TARGET.to_vec(),
        Kind::Inventory => [INVENTORY, NAMESPACED_INVENTORY].concat(),
        Kind::ClusterInventory => [INVENTORY, CLUSTER_INVENTORY].concat(),
        Kind::SnapshotSink | Kind::DatabaseSink | Kind::EventSink => SINK.to_vec(),
        Kind::ConnectionTest => CONNECTION_TEST.to_vec(),
    }
}

/// The conditions of one copy, in `status.sinkExports[]` of an inventory.
pub fn words_of_copies() -> &'static [Word] {
    COPY
}

/// The reasons in `status.coverage[]` of an inventory.
pub fn words_of_coverage() -> &'static [Word] {
    COVERAGE
}

macro_rules! words {
    ($($name:ident { $($condition:literal $status:literal $reason:literal $says:literal)* })*) => {
        $(const $name: &[Word] = &[$(Word {
            condition: $condition, status: $status, reason: $reason, says: $says,
        }),*];)*
    };
}

words! {
TARGET {
    "Ready" "True" "Collecting" "all that it may read has been read, and changes are followed"
    "Ready" "False" "Progressing" "what there is has not been read yet"
    "Ready" "False" "…" "the reason of `Degraded`"
    "Synced" "True" "Collecting" "its rows are what the cluster holds"
    "Synced" "True" "ScopeForbidden" "the same, but for namespaces that may not be read, which are named"
    "Synced" "False" "Progressing" "what there is has not been read yet"
    "Synced" "False" "…" "the reason of `Degraded`"
    "Degraded" "True" "Suspended" "`spec.suspend` is set; its rows go"
    "Degraded" "True" "InvalidSpec" "a rule refuses it or its profile; rows stay, and follow the last spec that was understood"
    "Degraded" "True" "ProfileNotFound" "there is no such profile; rows go once that is certain, after two answers a minute apart"
    "Degraded" "True" "ScopeGVKDenied" "the scope does not allow the kind; rows go"
    "Degraded" "True" "ScopeNamespaceDenied" "the scope or the operator does not allow a namespace that it names; rows go"
    "Degraded" "True" "AccessCheckFailed" "whether it may be read could not be asked; rows stay"
    "Degraded" "True" "InformerRegistrationFailed" "the kind is not served, or the server refuses us or does not answer; rows stay until it is certain that the kind is gone"
    "Degraded" "True" "ExtractionFailed" "some objects give no row; how many, and the first of them, is said"
}
SINKS_OF_TARGET {
    "SinkReachable" "True" "SinksReachable" "every sink of the namespace's inventories is there, and no probe says otherwise"
    "SinkReachable" "True" "NoSinksInNamespace" "no inventory of the namespace names a sink"
    "SinkReachable" "False" "SinkNotFound" "an inventory of the namespace names a sink that is not there"
    "SinkReachable" "False" "SinkUnreachable" "the last probe of a sink has failed"
    "SinkReachable" "False" "ExportTerminal" "a rule refuses a sink"
}
INVENTORY {
    "Ready" "True" "Exported" "every sink is in sync"
    "Ready" "True" "PartiallySynced" "it works, and at least one copy is not in sync"
    "Ready" "True" "Progressing" "it works, and no copy is in sync yet"
    "Ready" "False" "PartiallySynced" "a copy fails and another lacks rows"
    "Ready" "False" "Progressing" "a copy fails and none is in sync"
    "Ready" "False" "…" "the reason of `Degraded`"
    "Synced" "True" "Exported" "every sink has acknowledged every row"
    "Synced" "False" "PartiallySynced" "some sinks are in sync and others are not, or a sink refuses single rows"
    "Synced" "False" "Progressing" "no sink is in sync: not yet, not any more, or because all of them fail"
    "Synced" "False" "…" "the reason of `Degraded`, if nothing is exported because of it"
    "Degraded" "True" "Suspended" "`spec.suspend` is set: rows are collected and not exported"
    "Degraded" "True" "InvalidSpec" "a rule refuses it; nothing is exported"
    "Degraded" "True" "ScopeSinkDenied" "the scope does not allow a sink; nothing is exported"
    "Degraded" "True" "Progressing" "every sink has failed, and is tried again by itself"
    "Degraded" "True" "ExportTerminal" "every sink has failed, and somebody has to change something"
    "Degraded" "True" "SinkNotFound" "every copy has failed, one because its sink is not there"
    "Degraded" "True" "SecretResolveFailed" "every copy has failed, one because a Secret is missing, may not be used here, or holds nothing usable"
    "SinkReachable" "True" "ExportSucceeded" "every sink has acknowledged"
    "SinkReachable" "True" "SinksReachable" "no sink has refused"
    "SinkReachable" "True" "NoSinksConfigured" "no sink is named"
    "SinkReachable" "False" "ExportFailed" "the last export to a sink has failed"
    "SinkReachable" "False" "SinkNotFound" "a sink is not there"
    "SinkReachable" "False" "SecretResolveFailed" "a Secret of a sink is missing, may not be used here, or holds nothing usable"
    "SinkReachable" "False" "ExportTerminal" "a sink is refused by a rule, or cannot be opened as it is written"
    "SinkReachable" "False" "SinkUnreachable" "nothing was exported yet, and the last probe of a sink has failed"
}
NAMESPACED_INVENTORY {
    "Ready" "True" "NoExport" "it names no sink"
    "Synced" "True" "NoExport" "it names no sink, so there is nothing to promise"
}
CLUSTER_INVENTORY {
    "Ready" "True" "RolledUp" "it names no sink"
    "Synced" "True" "RolledUp" "it names no sink, so there is nothing to promise"
    "Degraded" "True" "SinkNamespaceDenied" "the cluster scope does not allow the namespace of a sink or profile; nothing is exported"
    "Degraded" "True" "NoTargets" "no cluster target has anything in common with it, five minutes after it was made or later; exports go on"
    "Degraded" "True" "TargetDegraded" "some of its targets do not collect as they should, and are named; exports go on"
    "ExportSucceeded" "True" "Exported" "every sink has acknowledged every row"
    "ExportSucceeded" "True" "PartiallySynced" "some sinks have"
    "ExportSucceeded" "False" "…" "no sink has, for the reason of `Degraded`, or `Progressing`"
}
COPY {
    "Synced" "True" "Exported" "this sink has acknowledged every row"
    "Synced" "False" "Progressing" "it has not yet, or it lags behind its limit; the message says what is waited for"
    "Synced" "False" "PartiallySynced" "it refuses single rows, which are counted and the first of them named; it has the others"
    "Synced" "False" "ExportFailed" "the last attempt has failed; it is repeated, less and less often"
    "Synced" "False" "SinkNotFound" "the sink is not there"
    "Synced" "False" "SecretResolveFailed" "a Secret of the sink is missing, may not be used here, or holds nothing usable"
    "Synced" "False" "ExportTerminal" "the sink is refused by a rule, or cannot be opened as it is written"
}
COVERAGE {
    "" "" "NotReadYet" "it has not been read for half a minute or longer"
    "" "" "KindNotServed" "the cluster does not serve the kind"
    "" "" "Forbidden" "the operator may not list or not watch it"
    "" "" "Unauthorized" "the server does not accept the operator's credentials"
    "" "" "AccessCheckFailed" "whether it may be read could not be asked"
    "" "" "NamespacesUnknown" "it is not known which namespaces there are, and the target names none"
    "" "" "Unreachable" "the server does not answer, or its history was replaced"
    "" "" "NotUnderstood" "target or profile is refused, and what was understood last goes on"
    "" "" "ScopeDenied" "a scope does not allow the kind"
}
SINK {
    "ConnectionVerified" "True" "ConnectionOK" "the destination answered, and what it said"
    "ConnectionVerified" "False" "SecretResolveFailed" "a Secret is missing, may not be used here, or holds nothing usable"
    "ConnectionVerified" "False" "ConnectionTestFailed" "the destination did not answer, or did not let us in"
    "Degraded" "True" "InvalidSpec" "a rule refuses it; nothing is exported there"
    "Degraded" "True" "SecretResolveFailed" "as above"
    "Degraded" "True" "ConnectionTestFailed" "as above; exports are tried all the same"
    "TLSInsecure" "True" "InsecureSkipVerify" "the server's certificate is not verified, by `spec.tls` or by the connection string"
}
CONNECTION_TEST {
    "Ready" "True" "ProbeSucceeded" "the sink answered"
    "Ready" "False" "…" "the reason of `ConnectionVerified`"
    "ConnectionVerified" "True" "ConnectionOK" "the sink answered, and what it said"
    "ConnectionVerified" "False" "InvalidSinkRef" "not exactly one sink is named"
    "ConnectionVerified" "False" "SinkNotFound" "the sink is not there"
    "ConnectionVerified" "False" "SecretResolveFailed" "a Secret is missing, may not be used here, or holds nothing usable"
    "ConnectionVerified" "False" "ConnectionTestFailed" "the sink is refused by a rule, did not answer, or did not let us in"
}
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// Where conditions and their reasons come from.
    const SOURCES: [&str; 8] = [
        "status.rs",
        "status",
        "plan.rs",
        "plan",
        "probes.rs",
        "probes",
        "secrets.rs",
        "brain/copies.rs",
    ];

    /// What is written like a reason in these files and is none.
    const OTHERS: [&str; 3] = ["True", "False", "Secret"];

    fn every_word() -> Vec<Word> {
        let of_kinds = Kind::ALL.iter().flat_map(|kind| words(*kind));
        of_kinds.chain(COPY.iter().copied()).chain(COVERAGE.iter().copied()).collect()
    }

    /// The program text of a file, or of all files below a directory, without
    /// its tests.
    fn program(path: &Path) -> String {
        if !path.is_dir() {
            let text = fs::read_to_string(path).unwrap();
            return text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
        }
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| !path.ends_with("tests.rs")).map(|path| program(&path)).collect()
    }

    /// Texts of a program that are one word with a capital.
    fn names(program: &str) -> BTreeSet<&str> {
        let is_name = |text: &&str| {
            text.starts_with(char::is_uppercase)
                && text.len() > 3
                && text.chars().all(char::is_alphanumeric)
        };
        let code = program.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.flat_map(|line| line.split('"').skip(1).step_by(2)).filter(is_name).collect()
    }

    #[test]
    fn every_reason_in_the_code_is_here_and_every_one_here_is_in_the_code() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let paths = SOURCES.iter().map(|name| source.join(name));
        let program: String = paths.map(|path| program(&path)).collect();
        let mut found = names(&program);
        let words = every_word();
        for word in &words {
            found.remove(word.condition);
        }
        for other in &OTHERS {
            found.remove(other);
        }
        let mut known: BTreeSet<_> = words.iter().map(|word| word.reason).collect();
        known.remove("…");
        // It is a condition, too.
        found.extend(["ExportSucceeded"]);
        assert_eq!(found, known);
    }

    #[test]
    fn nothing_is_said_twice() {
        for kind in Kind::ALL {
            let words = words(*kind);
            let keys = words.iter().map(|word| (word.condition, word.status, word.reason));
            assert_eq!(keys.collect::<BTreeSet<_>>().len(), words.len(), "{}", kind.name());
        }
    }
}
