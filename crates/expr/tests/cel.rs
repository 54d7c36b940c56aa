//! Expressions and what they compute from an object.

#[cfg(test)]
mod cel {
    mod hostile;
    mod kubernetes;
    mod language;
    mod projections;
    pub(crate) mod support;
}
