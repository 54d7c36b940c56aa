//! Every sink against its real destination.

mod conformance {
    mod file;
    #[cfg(feature = "git")]
    mod git;
    pub(crate) mod local;
    pub(crate) mod reach;
    mod memory;
    #[cfg(test)]
    #[cfg(feature = "postgres")]
    mod postgres;
    #[cfg(feature = "sqlite")]
    mod sqlite;
}

#[cfg(test)]
mod support {
    use kollect_sinks::{
        Phase, RefusedRow,
        conformance::{self, Make, Mutant, Process},
    };

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

    /// Copies what can be; some rows must be refused, and are named.
    pub(crate) async fn copy_in_part(process: &mut Process) -> Vec<RefusedRow> {
        match process.copy_what_can_be().await {
            Ok(Phase::Partial { refused, .. }) => refused,
            other => panic!("no row was refused: {other:?}"),
        }
    }
}
