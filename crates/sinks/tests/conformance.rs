//! Every sink against its real destination.

mod conformance {
    mod file;
    #[cfg(feature = "git")]
    mod git;
    pub(crate) mod local;
    mod memory;
    #[cfg(feature = "sqlite")]
    mod sqlite;
}

#[cfg(test)]
mod support {
    use kollect_sinks::conformance::{self, Make, Mutant};

    /// Runs the suite; every case must pass.
    pub(crate) async fn conforms(make: Make<'_>) {
        let outcomes = conformance::run(make).await;
        let failures = conformance::failures(&outcomes);
        assert!(failures.is_empty(), "{failures}");
        assert!(outcomes.len() >= 28);
    }

    /// Runs the suite with each bug; every one must be found.
    pub(crate) async fn finds_every_mutant(make: Make<'_>) {
        for mutant in Mutant::ALL {
            assert!(conformance::finds(make, mutant).await, "{mutant:?} was not found");
        }
    }
}
