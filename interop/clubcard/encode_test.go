package clubcard_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/bloomery/bloomery/interop/clubcard"
)

// The encoder of the tests. It builds Clubcards from the description of the format: the systems of equations of a small
// set, solved by plain Gaussian elimination. It shares no code with the reader.

// universe is the content of a Clubcard: its logs, and the certificates of each issuer.
type universe struct {
	logs    []clubcard.Coverage
	issuers []issuer
	tight   bool // too few rows in the exact matrix: some certificates become exceptions
	seed    uint64
}

// issuer holds the serial numbers of revoked and of valid certificates.
type issuer struct {
	hash           [32]byte
	revoked, valid []string
}

// equation is a linear equation over GF(2): the XOR of the rows selected by bits equals sum. Bit r of bits selects row
// r.
type equation struct {
	bits []uint64
	sum  bool
}

// equationOf returns the equation of a key in the m rows from offset on, in a matrix with end rows. The rows after the
// last one are 0.
func equationOf(issuer [32]byte, serial string, m, offset, end int, sum bool) equation {
	digest := sha256.Sum256([]byte(string(issuer[:]) + serial))
	digest[0] |= 1 // the lowest bit of the first little-endian word
	first := offset + int(binary.LittleEndian.Uint64(digest[24:])%uint64(m))
	e := equation{make([]uint64, end/64+1), sum}
	for i := range min(256, end-first) {
		if digest[i/8]>>(i%8)&1 == 1 {
			e.bits[(first+i)/64] ^= 1 << ((first + i) % 64)
		}
	}
	return e
}

// system holds equations in echelon form, by their first row.
type system map[int]equation

// add adds an equation. It returns false, and adds nothing, if the equation contradicts those before it.
func (s system) add(e equation) bool {
	for i := range e.bits {
		for e.bits[i] != 0 {
			first := 64*i + bits.TrailingZeros64(e.bits[i])
			p, ok := s[first]
			if !ok {
				s[first] = e
				return true
			}
			for k := range e.bits {
				e.bits[k] ^= p.bits[k]
			}
			e.sum = e.sum != p.sum
		}
	}
	return !e.sum
}

// solve returns rows rows that solve the system. Free rows are random. Zero words at the end are omitted.
func (s system) solve(rows int, rng *rand.Rand) []uint64 {
	x := make([]uint64, rows/64+1)
	for r := rows - 1; r >= 0; r-- {
		p, ok := s[r]
		bit := p.sum
		for i, w := range p.bits {
			bit = bit != (bits.OnesCount64(w&x[i])%2 == 1)
		}
		if bit || !ok && rng.IntN(2) == 1 {
			x[r/64] |= 1 << (r % 64)
		}
	}
	for len(x) > 0 && x[len(x)-1] == 0 {
		x = x[:len(x)-1]
	}
	return x
}

// band is an issuer with its place in the matrices.
type band struct {
	issuer
	set, others         []string // members and non-members of the stored set
	rank, m, offset     int
	exactM, exactOffset int
	inverted            bool
	exceptions          []string
}

// encode returns the bytes of a Clubcard of a universe.
func encode(u universe) []byte {
	rng := rand.New(rand.NewPCG(u.seed, 19))
	bands := make([]*band, len(u.issuers))
	for i, is := range u.issuers {
		b := &band{issuer: is, set: is.revoked, others: is.valid}
		if b.inverted = len(is.revoked) > len(is.valid); b.inverted {
			b.set, b.others = b.others, b.set
		}
		if len(b.set) > 0 {
			b.rank = bits.Len(uint(len(b.others) / len(b.set))) // one more than in the paper, so that fewer pass
			b.m = len(b.set)*5/4 + 80
		}
		bands[i] = b
	}
	slices.SortStableFunc(bands, func(a, b *band) int { return cmp.Compare(b.rank, a.rank) })
	rows := 0
	for _, b := range bands {
		b.offset = rows
		rows += b.m
	}
	var columns [][]uint64
	for k := range bands[0].rank {
		all, end := system{}, 0
		for _, b := range bands {
			if b.rank > k { // the first bands
				end = b.offset + b.m
			}
		}
		for _, b := range bands {
			for _, serial := range b.set {
				if b.rank > k {
					all.add(equationOf(b.hash, serial, b.m, b.offset, end, false)) // never contradicts: all sums are 0
				}
			}
		}
		columns = append(columns, all.solve(end, rng))
	}
	return assemble(u, bands, columns, exactOf(u, bands, columns, rng))
}

// exactOf returns the exact matrix, and sets the exceptions.
func exactOf(u universe, bands []*band, columns [][]uint64, rng *rand.Rand) []uint64 {
	passing := map[*band][]string{}
	rows := 0
	for _, b := range bands {
		for _, serial := range b.others {
			if b.m > 0 && !slices.ContainsFunc(columns[:b.rank], func(c []uint64) bool {
				sum := 0
				for i, w := range equationOf(b.hash, serial, b.m, b.offset, 64*len(c), false).bits[:len(c)] {
					sum += bits.OnesCount64(w & c[i])
				}
				return sum%2 == 1
			}) {
				passing[b] = append(passing[b], serial)
			}
		}
		if b.exactOffset = rows; b.m > 0 {
			b.exactM = (len(b.set)+len(passing[b]))*5/4 + 80
		}
		if u.tight && b.m > 0 {
			b.exactM = len(b.set) + len(passing[b])/2
		}
		rows += b.exactM
	}
	all := system{}
	for _, b := range bands {
		for _, serial := range b.set {
			all.add(equationOf(b.hash, serial, b.exactM, b.exactOffset, rows, false))
		}
	}
	for _, b := range bands {
		for _, serial := range passing[b] {
			if !all.add(equationOf(b.hash, serial, b.exactM, b.exactOffset, rows, true)) {
				b.exceptions = append(b.exceptions, serial)
			}
		}
	}
	return all.solve(rows, rng)
}

// assemble returns the bytes of the file.
func assemble(u universe, bands []*band, columns [][]uint64, exact []uint64) []byte {
	var out bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			if err := binary.Write(&out, binary.BigEndian, v); err != nil {
				panic(err)
			}
		}
	}
	put(uint8(4), uint8(0), uint16(len(u.logs)))
	for _, l := range u.logs {
		put(l.Log, l.First, l.Last)
	}
	slices.SortFunc(bands, func(a, b *band) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	put(uint32(len(bands)))
	for _, b := range bands {
		put(b.hash, uint32(b.m), uint8(b.rank), uint32(b.offset), uint32(b.exactM), uint32(b.exactOffset), b.inverted)
		put(uint16(len(b.exceptions)))
		for _, e := range b.exceptions {
			put(uint8(len(e)), []byte(e))
		}
	}
	put(uint8(len(columns)))
	for _, c := range append(columns, exact) {
		put(uint32(len(c)), c)
	}
	return out.Bytes()
}

// indexEntry states which times of a log a file covers.
type indexEntry struct {
	file string
	clubcard.Coverage
}

// encodeIndex returns the bytes of an index.
func encodeIndex(names []string, entries []indexEntry) []byte {
	byLog := map[[32]byte][]indexEntry{}
	for _, e := range entries {
		byLog[e.Log] = append(byLog[e.Log], e)
	}
	logs := make([][32]byte, 0, len(byLog))
	for l := range byLog {
		logs = append(logs, l)
	}
	slices.SortFunc(logs, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16([]byte("upkiidx1"), uint16(len(names))),
		uint32(len(logs)))
	for _, n := range names {
		head = append(append(head, n...), make([]byte, 32-len(n))...)
	}
	var sections []byte
	for _, l := range logs {
		head = append(head, l[:]...)
		head = binary.BigEndian.AppendUint64(head, uint64(14+32*len(names)+42*len(logs)+len(sections)))
		head = binary.BigEndian.AppendUint16(head, uint16(len(byLog[l])))
		for _, e := range byLog[l] {
			sections = binary.BigEndian.AppendUint16(sections, uint16(slices.Index(names, e.file)))
			sections = binary.BigEndian.AppendUint64(sections, e.First)
			sections = binary.BigEndian.AppendUint64(sections, e.Last)
		}
	}
	return append(head, sections...)
}
