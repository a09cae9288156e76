package family

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/filter"
)

// Traits describes the abilities of a family's filters and their hash functions: everything that a program that opens
// filters needs to know about a family. Each family has one Traits; package families lists them.
type Traits struct {
	Name string
	// Hash is the only hash function of a family of another system, and 0 in our own.
	Hash filter.HashID
	// KeyType is the type of the keys in the system of the family, unless another one is given.
	KeyType filter.KeyType
	// Also is a hash function of another system. The keys of filters with the parameters of Also.Spec may be hashed
	// with it, too.
	Also Also
	// Can is the set of abilities that at least one form of the family has. A family lists only abilities that do not
	// follow from the interfaces of its filters; package families adds AbilitiesOf.
	Can Ability
}

// About describes the parameters of a family's specs and the forms that a planner compares. Flags, hints,
// help, planner and tests read it. Each family returns its About from a function: a variable would be linked into
// programs that only open filters.
type About struct {
	Summary string // one line, such as "plain Bloom filter: any size, keys at any time"
	// FileBytes is the approximate number of bytes of a file besides the filter: header, spec, checksums and padding.
	FileBytes uint64
	// Bounded is true if Add returns ErrFull once a filter has reached its capacity, or a few keys later.
	Bounded bool
	// Default is the size of a filter whose spec names none, such as "a false-positive rate of 1%".
	Default string
	// DefaultFPR is the rate of Default, or 0 if Default is not a rate.
	DefaultFPR float64
	// Sizes are the parameters that fix the size of the filter, instead of bits_per_key=, fpr= and bytes=. The Spec of
	// a built filter contains one of them.
	Sizes []string
	// Grows returns the initial capacity of an empty filter whose Spec has no capacity, if the filter grows beyond this
	// capacity and keeps its rate, or 0 if the filter does not grow. It is nil if no filter of the family grows.
	Grows func(filter.Spec) uint64
	// Parameters are the parameters of a spec, except bits_per_key=, fpr= and bytes=, which every family has.
	Parameters []Parameter
	// Forms are the forms that a planner compares. A family of another system has none.
	Forms []Form
}

// Also is a hash function of another system and the parameters of the filters whose keys may be hashed with it.
type Also struct {
	Spec filter.Spec
	Hash filter.HashID
}

// Parameter is one parameter of a family's specs.
type Parameter struct {
	Name  string // such as "capacity"
	Value string // possible values, such as "KEYS" or "1..32"
	Help  string // one line
}

// Form is a family with the parameters that decide its abilities.
type Form struct {
	Spec filter.Spec // spec without a size
	// Can is the set of abilities of a filter of this form, a subset of Traits.Can.
	Can Ability
	// LineFrom is the lowest false-positive rate at which at least 95% of the queries read one cache line. It is 0 if
	// CanOneLine applies at every rate.
	LineFrom float64
	// Patented is true if a patent on the method is nominally in force somewhere.
	Patented bool
	// Default is the position, from 1 on, at which a build without a family tries this form, or 0 if it never does. The
	// build uses the first form that meets the needs, for any number of keys.
	Default int
	// Reason is the reason to choose the form, in one line. A planner replaces "{size}" by the excess of the file over
	// the smallest possible size.
	Reason  string
	Warning string // a caveat, one line; may be empty
}

// Ability is a set of abilities of the filters of a family.
type Ability uint32

// The abilities.
const (
	CanAdd         Ability = 1 << iota // Adder: keys may be added after the build
	CanStartEmpty                      // a filter may start empty and receive its keys one by one
	CanRemove                          // Remover
	CanCount                           // Counter
	CanValues                          // Valuer
	CanMerge                           // Merger
	CanIntersect                       // Intersecter
	CanConcurrent                      // Sharer: has a form that many goroutines may change at once
	CanOneLine                         // a query reads one cache line, or in at most 5% of the cases a second one
	CanCapacity                        // the spec may contain capacity=
	CanLater                           // the spec may contain later=
	CanGrow                            // the spec may contain growth=
	CanSearch                          // Reoptimizer: a search fits the filter to its keys
	CanSpill                           // The builder is a Gatherer.
	CanTrim                            // Trimmer
	CanRawKeys                         // RawKeyFilter: needs keys, not hashes
	CanEstimate                        // CellFilter: estimates how many keys two filters share
	CanCountItself                     // The builder counts the distinct keys itself: NewBuilder needs no number.
	CanBuildValues                     // Getter whose values may come with the keys: its builder is a ValueBuilder
	CanFold                            // Folder: can be built before the number of keys is known
)

// AbilitiesOf returns the abilities that follow from the interfaces of a filter, which may be a nil pointer.
func AbilitiesOf(f Filter) Ability {
	return abilityIf[Adder](f, CanAdd) | abilityIf[RawKeyFilter](f, CanAdd|CanRawKeys) | abilityIf[Remover](f, CanRemove) |
		abilityIf[Counter](f, CanCount) | abilityIf[Valuer](f, CanValues) | abilityIf[Merger](f, CanMerge) |
		abilityIf[Intersecter](f, CanIntersect) | abilityIf[Sharer](f, CanConcurrent) | abilityIf[Reoptimizer](f, CanSearch) |
		abilityIf[Trimmer](f, CanTrim) | abilityIf[CellFilter](f, CanEstimate) | abilityIf[Folder](f, CanFold)
}

// abilityIf returns can if f implements I, else 0.
func abilityIf[I any](f Filter, can Ability) Ability {
	if _, ok := f.(I); !ok {
		return 0
	}
	return can
}

// verbs name the abilities in the order of their bits, as in "families that ... : standard, counting".
var verbs = [...]string{
	"take keys after the build", "start empty", "remove keys", "count keys", "keep values", "merge", "intersect",
	"take keys from many goroutines", "read one cache line a query", "take capacity=", "take later=", "take growth=",
	"search", "spill keys to a file", "have a trimmed form", "take raw keys",
	"tell how many keys two filters share",
	"count distinct keys while building",
	"take a value with each key of the build",
	"fold to fewer keys",
}

// Has reports whether a has all abilities of b.
func (a Ability) Has(b Ability) bool { return a&b == b }

// String returns the abilities as text: "remove keys, merge".
func (a Ability) String() string {
	var s []string
	for i, v := range verbs {
		if a>>i&1 != 0 {
			s = append(s, v)
		}
	}
	return strings.Join(s, ", ")
}

// Takes reports whether specs of the family have a parameter of this name, apart from the parameters of the size.
func (a About) Takes(parameter string) bool {
	return slices.ContainsFunc(a.Parameters, func(p Parameter) bool { return p.Name == parameter })
}

// Parameters with the same meaning in every family that has them.
var (
	CapacityParameter = Parameter{"capacity", "KEYS", "room for at least this many keys, those added later included"}
	LaterParameter    = Parameter{"later", "KEYS", "keys that are added after the build; the size counts them"}
	SlotsParameter    = Parameter{"k", "1..64", "bits of a key; fewer make a larger filter with smaller deltas"}
	CountingParameter = Parameter{"counting", "1", "count how often each key was added"}
	// SearchParameters set the length of a search. See Effort.
	SearchParameters = []Parameter{
		{"effort", "fast|default|max", "how long to search, by name"},
		{"passes", "1..1000000", "how long to search, in passes over all keys"},
		{"budget", "TIME", "how long to search, such as 30s; the result then depends on the speed of the machine"},
		{"table", "1", "version of the table that shapes come from, for the same bytes in later versions; default: the newest"},
	}
)

// Foreign reports whether a hash function belongs to another system.
func Foreign(id filter.HashID) bool { return id >= filter.XXH64 && id <= filter.FNV1 }

// ParseHashID returns the hash function with this name, or an error that lists all names.
func ParseHashID(name string) (filter.HashID, error) {
	var names []string
	for id := filter.XXH3; id <= filter.FNV1; id++ {
		if id.String() == name {
			return id, nil
		}
		names = append(names, id.String())
	}
	return 0, fmt.Errorf("hash function %.40q: want one of %s", name, strings.Join(names, ", "))
}

// HashBits returns the number of bits of a hash that a filter can use.
func HashBits(id filter.HashID) int {
	switch id {
	case filter.XXH64, filter.Murmur3x86, filter.Uint64, filter.FNV1:
		return 64
	case filter.Murmur3Twice:
		return 256
	}
	return 128
}

// LowestRate returns the lowest false-positive rate that a filter can have: the probability keys/2^HashBits that an
// absent key has the same hash as a present key.
func LowestRate(id filter.HashID, keys uint64) float64 {
	return math.Ldexp(float64(keys), -HashBits(id))
}
