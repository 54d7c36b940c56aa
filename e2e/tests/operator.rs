//! The operator on a real API server, by what its sinks hold and its objects say.

mod operator {
    mod basics;
    #[cfg(test)]
    mod ground;
    #[cfg(test)]
    mod line;
    mod restarts;
    mod rights;
    #[cfg(test)]
    mod support;
    mod tenancy;
    mod troubles;
}
