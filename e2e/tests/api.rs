//! The eleven kinds on a real API server.

mod api {
    mod defaults;
    mod kubectl;
    mod refusals;
    mod samples;
}
