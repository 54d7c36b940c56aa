//! The table of layers in `ARCHITECTURE.md`, as data.

/// A crate of ours and its place.
pub(super) struct Layer {
    pub(super) krate: &'static str,
    pub(super) may_use: MayUse,
    pub(super) never: &'static [Never],
    /// Why it may use these of ours and no others.
    pub(super) reason: &'static str,
}

/// Which crates of ours a crate may use.
pub(super) enum MayUse {
    Anything,
    Only(&'static [&'static str]),
}

/// A crate that must not be reached, not even by the dependencies of others.
pub(super) struct Never {
    pub(super) krate: &'static str,
    pub(super) reason: &'static str,
}

/// Every crate of the workspace, present and to come, innermost first.
pub(super) const TABLE: &[Layer] = &[
    Layer {
        krate: "kollect-api",
        may_use: MayUse::Only(&[]),
        never: PURE,
        reason: "what users write knows nothing of what is made of it",
    },
    Layer {
        krate: "kollect-expr",
        may_use: MayUse::Only(&[]),
        never: PURE,
        reason: "the expression language is of use without the rest",
    },
    Layer {
        krate: "kollect-inventory",
        may_use: MayUse::Only(&["kollect-api"]),
        never: PURE,
        reason: "rows know neither where they come from nor where they go",
    },
    Layer {
        krate: "kollect-extract",
        may_use: MayUse::Only(&["kollect-api", "kollect-expr", "kollect-inventory"]),
        never: PURE,
        reason: "an object becomes a row by the plan and the object alone",
    },
    Layer {
        krate: "kollect-validate",
        may_use: MayUse::Only(&[
            "kollect-api",
            "kollect-expr",
            "kollect-extract",
            "kollect-inventory",
        ]),
        never: PURE,
        reason: "rules give the same answer in the webhook and on the command line",
    },
    Layer {
        krate: "kollect-collect",
        may_use: MayUse::Only(&["kollect-api", "kollect-extract", "kollect-inventory"]),
        never: &[],
        reason: "collection must not know who copies the rows",
    },
    Layer {
        krate: "kollect-sinks",
        may_use: MayUse::Only(&["kollect-api", "kollect-inventory"]),
        never: &[Never {
            krate: "kube-client",
            reason: "sinks get rows and credentials as values, and never ask Kubernetes",
        }],
        reason: "sinks must not know how rows are made",
    },
    Layer {
        krate: "kollect-operator",
        may_use: MayUse::Only(&[
            "kollect-api",
            "kollect-collect",
            "kollect-expr",
            "kollect-extract",
            "kollect-inventory",
            "kollect-sinks",
            "kollect-validate",
        ]),
        never: &[],
        reason: "the operator is a library below the binary, and the sandbox is its peer",
    },
    Layer {
        krate: "kollect-sandbox",
        may_use: MayUse::Only(&[]),
        never: &[],
        reason: "a peer that shared our code would share our mistakes",
    },
    Layer {
        krate: "kollect",
        may_use: MayUse::Only(&[
            "kollect-api",
            "kollect-collect",
            "kollect-expr",
            "kollect-extract",
            "kollect-inventory",
            "kollect-operator",
            "kollect-sandbox",
            "kollect-sinks",
            "kollect-validate",
        ]),
        never: &[],
        reason: "what is only for tests and chores must not be shipped",
    },
    Layer {
        krate: "kollect-testenv",
        may_use: MayUse::Only(&[]),
        never: &[],
        reason: "what starts the real servers must not depend on what is tested on them",
    },
    Layer {
        krate: "bench",
        may_use: MayUse::Anything,
        never: &[],
        reason: "budgets are measured on any crate",
    },
    Layer {
        krate: "e2e",
        may_use: MayUse::Anything,
        never: &[],
        reason: "scenarios see the whole",
    },
    Layer {
        krate: "fuzz",
        may_use: MayUse::Anything,
        never: &[],
        reason: "whatever reads foreign text may be fuzzed",
    },
    Layer {
        krate: "xtask",
        may_use: MayUse::Only(&[]),
        never: &[],
        reason: "chores must build quickly, and when the rest does not",
    },
];

/// For crates that decide: no I/O, nothing that can block.
const PURE: &[Never] = &[
    Never { krate: "tokio", reason: "a pure crate has no runtime" },
    Never { krate: "hyper", reason: "a pure crate has no network" },
    Never { krate: "kube-client", reason: "a pure crate gets its objects from the caller" },
    Never { krate: "reqwest", reason: "a pure crate has no network" },
];

/// For every crate.
pub(super) const FOR_ALL: &[Never] = &[
    Never { krate: "openssl-sys", reason: "the one TLS stack is rustls" },
    Never { krate: "native-tls", reason: "the one TLS stack is rustls" },
    Never { krate: "aws-lc-rs", reason: "the one crypto provider is ring" },
    Never { krate: "aws-lc-sys", reason: "the one crypto provider is ring" },
];
