//! The four ways to change a part of an object.
//!
//! All of them are pure: an object and a patch in, an object out.

pub(crate) mod apply;
pub(crate) mod fields;
pub(crate) mod json;
pub(crate) mod managers;
pub(crate) mod merge;
pub(crate) mod strategic;
