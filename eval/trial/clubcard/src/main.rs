//! Mozilla's Clubcards of revoked certificates: the crates clubcard and clubcard-crlite.

mod peer;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{catch_unwind, AssertUnwindSafe};

use clubcard::builder::{ApproximateRibbon, ClubcardBuilder, ExactRibbon};
use clubcard_crlite::{
    builder::CRLiteBuilderItem, CRLiteClubcard, CRLiteCoverage, CRLiteKey, CRLiteQuery, CRLiteStatus, Encoding,
    IssuerSpkiHash, LogId, Timestamp,
};
use peer::{serve, Fallible, Peer};

struct Clubcards;

/// The logs that a filter covers: their ids are 32 bytes 1, 2 or 3.
const LOGS: &str = r#"[
  {"LogID": "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=", "MMD": 0,
    "MinTimestamp": 1000, "MaxTimestamp": 2000, "MinEntry": 0},
  {"LogID": "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=", "MMD": 5,
    "MinTimestamp": 0, "MaxTimestamp": 900000, "MinEntry": 9},
  {"LogID": "AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM=", "MMD": 0,
    "MinTimestamp": 7, "MaxTimestamp": 18446744073709551615, "MinEntry": 1}
]"#;

/// Splits the hash of an issuer off.
fn issuer(bytes: &[u8]) -> Fallible<(IssuerSpkiHash, &[u8])> {
    let (hash, rest) = bytes.split_first_chunk::<32>().ok_or("a key without an issuer")?;
    Ok((IssuerSpkiHash(*hash), rest))
}

impl Peer for Clubcards {
    fn version(&self) -> String {
        "crates clubcard 0.3.4 and clubcard-crlite 0.6.2".into()
    }

    /// A key is the issuer, a byte that is 1 for revoked certificates, and the serial number. With the form inverted
    /// the approximate filters have the certificates that are not revoked.
    fn build(&self, _kind: &str, form: &str, _keys: usize, _rate: f64, list: &str, out: &str) -> Fallible<String> {
        let inverted = form == "inverted";
        let mut issuers: BTreeMap<[u8; 32], Vec<(bool, Vec<u8>)>> = BTreeMap::new();
        for key in peer::read_keys(list)? {
            let (hash, rest) = issuer(&key)?;
            let (revoked, serial) = rest.split_first().ok_or("a key without a serial number")?;
            issuers.entry(hash.0).or_default().push((*revoked == 1, serial.to_vec()));
        }
        let item = |hash: &[u8; 32], revoked: bool, serial: &[u8]| {
            if revoked {
                CRLiteBuilderItem::revoked(IssuerSpkiHash(*hash), serial.to_vec())
            } else {
                CRLiteBuilderItem::not_revoked(IssuerSpkiHash(*hash), serial.to_vec())
            }
        };
        let mut builder = ClubcardBuilder::new();
        let mut approximate = Vec::new();
        for (hash, all) in &issuers {
            let mut of = builder.new_approx_builder(hash);
            of.set_universe_size(all.len());
            of.set_inverted(inverted);
            for (revoked, serial) in all.iter().filter(|(revoked, _)| *revoked != inverted) {
                of.insert(item(hash, *revoked, serial));
            }
            approximate.push(ApproximateRibbon::from(of));
        }
        builder.collect_approx_ribbons(approximate);
        let mut exact = Vec::new();
        for (hash, all) in &issuers {
            let mut of = builder.new_exact_builder(hash);
            for (revoked, serial) in all {
                of.insert(item(hash, *revoked, serial));
            }
            exact.push(ExactRibbon::from(of));
        }
        builder.collect_exact_ribbons(exact);
        let coverage = CRLiteCoverage::from_mozilla_ct_logs_json(LOGS.as_bytes());
        let filter = CRLiteClubcard::from(builder.build::<CRLiteQuery>(coverage, ()));
        fs::write(out, filter.to_bytes(Encoding::V4)?)?;
        Ok(String::new())
    }

    /// A key is the issuer, the log, the timestamp in 8 bytes, big endian, and the serial number. An answer has two
    /// bits, the lower first: 0 not covered, 1 not enrolled, 2 not revoked, 3 revoked.
    fn ask(&self, _kind: &str, _form: &str, file: &str, keys: &[Vec<u8>]) -> Fallible<Vec<bool>> {
        let filter = CRLiteClubcard::from_bytes(&fs::read(file)?)?;
        let mut answers = Vec::with_capacity(2 * keys.len());
        for key in keys {
            let (hash, rest) = issuer(key)?;
            let (log, rest) = rest.split_first_chunk::<32>().ok_or("a key without a log")?;
            let (time, serial) = rest.split_first_chunk::<8>().ok_or("a key without a timestamp")?;
            let key = CRLiteKey::new(&hash, serial);
            let at = [(LogId(*log), Timestamp(u64::from_be_bytes(*time)))];
            let status = catch_unwind(AssertUnwindSafe(|| filter.contains(&key, at.into_iter())))
                .map_err(|_| "a query panics")?;
            let number = match status {
                CRLiteStatus::NotCovered => 0,
                CRLiteStatus::NotEnrolled => 1,
                CRLiteStatus::Good => 2,
                CRLiteStatus::Revoked => 3,
            };
            answers.extend([number & 1 == 1, number & 2 == 2]);
        }
        Ok(answers)
    }

    fn again(&self, _kind: &str, _form: &str, file: &str, out: &str) -> Fallible<()> {
        let filter = CRLiteClubcard::from_bytes(&fs::read(file)?)?;
        Ok(fs::write(out, filter.to_bytes(Encoding::V4)?)?)
    }
}

fn main() -> std::io::Result<()> {
    serve(Clubcards)
}
