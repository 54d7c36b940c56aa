//! Real files in a directory of their own, read back by another connection.

mod support;
mod rows;
mod views;
mod files;
