//! What a real API server serves, and what listing and watching it gives.

mod collect {
    #[cfg(test)]
    mod support;
    mod discovery;
    mod listing;
    mod watching;
    mod command;
}
