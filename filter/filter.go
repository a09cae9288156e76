// Package filter defines the words that the signatures of all packages of Bloomery share: the 128-bit Hash of a key and
// the Hasher that computes it, the Spec and the Info of a filter, and the errors.
//
// Symbols follow the literature: n keys, m bits, k probes (hash functions) per key, and the fill f, the share of bits
// that are set. Three false-positive rates have different names:
//
//   - prior p_b ("before"), predicted from n, m and k alone;
//   - posterior p_a ("after"), computed from the bits that are set;
//   - observed p_o, measured with keys that are known to be absent.
package filter

import "time"

// Progress is the progress of a Build.
type Progress struct {
	Done float64       // share of the work done, in [0, 1]
	Rate float64       // posterior rate so far: of the finished parts, or of the first one; 0 if unknown
	Left time.Duration // estimated remaining time; 0 if unknown
}
