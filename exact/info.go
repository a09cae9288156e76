package exact

import (
	"io"
	"math"
	"math/rand/v2"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

// Info describes a set.
type Info struct {
	Universe, Members uint64 // numbers of keys
	Partitions        uint64 // 0 if the set is not partitioned
	Updates           int    // records after the base
	// Bits is the size of all data that queries may read: the parts and the class function, without headers. Bytes is
	// the size of the file.
	Bits, Bytes uint64
	UpdateBytes uint64 // the part of Bytes that the updates take
	Hash        string // the hash function of the keys, without a secret
	// BuildDue is the reason why the set should be rebuilt without updates, or empty. A rebuild is due when the updates
	// take a third of the bytes of the base, or when there are 100 updates, since every query reads all records. After
	// it, readers load the whole file once.
	BuildDue string
	// Entropy is log2 C(Universe, Members): no exact set takes fewer bits on average. PartitionEntropy is the sum of
	// the entropies of the partitions, rounded, and 0 without partitions. It is lower, because it assumes that the
	// densities of the partitions are known. With updates it is the PartitionEntropy of the base.
	Entropy, PartitionEntropy float64
	// BitsPerMember is Bits divided by Members. EntropyPerMember is Entropy divided by Members, or with partitions
	// PartitionEntropy divided by the members of the base. Both are 0 if there are no members.
	BitsPerMember, EntropyPerMember float64
	// OutsideRate is the share of keys outside the universe for which the answer is true, if they are distributed over
	// the partitions like the keys of the universe.
	OutsideRate float64
	// UnknownRate is the share of keys in unknown partitions for which the answer is true: an unknown partition gets an
	// arbitrary class. It is measured with 8192 random names: its standard error is at most 0.006. It is 0 without
	// partitions.
	UnknownRate float64
	Classes     []ClassInfo // classes of the base

	// Changed describes the changes that Build made to Config.Base. It is zero if there are none, if the set was built
	// without a Base, and if it was read from a file.
	Changed struct {
		// Added is the number of keys whose answer was false and is now true, and Removed the number of keys whose
		// answer was true and is now false. Keys that are new in the universe count if the old, meaningless answer was
		// wrong.
		Added, Removed uint64
		// Bytes is the size of the record that was appended, 0 if neither answers nor counts have changed.
		Bytes uint64
		// Positions reports that the record has coded positions. Otherwise it has a small exact set, or there is no
		// record.
		Positions bool
		// Entropy is log2 C(Universe, Added+Removed): on average no encoding of the changed keys takes fewer bits,
		// unless it knows more than the universe.
		Entropy float64
	}
}

// ClassInfo describes the partitions of a class.
type ClassInfo struct {
	R        int  // level 1 has a rate of 2^-R; 0: no level 1; 32: no levels, since all keys or no keys are members
	Inverted bool // level 1 has the keys that are not members
	Universe uint64
	Members  uint64
	// OutsideRate is Info.OutsideRate for keys outside the universe in these partitions.
	OutsideRate float64
}

func perMember(bits float64, members uint64) float64 {
	if members == 0 {
		return 0
	}
	return bits / float64(members)
}

// Info describes the set. It is zero for the zero Set, and for a closed one.
func (s *Set) Info() Info {
	if s.checkUsable() != nil {
		return Info{}
	}

	base, newest := s.records[0], s.records[len(s.records)-1]
	i := Info{
		Universe: newest.universe, Members: newest.members, Partitions: newest.partitions, Updates: len(s.records) - 1,
		Hash:             s.hasher.String(),
		Changed:          s.changed,
		Entropy:          toBits(log2Choose(newest.universe, newest.members)),
		PartitionEntropy: float64(base.entropy),
	}

	for _, r := range s.records {
		i.Bits += r.sizeInBits()
		i.OutsideRate = toggled(i.OutsideRate, r.outsideRate())
	}

	for _, c := range base.classes {
		i.Classes = append(i.Classes, ClassInfo{
			R: c.rate(), Inverted: c.inverted(), Universe: c.keys, Members: c.tally.members,
			OutsideRate: c.outsideRate(),
		})
	}
	if s.partitioned() {
		i.UnknownRate = s.unknownRate()
	}

	// The sizes include headers and padding, which Bits leaves out.
	i.Bytes = container.ExactTrailerSize
	for n, size := range s.recordSizes() {
		if i.Bytes += size; n > 0 {
			i.UpdateBytes += size
		}
	}

	i.BitsPerMember, i.EntropyPerMember = perMember(float64(i.Bits), i.Members), perMember(i.Entropy, i.Members)
	if s.partitioned() {
		i.EntropyPerMember = perMember(i.PartitionEntropy, base.members)
	}
	i.BuildDue = i.buildDue()
	return i
}

// recordSizes returns the size of each record in bytes.
func (s *Set) recordSizes() (all []uint64) {
	for _, r := range s.records {
		if r.size == 0 { // it was built, and its size is not known yet
			all, _ = s.writeRecords(io.Discard)
			return all
		}
		all = append(all, r.size)
	}
	return all
}

// toBits converts a result of log2Choose to bits.
func toBits(v uint64) float64 { return math.Ldexp(float64(v), -outBits) }

// toggled returns the probability that exactly one of two independent events occurs.
func toggled(a, b float64) float64 { return a*(1-b) + b*(1-a) }

func (s *Set) unknownRate() float64 {
	const names = 1 << 13
	random := rand.New(rand.NewPCG(1, 2)) // a fixed seed: the same figure each time
	sum := 0.0
	for range names {
		name, rate := filter.Hash{Hi: random.Uint64(), Lo: random.Uint64()}, 0.0
		for _, r := range s.records {
			if r.kind == kindPositions {
				rate = toggled(rate, r.positions.outsideRate())
			} else {
				rate = toggled(rate, r.classOf(name).outsideRate())
			}
		}
		sum += rate
	}
	return sum / names
}

func (r *record) outsideRate() float64 {
	if r.kind == kindPositions {
		return r.positions.outsideRate()
	}

	var sum, keys float64
	for _, c := range r.classes {
		sum += c.outsideRate() * float64(c.keys)
		keys += float64(c.keys)
	}
	if keys == 0 {
		return r.classes[0].outsideRate()
	}
	return sum / keys
}

// outsideRate returns the share of keys outside the universe for which the answer is true.
func (c code) outsideRate() float64 {
	rate := math.Ldexp(1, -c.rate()-1)
	if c.rate() == constant {
		rate = 0
	}
	if c.inverted() {
		return 1 - rate
	}
	return rate
}
