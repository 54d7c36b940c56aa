//! The sandbox before those who cannot tell it from a cluster: kubectl, whose
//! output is the same on both, and the operator.

#[cfg(test)]
#[path = "sandbox/kubectl.rs"]
mod kubectl;
#[cfg(test)]
#[path = "sandbox/command.rs"]
mod command;
#[cfg(test)]
#[path = "sandbox/operator.rs"]
mod operator;
