//! The operator on a real API server, by what its sinks hold and its objects say.

mod operator {
    mod basics;
    mod copies;
    mod hundred;
    mod leaders;
    #[cfg(test)]
    mod places;
    mod probes;
    mod process;
    mod restarts;
    #[cfg(test)]
    mod support;
    mod troubles;
}
