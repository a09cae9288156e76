package bloomery_test

import (
	"testing"

	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestFileBytes holds what each family says about the bytes of a file besides the filter against files.
func TestFileBytes(t *testing.T) {
	for _, f := range families.All() {
		for _, form := range f.Forms {
			for _, n := range []int{1, 100, 3000} {
				b, err := f.NewBuilder(form.Spec.With("fpr", 0.01), uint64(n))
				if err != nil {
					t.Fatal(err)
				}
				hs := filtertest.Hashes(n, 1)
				if v, ok := b.(family.ValueBuilder); ok && family.Given(form.Spec, "value_bits") {
					err = v.AddValues(hs, make([]uint64, n))
				} else {
					err = b.AddMany(hs)
				}
				if err != nil {
					t.Fatal(err)
				}
				made, err := b.Build(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				e := made.(family.Encoder).Encode()
				bytes, err := container.Len(&container.File{Family: f.ID, Encoded: e})
				if err != nil {
					t.Fatal(err)
				}
				if more := int(bytes - (made.Info().Bits+7)/8); more < int(f.FileBytes)-128 || more > int(f.FileBytes)+160 {
					t.Errorf("%s, %d keys: %d bytes besides the filter, the family says %d", form.Spec, n, more, f.FileBytes)
				}
			}
		}
	}
}
