//! The binary fuse filters of the crate xorf, in bincode with integers of fixed size. The form is the width in bits.

mod peer;

use std::fs;

use bincode::{config, Decode, Encode};
use peer::{serve, Fallible, Peer};
use xorf::{BinaryFuse16, BinaryFuse32, BinaryFuse8, Filter};

struct Xorf;

fn number(key: &[u8]) -> Fallible<u64> {
    Ok(u64::from_le_bytes(key.try_into()?))
}

fn save(filter: impl Encode, out: &str) -> Fallible<String> {
    fs::write(out, bincode::encode_to_vec(filter, config::legacy())?)?;
    Ok(String::new())
}

fn load<F: Decode<()>>(file: &str) -> Fallible<F> {
    let bytes = fs::read(file)?;
    let (filter, used) = bincode::decode_from_slice(&bytes, config::legacy())?;
    if used != bytes.len() {
        return Err(format!("a filter of {used} bytes in a file of {}", bytes.len()).into());
    }
    Ok(filter)
}

fn answers(filter: &impl Filter<u64>, keys: &[Vec<u8>]) -> Fallible<Vec<bool>> {
    keys.iter().map(|key| Ok(filter.contains(&number(key)?))).collect()
}

impl Peer for Xorf {
    fn version(&self) -> String {
        "crate xorf 0.13.0".into()
    }

    fn build(&self, _kind: &str, form: &str, _keys: usize, _rate: f64, list: &str, out: &str) -> Fallible<String> {
        let keys = peer::read_keys(list)?;
        let numbers: Vec<u64> = keys.iter().map(|key| number(key)).collect::<Fallible<_>>()?;
        match form {
            "8" => save(BinaryFuse8::try_from(&numbers)?, out),
            "16" => save(BinaryFuse16::try_from(&numbers)?, out),
            _ => save(BinaryFuse32::try_from(&numbers)?, out),
        }
    }

    fn ask(&self, _kind: &str, form: &str, file: &str, keys: &[Vec<u8>]) -> Fallible<Vec<bool>> {
        match form {
            "8" => answers(&load::<BinaryFuse8>(file)?, keys),
            "16" => answers(&load::<BinaryFuse16>(file)?, keys),
            _ => answers(&load::<BinaryFuse32>(file)?, keys),
        }
    }

    fn again(&self, _kind: &str, form: &str, file: &str, out: &str) -> Fallible<()> {
        match form {
            "8" => save(load::<BinaryFuse8>(file)?, out),
            "16" => save(load::<BinaryFuse16>(file)?, out),
            _ => save(load::<BinaryFuse32>(file)?, out),
        }
        .map(|_| ())
    }
}

fn main() -> std::io::Result<()> {
    serve(Xorf)
}
