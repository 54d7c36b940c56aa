//! What the administrator has set, checked.

use std::{collections::BTreeSet, time::Duration};

use kollect_collect::Habits;
use kollect_extract::select::Defaults;
use kollect_sinks::LocalPaths;
use kollect_validate::Policy;

/// What the administrator has set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The only namespaces that are looked at; all if there are none.
    pub watch_namespaces: BTreeSet<String>,
    /// The only namespace whose objects of ours count, however far targets
    /// reach; objects of the whole cluster are not looked at then.
    pub home: Option<String>,
    /// What admission goes by, and everything that follows from it.
    pub policy: Policy,
    /// Where local sinks may write.
    pub local_paths: LocalPaths,
    pub defaults: Defaults,
    /// Further names whose values are hidden.
    pub scrub_keys: Vec<String>,
    /// What the cluster is called in copies whose sink does not say so.
    pub cluster: String,
    /// So long a first export waits for what has not been read (R5).
    pub warmup: Duration,
    /// Exports that run when it ends may take so long.
    pub grace: Duration,
    pub habits: Habits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            watch_namespaces: BTreeSet::new(),
            home: None,
            policy: Policy {
                local_paths: kollect_validate::LocalPaths::Nowhere,
                backends: kollect_sinks::BACKENDS.iter().copied().collect(),
                ..Policy::default()
            },
            local_paths: LocalPaths::Refused,
            defaults: Defaults::default(),
            scrub_keys: Vec::new(),
            cluster: String::new(),
            warmup: Duration::from_mins(10),
            grace: Duration::from_secs(20),
            habits: Habits::default(),
        }
    }
}
