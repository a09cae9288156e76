//! The filters of the crates. Each gets keys in the form that it takes, with the hash function named here.

use std::collections::hash_map::DefaultHasher;
use std::hint::black_box;

use cuckoofilter::CuckooFilter;
use fastbloom::BloomFilter;
use xorf::{BinaryFuse16, BinaryFuse8, Filter as _};
use xxhash_rust::xxh64::xxh64;

use crate::keys::Key;

/// A finished filter.
pub trait Filter<K: Key> {
    /// Returns how many of the keys the filter says are present. The loop is compiled for the type of the filter.
    fn ask(&self, keys: &[K]) -> usize;
    /// Returns the size of the filter's arrays in bits.
    fn bits(&self) -> usize;
    /// Returns the number of keys that the filter did not take.
    fn refused(&self) -> usize {
        0
    }
}

/// What a filter may need to know of its size.
pub struct Sizes {
    /// The target false-positive rate.
    pub fpr: f64,
    /// The size in bits, for filters that take no rate.
    pub bits: usize,
}

/// Builds the named filter.
pub fn build<K: Key + 'static>(name: &str, keys: &[K], sizes: &Sizes) -> Result<Box<dyn Filter<K>>, String> {
    Ok(match name {
        "fastbloom" => Box::new(Bloom::new(keys, sizes.fpr)),
        "sbbf-rs-safe" => Box::new(Split::new(keys, sizes.bits)),
        "xorf-8" => Box::new(Fuse::<BinaryFuse8>::new(keys)?),
        "xorf-16" => Box::new(Fuse::<BinaryFuse16>::new(keys)?),
        "cuckoofilter" => Box::new(Cuckoo::new(keys)),
        _ => return Err(format!("there is no filter {name}")),
    })
}

/// ahash with fixed seeds, so that two runs have the same false positives.
fn ahash() -> ahash::RandomState {
    ahash::RandomState::with_seeds(1, 2, 3, 4)
}

#[inline(always)]
fn count<K: Key>(keys: &[K], has: impl Fn(K) -> bool) -> usize {
    keys.iter().filter(|k| has(**k)).count()
}

struct Bloom(BloomFilter<ahash::RandomState>);

impl Bloom {
    #[inline(never)]
    fn new<K: Key>(keys: &[K], fpr: f64) -> Self {
        let mut f = BloomFilter::with_false_pos(fpr).hasher(ahash()).expected_items(keys.len());
        for k in keys {
            f.insert(k);
        }
        Bloom(black_box(f))
    }
}

impl<K: Key> Filter<K> for Bloom {
    #[inline(never)]
    fn ask(&self, keys: &[K]) -> usize {
        count(keys, |k| self.0.contains(&k))
    }
    fn bits(&self) -> usize {
        self.0.num_bits()
    }
}

struct Split(sbbf_rs_safe::Filter);

impl Split {
    /// Filter::new takes whole bits per key. With 256 bits, the size of a block, it makes as many blocks as it is told
    /// keys.
    #[inline(never)]
    fn new<K: Key>(keys: &[K], bits: usize) -> Self {
        let mut f = sbbf_rs_safe::Filter::new(256, bits / 256);
        for k in keys {
            f.insert_hash(k.bytes(|b| xxh64(b, 0)));
        }
        Split(black_box(f))
    }
}

impl<K: Key> Filter<K> for Split {
    #[inline(never)]
    fn ask(&self, keys: &[K]) -> usize {
        count(keys, |k| self.0.contains_hash(k.bytes(|b| xxh64(b, 0))))
    }
    fn bits(&self) -> usize {
        8 * self.0.as_bytes().len()
    }
}

struct Fuse<F> {
    filter: F,
    hasher: ahash::RandomState,
}

impl<F: for<'a> TryFrom<&'a [u64], Error = &'static str>> Fuse<F> {
    #[inline(never)]
    fn new<K: Key>(keys: &[K]) -> Result<Self, String> {
        let hasher = ahash();
        let filter = F::try_from(&K::integers(keys, &hasher))?;
        Ok(Fuse { filter: black_box(filter), hasher })
    }
}

impl<K: Key> Filter<K> for Fuse<BinaryFuse8> {
    #[inline(never)]
    fn ask(&self, keys: &[K]) -> usize {
        count(keys, |k| self.filter.contains(&k.integer(&self.hasher)))
    }
    fn bits(&self) -> usize {
        8 * self.filter.len()
    }
}

impl<K: Key> Filter<K> for Fuse<BinaryFuse16> {
    #[inline(never)]
    fn ask(&self, keys: &[K]) -> usize {
        count(keys, |k| self.filter.contains(&k.integer(&self.hasher)))
    }
    fn bits(&self) -> usize {
        16 * self.filter.len()
    }
}

struct Cuckoo {
    filter: CuckooFilter<DefaultHasher>,
    refused: usize,
}

impl Cuckoo {
    #[inline(never)]
    fn new<K: Key>(keys: &[K]) -> Self {
        let mut filter = CuckooFilter::with_capacity(keys.len());
        let refused = keys.iter().filter(|k| filter.add(*k).is_err()).count();
        Cuckoo { filter: black_box(filter), refused }
    }
}

impl<K: Key> Filter<K> for Cuckoo {
    #[inline(never)]
    fn ask(&self, keys: &[K]) -> usize {
        count(keys, |k| self.filter.contains(&k))
    }
    fn bits(&self) -> usize {
        8 * (self.filter.memory_usage() - std::mem::size_of_val(&self.filter))
    }
    fn refused(&self) -> usize {
        self.refused
    }
}
