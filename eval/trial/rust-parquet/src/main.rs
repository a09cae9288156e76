//! The split-block Bloom filter of the crate parquet.

mod peer;

use std::fs::{self, File};
use std::io::{BufWriter, Write};

use parquet::bloom_filter::Sbbf;
use peer::{serve, Fallible, Peer};

struct Parquet;

fn save(filter: &Sbbf, out: &str) -> Fallible<()> {
    let mut file = BufWriter::new(File::create(out)?);
    filter.write(&mut file)?;
    Ok(file.flush()?)
}

fn load(file: &str) -> Fallible<Sbbf> {
    Ok(Sbbf::from_bytes(&fs::read(file)?)?)
}

impl Peer for Parquet {
    fn version(&self) -> String {
        "crate parquet 60.0.0".into()
    }

    fn build(&self, kind: &str, _form: &str, keys: usize, rate: f64, list: &str, out: &str) -> Fallible<String> {
        let mut filter = Sbbf::new_with_ndv_fpp(keys as u64, rate)?;
        for key in peer::read_keys(list)? {
            match kind {
                "int64" => filter.insert(&i64::from_le_bytes(key.as_slice().try_into()?)),
                "int32" => filter.insert(&i32::from_le_bytes(key.as_slice().try_into()?)),
                "text" => filter.insert(std::str::from_utf8(&key)?),
                _ => filter.insert(key.as_slice()),
            }
        }
        save(&filter, out)?;
        Ok(String::new())
    }

    fn ask(&self, kind: &str, _form: &str, file: &str, keys: &[Vec<u8>]) -> Fallible<Vec<bool>> {
        let filter = load(file)?;
        keys.iter()
            .map(|key| {
                Ok(match kind {
                    "int64" => filter.check(&i64::from_le_bytes(key.as_slice().try_into()?)),
                    "int32" => filter.check(&i32::from_le_bytes(key.as_slice().try_into()?)),
                    "text" => filter.check(std::str::from_utf8(key)?),
                    _ => filter.check(key.as_slice()),
                })
            })
            .collect()
    }

    fn again(&self, _kind: &str, _form: &str, file: &str, out: &str) -> Fallible<()> {
        save(&load(file)?, out)
    }
}

fn main() -> std::io::Result<()> {
    serve(Parquet)
}
