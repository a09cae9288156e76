package ribbon

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestBytes holds filters against digests of the filters that the first version built, which inserted the equations of
// a bucket from the last start to the first. With one column, many equations follow from others and agree with them: if
// some keys have a second column, the order decides its bits.
func TestBytes(t *testing.T) {
	t.Parallel()
	const few = 3 // filters of the first digest, the only one with -short
	for spec, want := range map[string][2]string{
		"ribbon(r=8)":                            {"c52d2bfa78c4027d", "16f723c53dbfc39e"},
		"ribbon(r=1)":                            {"35ab344e6bb1aaeb", "7775b26e0bdffffc"},
		"ribbon(r=1,wide=1)":                     {"b0f4332bcc7885a5", "afeae04af5dd4c2a"},
		"ribbon(r=1,wide=77)":                    {"39a24a2ccf57ca87", "cc8cc2f194174c1a"},
		"ribbon(r=1,wide=300)":                   {"31c4e17234b7ec2c", "4919f1adfe3f8033"},
		"ribbon(r=2,wide=1000)":                  {"950ec74bbdd818ae", "c8f6a7a3dce4a566"},
		"ribbon(r=1,w=128,wide=511,seed=2)":      {"420eb6cb3e9db44b", "33c11859a6d9798e"},
		"ribbon(r=0,value_bits=1)":               {"8800b34aaa318fda", "210e1a1b03a44688"},
		"ribbon(r=4,value_bits=3,w=128,seed=17)": {"a55c054b09ceb781", "14dddad11598e4c0"},
	} {
		h := sha256.New()
		for i := range 60 {
			if i == few {
				if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != want[0] {
					t.Errorf("%s, %d filters: %s, want %s", spec, few, got, want[0])
				}
				if testing.Short() {
					break
				}
			}
			n := []int{300, 1000, 5000, 20_000}[i%4]
			if i == 3 {
				n = 280_000 // two segments
			}
			b := builder(t, spec, n)
			hs := filtertest.Hashes(n, uint64(i))
			var err error
			if b.c.ValueBits == 0 {
				err = b.AddMany(hs)
			} else {
				values := make([]uint64, n)
				for j, h := range hs {
					values[j] = h.Hi >> (64 - b.c.ValueBits)
				}
				err = b.AddValues(hs, values)
			}
			if err != nil {
				t.Fatal(err)
			}
			f := finish(t, b)
			fmt.Fprintln(h, f.spec())
			for _, words := range f.Encode().Sections {
				if err := binary.Write(h, binary.LittleEndian, words); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); !testing.Short() && got != want[1] {
			t.Errorf("%s: %s, want %s", spec, got, want[1])
		}
	}
}
