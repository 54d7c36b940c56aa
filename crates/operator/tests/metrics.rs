//! What the metrics of a whole operator say, while things happen in a cluster.
//!
//! The cluster is a sandbox that takes no status, which nobody waits for.

mod metrics {
    #[cfg(test)]
    mod support;
    mod page;
}
