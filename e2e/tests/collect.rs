//! What a real API server serves, what listing and watching it gives, and what
//! is collected from it whatever happens meanwhile.

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
    mod init;
}
