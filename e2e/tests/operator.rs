//! The operator on a real API server, by what its sinks hold and its objects say.

mod operator {
    mod basics;
    mod probes;
    mod restarts;
    #[cfg(test)]
    mod support;
    mod troubles;
}
