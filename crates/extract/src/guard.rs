//! Whether a path can read what is secret in a Secret.

use kollect_expr::Projection;

/// What a path can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing secret.
    Harmless,
    /// The data.
    Data,
    /// Everything.
    Whole,
    /// The annotation in which kubectl keeps a copy of what was applied.
    Copy,
}

/// Judges the paths that a program can touch on a Secret.
pub fn reach(projection: &Projection) -> Reach {
    let copy = ["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"];
    if projection.paths() == ["$"] {
        Reach::Whole
    } else if projection.reaches(&["data"]) || projection.reaches(&["stringData"]) {
        Reach::Data
    } else if projection.reaches(&copy) {
        Reach::Copy
    } else {
        Reach::Harmless
    }
}
