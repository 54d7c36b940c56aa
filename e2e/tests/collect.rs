//! What a real API server serves, and what listing and watching it gives.

mod collect {
    #[cfg(test)]
    mod support;
    #[cfg(test)]
    mod scene;
    #[cfg(test)]
    mod writing;
    mod discovery;
    mod listing;
    mod watching;
    mod collecting;
    mod kinds;
    mod namespaces;
    mod rights;
    mod disasters;
    mod command;
}
