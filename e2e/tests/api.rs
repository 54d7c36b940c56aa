//! The eleven kinds, and the paths into objects, on a real API server.

mod api {
    #[cfg(test)]
    mod cel;
    mod defaults;
    mod expressions;
    mod kubectl;
    #[cfg(test)]
    mod recorded;
    mod refusals;
    mod samples;
}
