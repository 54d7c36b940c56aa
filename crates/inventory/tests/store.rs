//! The store against a model that is slow and obviously right.

mod store {
    mod against_model;
    mod bounds;
    mod destination;
    mod model;
    mod regressions;
    mod support;
    mod traces;
    #[cfg(test)]
    mod witness;
}
