//! Hashing of short names in tables of bounded size: fixed tables, and at most some hundred variables of a text.
//!
//! It resists no collisions by intent, so nothing that grows with a text may be kept in it.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Fnv>>;
pub(crate) type Set<K> = HashSet<K, BuildHasherDefault<Fnv>>;

/// FNV-1a.
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
