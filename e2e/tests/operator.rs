//! The operator on a real API server, by what its sinks hold and its objects say.

mod operator {
    mod basics;
    #[cfg(test)]
    mod client;
    mod cluster;
    mod copies;
    #[cfg(test)]
    mod ground;
    mod hundred;
    mod leaders;
    #[cfg(test)]
    mod line;
    #[cfg(test)]
    mod places;
    mod probes;
    mod process;
    mod restarts;
    mod rights;
    #[cfg(test)]
    mod support;
    mod tenancy;
    mod troubles;
}
