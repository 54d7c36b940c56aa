//! What clients see of the sandbox, over the wire.

#[cfg(test)]
mod support;
#[cfg(test)]
mod discovery;
#[cfg(test)]
mod list;
#[cfg(test)]
mod watch;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod load;
#[cfg(test)]
mod writes;
#[cfg(test)]
mod disasters;
