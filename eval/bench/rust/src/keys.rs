//! Keys of the two kinds, read from a file of fixed-size records.

use std::borrow::Cow;
use std::hash::Hash;

/// A type of keys: `&str` of 16 bytes, `[u8; 16]`, or `u64`.
pub trait Key: Hash + Copy {
    /// Calls f with the bytes of the key, for hash functions of bytes: 16 of a string, 8 of an integer (little endian).
    fn bytes<R>(self, f: impl FnOnce(&[u8]) -> R) -> R;
    /// Returns the key for filters that take integers only: an integer as it is, a string hashed with ahash.
    fn integer(self, hasher: &ahash::RandomState) -> u64;
    /// Returns integer of each key. Integers are not copied.
    fn integers<'a>(keys: &'a [Self], hasher: &ahash::RandomState) -> Cow<'a, [u64]>;
}

impl Key for &str {
    #[inline(always)]
    fn bytes<R>(self, f: impl FnOnce(&[u8]) -> R) -> R {
        f(self.as_bytes())
    }
    #[inline(always)]
    fn integer(self, hasher: &ahash::RandomState) -> u64 {
        hasher.hash_one(self)
    }
    fn integers<'a>(keys: &'a [Self], hasher: &ahash::RandomState) -> Cow<'a, [u64]> {
        keys.iter().map(|k| k.integer(hasher)).collect()
    }
}

impl Key for [u8; SIZE] {
    #[inline(always)]
    fn bytes<R>(self, f: impl FnOnce(&[u8]) -> R) -> R {
        f(&self)
    }
    #[inline(always)]
    fn integer(self, hasher: &ahash::RandomState) -> u64 {
        hasher.hash_one(self)
    }
    fn integers<'a>(keys: &'a [Self], hasher: &ahash::RandomState) -> Cow<'a, [u64]> {
        keys.iter().map(|k| k.integer(hasher)).collect()
    }
}

impl Key for u64 {
    #[inline(always)]
    fn bytes<R>(self, f: impl FnOnce(&[u8]) -> R) -> R {
        f(&self.to_le_bytes())
    }
    #[inline(always)]
    fn integer(self, _: &ahash::RandomState) -> u64 {
        self
    }
    fn integers<'a>(keys: &'a [Self], _: &ahash::RandomState) -> Cow<'a, [u64]> {
        keys.into()
    }
}

/// The size of a string and of an array in bytes.
const SIZE: usize = 16;

/// Returns the file as count strings of 16 bytes. The program reads one file and ends, so the text is never freed.
pub fn strings(path: &str, count: usize) -> Result<Vec<&'static str>, String> {
    let text = read(path, count, SIZE)?;
    let text = std::str::from_utf8(text.leak()).map_err(|e| format!("{path}: {e}"))?;
    let at = |i: usize| text.get(i * SIZE..(i + 1) * SIZE);
    (0..count).map(|i| at(i).ok_or_else(|| format!("{path}: key {i} is not ASCII"))).collect()
}

/// Returns the file as count arrays of 16 bytes.
pub fn arrays(path: &str, count: usize) -> Result<Vec<[u8; SIZE]>, String> {
    let bytes = read(path, count, SIZE)?;
    Ok(bytes.chunks_exact(SIZE).map(|b| b.try_into().unwrap()).collect())
}

/// Returns the file as count integers of 8 bytes, little endian.
pub fn integers(path: &str, count: usize) -> Result<Vec<u64>, String> {
    let bytes = read(path, count, 8)?;
    Ok(bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect())
}

fn read(path: &str, count: usize, size: usize) -> Result<Vec<u8>, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    if Some(bytes.len()) != count.checked_mul(size) {
        return Err(format!("{path}: {} bytes, want {count} keys of {size} bytes", bytes.len()));
    }
    Ok(bytes)
}
