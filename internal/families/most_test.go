package families

import (
	"errors"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// TestSizeAsAsked: no form of a family makes a filter that is much smaller than was asked for. A size that it cannot
// use is an error.
func TestSizeAsAsked(t *testing.T) {
	for _, f := range All() {
		specs := []filter.Spec{family.NewSpec(f.Name)}
		for _, form := range f.Forms {
			specs = append(specs, form.Spec)
		}
		for _, s := range specs {
			for _, n := range []uint64{1, 10, 1000, 50_000} {
				for _, perKey := range []float64{33, 48, 80, 200, 4096} {
					asked := perKey * float64(n)
					for _, s := range []filter.Spec{s.With("bits_per_key", perKey), s.With("bytes", uint64(asked/8))} {
						bits, _, err := f.Forecast(s, n)
						switch {
						case err != nil && !errors.Is(err, filter.ErrConfig):
							t.Errorf("%s, %d keys: %v", s, n, err)
						case err == nil && float64(bits) < asked*0.9-1024: // whole blocks of two cache lines
							t.Errorf("%s, %d keys: %d bits, %.4g a key", s, n, bits, float64(bits)/float64(n))
						}
					}
				}
			}
		}
	}
}
