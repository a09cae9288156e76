//! The protocol of the program trial, in Go, which describes the calls.

use std::error::Error;
use std::fs;
use std::io::{self, BufRead, Write};

pub type Fallible<T> = Result<T, Box<dyn Error>>;

/// A system.
pub trait Peer {
    fn version(&self) -> String;
    /// Returns where the filters lie in the file, or "" for the whole file.
    fn build(&self, kind: &str, form: &str, keys: usize, rate: f64, list: &str, out: &str) -> Fallible<String>;
    /// Returns the answers of all filters of the file to all keys, a bool each.
    fn ask(&self, kind: &str, form: &str, file: &str, keys: &[Vec<u8>]) -> Fallible<Vec<bool>>;
    fn again(&self, kind: &str, form: &str, file: &str, out: &str) -> Fallible<()>;
}

/// Answers the lines of standard input until it ends.
pub fn serve(peer: impl Peer) -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split('\t').collect();
        let reply = match call(&peer, &words) {
            Ok(text) => format!("ok {text}"),
            Err(error) => format!("error {}", error.to_string().replace('\n', " ")),
        };
        println!("{reply}");
        io::stdout().flush()?;
    }
    Ok(())
}

fn call(peer: &impl Peer, words: &[&str]) -> Fallible<String> {
    match words {
        ["hello"] => Ok(format!("{}, {}", peer.version(), env!("RUSTC_VERSION"))),
        ["build", kind, form, keys, rate, list, out] => {
            peer.build(kind, form, keys.parse()?, rate.parse()?, list, out)
        }
        ["ask", kind, form, file, keys, answers] => {
            let bits = peer.ask(kind, form, file, &read_keys(keys)?)?;
            let mut bytes = vec![0u8; bits.len().div_ceil(8)];
            for (i, _) in bits.iter().enumerate().filter(|(_, yes)| **yes) {
                bytes[i / 8] |= 1 << (i % 8);
            }
            fs::write(answers, bytes)?;
            Ok(String::new())
        }
        ["again", kind, form, file, out] => peer.again(kind, form, file, out).map(|()| String::new()),
        _ => Err(format!("{words:?}").into()),
    }
}

/// Returns the keys of a file. A key has its length in 4 bytes before it, little endian.
pub fn read_keys(path: &str) -> Fallible<Vec<Vec<u8>>> {
    let bytes = fs::read(path)?;
    let (mut rest, mut keys) = (&bytes[..], Vec::new());
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let (key, tail) = tail.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or("a key is cut off")?;
        keys.push(key.to_vec());
        rest = tail;
    }
    Ok(keys)
}
