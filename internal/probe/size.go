package probe

import (
	"cmp"
	"fmt"
	"math"
	"sort"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// MaxK is the largest number of probes per key. It is optimal up to 92 places per key.
const MaxK = 64

// DefaultFPR is the target false-positive rate of a filter without a size.
const DefaultFPR = 0.01

// FPR returns p_b = (1-(1-1/m)^(kn))^k, the predicted false-positive rate of a filter of m places after n distinct keys
// with k probes each. The formula treats the places as independent, so the result is too low for few keys (Bose et al.,
// 2008): see scatter. The posterior rate does not have this error. m and k must be at least 1.
func FPR(n, m uint64, k int) float64 {
	empty := float64(k) * float64(n) * math.Log1p(-1/float64(m))
	if m == 1 && n > 0 { // empty is -Inf
		return 1
	}
	return math.Pow(-math.Expm1(empty), float64(k))
}

// OptimalK returns the number of probes in [1, MaxK] that minimises FPR(n, m, k). It is next to ln 2 · m/n.
func OptimalK(n, m uint64) int {
	if n == 0 {
		return 1
	}
	k := max(1, int(min(MaxK, math.Ln2*float64(m)/float64(n))))
	if k < MaxK && FPR(n, m, k+1) < FPR(n, m, k) {
		k++
	}
	return k
}

// placesForFPR returns the real number m for which FPR(n, m, k) = p.
func placesForFPR(n uint64, p float64, k int) float64 {
	full := math.Pow(p, 1/float64(k))
	return -1 / math.Expm1(math.Log1p(-full)/(float64(k)*float64(n)))
}

// fewestPlaces returns the smallest number of places that keeps the rate p for n keys, and its k.
func fewestPlaces(n uint64, p float64) (places float64, k int) {
	places = math.Inf(1)
	for try := 1; try <= MaxK; try++ {
		if b := placesForFPR(n, p, try); b < places {
			places, k = b, try
		}
	}
	return places, k
}

// scatter returns the ratio of the mean rate of a filter to the rate at the mean number of set places. The number of
// places that few keys set varies, and the rate is the k-th power of the share of set places, so the mean rate is above
// the power of the mean: by 2% at k = n/5 and 5% at k = n/2. The second-order formula uses the variance of the number
// of places that kn random probes leave empty.
func scatter(n uint64, m float64, k int) float64 {
	load := float64(k) * float64(n) / m
	empty := math.Exp(-load)
	variance := empty * (1 - (1+load)*empty) / m
	return math.Exp(float64(k) * float64(k-1) / 2 * variance / ((1 - empty) * (1 - empty)))
}

// noScatter is the largest scatter that sizes ignore, half of the excess that filter.Info.Exceeded ignores.
const noScatter = 1.05

// fewKeys returns the smallest number of places whose mean rate is p, and the best k, for so few keys that scatter
// matters. If k is not 0, best is k.
func fewKeys(n uint64, p float64, k int) (places float64, best int) {
	places = math.Inf(1)
	for try := max(k, 1); try <= MaxK && (k == 0 || try == k); try++ {
		least := uint64(math.Ceil(placesForFPR(n, p, try)))
		if float64(least) >= places {
			continue // more places than with another k, even without scatter
		}
		more := sort.Search(int(9*least), func(i int) bool {
			m := least + uint64(i)
			return FPR(n, m, try)*scatter(n, float64(m), try) <= p
		})
		if m := float64(least + uint64(more)); m < places {
			places, best = m, try
		}
	}
	return places, best
}

// Config describes a filter of m places of Width bits in which each key probes k places. Fields may be left open.
type Config struct {
	Keys  uint64        // number of distinct keys to be added
	Size  family.Sizing // size in bits, Width per place; default: FPR = DefaultFPR
	M     uint64        // number of places, instead of Size
	K     int           // probes per key, at most MaxK; default: optimal for Keys and M
	MaxK  int           // default: the constant MaxK
	Width uint64        // bits of a place, at least 1
	// Scatter makes a size for an FPR include the scatter of few keys, not only the mean number of set places.
	Scatter bool
}

// Resolve returns m and k. For an FPR it returns the smallest number of places that keeps it. Errors wrap
// filter.ErrConfig, or filter.ErrTooLarge from 2^62 bits on.
func (s Config) Resolve() (m uint64, k int, err error) {
	if s.M != 0 && s.K != 0 {
		return s.Fixed()
	}

	if err := s.validate(); err != nil {
		return 0, 0, err
	}

	m, k, n := s.M, s.K, max(s.Keys, 1)
	switch {
	case m != 0:
	case s.Size.BitsPerKey != 0 || s.Size.Bytes != 0:
		m, err = s.Size.Bits(n)
		m /= s.Width
	default:
		p := cmp.Or(s.Size.FPR, DefaultFPR)
		var real float64
		if k == 0 {
			real, k = fewestPlaces(n, p)
		} else {
			real = placesForFPR(n, p, k)
		}
		if s.Scatter && scatter(n, real, k) > noScatter {
			real, k = fewKeys(n, p, s.K)
		}
		m, err = family.BitsFor(real)
	}

	if err == nil {
		err = s.checkPlaces(m)
	}
	if err != nil {
		return 0, 0, err
	}

	if m = max(m, 1); k == 0 {
		k = OptimalK(n, m)
	}
	return m, k, nil
}

// Fixed is Resolve with M and K, as in the Spec of a built filter. It uses no formula.
func (s Config) Fixed() (m uint64, k int, err error) {
	if err := s.validate(); err != nil {
		return 0, 0, err
	}
	if err := s.checkPlaces(s.M); err != nil {
		return 0, 0, err
	}
	return s.M, s.K, nil
}

// validate returns an error if a field is out of range or contradicts another one.
func (s Config) validate() error {
	if err := s.Size.Check(); err != nil {
		return err
	}
	if most := cmp.Or(s.MaxK, MaxK); s.K < 0 || s.K > most {
		return family.Invalid("k", s.K, "want 1 to %d", most)
	}
	if s.M != 0 && !s.Size.IsZero() {
		return family.Invalid("m", s.M, "give m or one of bits_per_key, fpr and bytes")
	}
	return nil
}

// checkPlaces returns an error if m places are too many.
func (s Config) checkPlaces(m uint64) error {
	if m >= 1<<62/s.Width {
		return fmt.Errorf("m=%d: %w", m, filter.ErrTooLarge)
	}
	return nil
}

// Info describes a filter with this Spec and M places, of which Keys keys use used places. The posterior rate follows
// from the used places, so it includes, for example, stuck counters of removed keys; the prior rate does not.
func (s Config) Info(spec filter.Spec, used uint64) filter.Info {
	fill := float64(used) / float64(s.M)
	return filter.Info{
		Spec: spec, Keys: s.Keys, Bits: s.M * s.Width, Fill: fill,
		FPRPrior: FPR(s.Keys, s.M, s.K), FPRPosterior: math.Pow(fill, float64(s.K)),
	}
}

// ReadConfig reads the parameters bits_per_key, fpr, bytes, capacity, m and k of a Spec. Keys becomes the larger one of
// capacity and keys.
func ReadConfig(r *family.SpecReader, keys uint64, maxK int, width uint64) Config {
	return Config{
		Keys: max(keys, r.Uint("capacity")), Size: family.ReadSizing(r), M: r.Count("m", math.MaxUint64),
		K: int(r.Count("k", uint64(maxK))), MaxK: maxK, Width: width,
	}
}

// Built reads the canonical Spec of a built filter, FAMILY(k=,m=). It returns an error for any other Spec.
func Built(s filter.Spec, width uint64) (Config, error) {
	r := family.Reader(s)
	c := ReadConfig(r, 0, MaxK, width)
	if err := r.Err(); err != nil {
		return c, err
	}
	return c, c.CheckBuilt(s, "")
}

// CheckBuilt returns an error unless c is the Config of s, and s the canonical Spec of a built filter: FAMILY(k=,m=),
// with the parameters of more.
func (s Config) CheckBuilt(spec filter.Spec, more string) error {
	if s.M == 0 || s.K == 0 || !s.Size.IsZero() || family.Given(spec, "capacity") {
		return family.Invalid("spec", spec, "want %s(k=,m=%s)", spec.Family(), more)
	}
	_, _, err := s.Fixed()
	return err
}
