//! What a real API server serves, and what listing it gives.

mod collect {
    #[cfg(test)]
    mod support;
    mod discovery;
    mod listing;
    mod command;
}
