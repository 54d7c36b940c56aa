//! A cluster that changes by itself, the same way in every run.

use super::cluster::Cluster;

/// A cluster and its history so far.
#[derive(Clone, Debug)]
pub struct Churn {
    cluster: Cluster,
    dice: Dice,
    step: u64,
}

impl Churn {
    /// The history that belongs to a seed, at its beginning.
    pub fn new(seed: u64, objects: usize) -> Self {
        Self { cluster: Cluster::of(objects), dice: Dice::new(seed), step: 0 }
    }

    /// The cluster as it is now.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// How often it has changed.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Changes a few objects; namespace and name of each.
    pub fn advance(&mut self) -> Vec<(&'static str, String)> {
        self.step += 1;
        let mut touched = Vec::new();
        for _ in 0..=self.dice.roll(12) {
            let namespace = if self.dice.roll(3) == 0 { "pay" } else { "shop" };
            let name = format!("object-{}", self.dice.roll(300));
            match self.dice.roll(4) {
                0 => self.cluster.remove(namespace, &name),
                _ => self.cluster.put(namespace, &name, &format!("step {}", self.step)),
            }
            touched.push((namespace, name));
        }
        touched
    }

    /// Goes on to a step.
    pub fn forward_to(&mut self, step: u64) {
        while self.step < step {
            self.advance();
        }
    }
}

/// The same numbers in every run.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % sides
    }
}
