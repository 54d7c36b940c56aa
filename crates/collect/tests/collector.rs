//! A collector and everything that may change under it: orders, kinds,
//! namespaces, rights and histories.

mod collector {
    #[cfg(test)]
    mod support;
    mod edits;
    mod kinds;
    mod namespaces;
    mod rights;
    mod watches;
}
