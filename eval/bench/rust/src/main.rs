//! Answers the commands of bench, line by line, about filters of Rust crates. Package versus, in ../versus, describes
//! the commands and starts this program.

mod clock;
mod filters;
mod keys;

use std::hint::black_box;
use std::io::{BufRead, Write};

use filters::{Filter, Sizes};
use keys::Key;

fn main() {
    let mut session: Option<Box<dyn Session>> = None;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        if line == "quit" {
            return;
        }
        let reply = match answer(&mut session, &line) {
            Ok(fields) => format!("ok {fields}"),
            Err(text) => format!("error {}", text.replace('\n', " ")),
        };
        if writeln!(out, "{}", reply.trim_end()).and_then(|_| out.flush()).is_err() {
            return; // nobody reads
        }
    }
}

/// Carries out a command and returns the fields of the reply.
fn answer(session: &mut Option<Box<dyn Session>>, line: &str) -> Result<String, String> {
    let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
    match command {
        "hello" => Ok("protocol=1".to_string()),
        "keys" => {
            let [kind, count, path] = split(rest, line)?;
            let count = number(count)?;
            *session = None; // frees the keys of the last one
            *session = Some(match kind {
                "strings" => Box::new(Keys { keys: keys::strings(path, count)?, filter: None }),
                "arrays" => Box::new(Keys { keys: keys::arrays(path, count)?, filter: None }),
                "integers" => Box::new(Keys { keys: keys::integers(path, count)?, filter: None }),
                _ => return Err(format!("{kind}: want strings, arrays or integers")),
            });
            Ok(String::new())
        }
        "build" => {
            let [name, from, to, sizes] = split(rest, line)?;
            let mut wanted = Sizes { fpr: 0.0, bits: 0 };
            for word in sizes.split(' ') {
                match word.split_once('=') {
                    Some(("fpr", v)) => wanted.fpr = v.parse().map_err(|_| format!("{word}: want a rate"))?,
                    Some(("bits", v)) => wanted.bits = number(v)?,
                    _ => return Err(format!("{word}: want fpr= or bits=")),
                }
            }
            loaded(session)?.build(name, number(from)?, number(to)?, &wanted)
        }
        "ask" => {
            let [how, from, to] = split(rest, line)?;
            if how != "single" {
                return Err(format!("{how}: the filters have single queries only"));
            }
            loaded(session)?.ask(number(from)?, number(to)?)
        }
        _ => Err(format!("{command}: want hello, keys, build, ask or quit")),
    }
}

fn loaded(session: &mut Option<Box<dyn Session>>) -> Result<&mut Box<dyn Session>, String> {
    session.as_mut().ok_or_else(|| "no keys are loaded".to_string())
}

/// Splits text at its first N-1 spaces.
fn split<'a, const N: usize>(text: &'a str, line: &str) -> Result<[&'a str; N], String> {
    text.splitn(N, ' ').collect::<Vec<_>>().try_into().map_err(|_| format!("{line}: want {N} words after the command"))
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{text}: want a whole number"))
}

/// The loaded keys and the last filter of them.
trait Session {
    fn build(&mut self, name: &str, from: usize, to: usize, sizes: &Sizes) -> Result<String, String>;
    fn ask(&self, from: usize, to: usize) -> Result<String, String>;
}

struct Keys<K> {
    keys: Vec<K>,
    filter: Option<Box<dyn Filter<K>>>,
}

impl<K> Keys<K> {
    fn range(&self, from: usize, to: usize) -> Result<&[K], String> {
        self.keys.get(from..to).ok_or_else(|| format!("keys {from} to {to}: there are {}", self.keys.len()))
    }
}

impl<K: Key + 'static> Session for Keys<K> {
    fn build(&mut self, name: &str, from: usize, to: usize, sizes: &Sizes) -> Result<String, String> {
        self.filter = None;
        let keys = self.range(from, to)?;
        let start = clock::cpu();
        let filter = black_box(filters::build(name, black_box(keys), sizes)?);
        let took = clock::cpu() - start;
        let reply = format!("ns={} bits={} refused={} batch=0", took.as_nanos(), filter.bits(), filter.refused());
        self.filter = Some(filter);
        Ok(reply)
    }

    fn ask(&self, from: usize, to: usize) -> Result<String, String> {
        let keys = self.range(from, to)?;
        let filter = self.filter.as_ref().ok_or("no filter is built")?;
        let start = clock::cpu();
        let positives = black_box(filter.ask(black_box(keys)));
        let took = clock::cpu() - start;
        Ok(format!("ns={} positives={positives}", took.as_nanos()))
    }
}
