package tablefilter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/blocked"
	"github.com/bloomery/bloomery/internal/family/blockpartitioned"
	"github.com/bloomery/bloomery/internal/family/fuse"
	"github.com/bloomery/bloomery/internal/family/partitioned"
	"github.com/bloomery/bloomery/internal/family/ribbon"
)

// Prefix begins the Name of every Policy. A database stores the name.
const Prefix = "bloomery."

// DefaultMaxKeys is the MaxKeys of a new Policy. With this number of keys, a Writer needs 256 MiB and the memory of the
// build.
const DefaultMaxKeys = 1 << 23

// Policy configures the filters of tables. Change its fields only before its first use; after that it is safe for
// concurrent use.
type Policy struct {
	// MaxKeys is the largest number of keys of a filter. The block of a table with more keys contains no filter. A
	// Writer keeps 16 bytes per key in memory until Finish, and Finish needs as many bytes again.
	MaxKeys int
	// Workers is the number of goroutines that search for one filter. New sets 1, since stores write several tables at
	// the same time. The filter does not depend on it.
	Workers int

	spec   filter.Spec
	build  filter.Spec // spec and the parameters that withProbes adds
	family families.Family
}

// names are the families whose filters this package can read.
var names = []string{blocked.Family, blockpartitioned.Family, partitioned.Family, fuse.Family, ribbon.Family}

// perFilter are the parameters that suit only one number of keys. New returns an error for them, since tables have
// different numbers of keys.
var perFilter = []string{
	"bytes", "blocks", "capacity", "later", "segment", "segments", "seed", "starts", "tail", "tail_seed",
}

// New returns the Policy of a spec, such as "blockpartitioned(bits_per_key=10,effort=fast)". The families are blocked,
// blockpartitioned, partitioned, fuse and ribbon. The size must be one of bits_per_key, fpr, in fuse width, and in
// ribbon r. Errors wrap filter.ErrSpec, filter.ErrFamily or filter.ErrConfig.
func New(spec string) (*Policy, error) {
	s, f, err := families.Parse(spec)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, f.Name) {
		return nil, fmt.Errorf("family %s has no filter blocks; take one of %s: %w",
			f.Name, strings.Join(names, ", "), filter.ErrFamily)
	}

	for _, name := range perFilter {
		if family.Given(s, name) {
			return nil, &filter.ConfigError{Field: name, Value: s,
				Reason: "the tables of a store differ in size; give bits_per_key or fpr"}
		}
	}
	if family.Given(s, "budget") {
		return nil, &filter.ConfigError{Field: "budget", Value: s,
			Reason: "filters would differ from machine to machine; give effort or passes"}
	}
	if err := f.Check(s); err != nil {
		return nil, err
	}
	if f.BuildValueBits(s) > 0 {
		return nil, &filter.ConfigError{
			Field: "value_bits", Value: s, Reason: "the keys of a table come without values",
		}
	}
	return &Policy{MaxKeys: DefaultMaxKeys, Workers: 1, spec: s, build: withProbes(s), family: f}, nil
}

// withProbes adds the number of probes to a spec of family blocked with bits per key. It chooses the best number for a
// large table; in a table of 1000 keys, the rate is then 1% above the best rate. A search for the best number for each
// table would take as long as adding 30,000 keys.
func withProbes(s filter.Spec) filter.Spec {
	if s.Family() != blocked.Family || !family.Given(s, "bits_per_key") || family.GivenAny(s, []string{"k", "layout"}) {
		return s
	}

	c, err := blocked.ConfigFromSpec(s, 1<<20) // a table of a million keys
	if err != nil {
		return s
	}
	if _, k, err := c.Geometry(); err == nil {
		s = s.With("k", k)
	}
	return s
}

// Parse returns the Policy with this Name. It returns the errors of New; for a name without Prefix the error wraps
// filter.ErrSpec.
func Parse(name string) (*Policy, error) {
	spec, ok := strings.CutPrefix(name, Prefix)
	if !ok {
		return nil, fmt.Errorf("%w %q: want a name that begins with %s", filter.ErrSpec, name, Prefix)
	}
	return New(spec)
}

// Name returns Prefix and the spec in its canonical form. Parse(p.Name()) returns an equal Policy.
func (p *Policy) Name() string { return Prefix + p.spec.String() }

// smallSpec returns the family and spec for tables whose number of keys does not suit the spec of the Policy.
func (p *Policy) smallSpec() (families.Family, filter.Spec) {
	s := family.NewSpec(blocked.Family)
	for _, size := range []string{"bits_per_key", "fpr"} {
		if v := family.Reader(p.spec).Text(size, ""); v != "" {
			s = s.With(size, v)
		}
	}
	f, err := families.ByName(blocked.Family)
	if err != nil {
		panic(err) // the list has all families of names
	}
	return f, s
}
