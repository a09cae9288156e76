package bloomery_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// uncounted is a filter that must not be read for its name alone.
type uncounted struct{ family.Filter }

func (uncounted) Info() filter.Info { panic("Info counts all bits") }

func (uncounted) Encode() family.Encoded {
	return family.Encoded{Spec: family.NewSpec("uncounted", "m", 9)}
}

func TestErrorsDoNotCount(t *testing.T) {
	strange := bloomery.SetOf(uncounted{}, filter.NewHasher(0))
	if err := strange.Add([]byte("key")); !errors.Is(err, filter.ErrUnsupported) || !strings.Contains(err.Error(), "uncounted(m=9) does not") {
		t.Errorf("Add: %v", err)
	}
	for _, spec := range []string{"standard", "blocked"} {
		set, err := bloomery.New(bloomery.Config{Spec: spec, Keys: 10})
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Merge(strange); !errors.Is(err, filter.ErrMismatch) || !strings.Contains(err.Error(), "uncounted") {
			t.Errorf("%s: Merge: %v", spec, err)
		}
	}
}

// TestForeign builds filters of other systems and has them keep their keys through a file.
func TestForeign(t *testing.T) {
	keys := strings.Fields("one two three four a-key-that-is-longer-than-thirty-two-bytes-so-that-blocks-matter")
	for spec, hash := range map[string]filter.HashID{
		"guava": filter.Murmur3, "bitsandblooms": filter.Murmur3Twice,
		"redisbloom": filter.Murmur64A, "spark": filter.Murmur3x86, "blocked(layout=split)": filter.XXH64,
	} {
		set, err := bloomery.Build(t.Context(), slices.Values(keys), bloomery.Config{Spec: spec, Hash: hash})
		if err != nil {
			t.Fatal(err)
		}
		empty, err := bloomery.New(bloomery.Config{Spec: spec, Hash: hash, Keys: uint64(len(keys) + 1)})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*bloomery.Set{set, empty} {
			if err := s.Add(binary.LittleEndian.AppendUint64(nil, 77)); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		if _, err := set.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		again, err := bloomery.Read(&b)
		if err != nil || again.Hasher().ID() != hash || again.Info().Keys != uint64(len(keys)+1) {
			t.Fatalf("%s: %v", spec, err)
		}
		dst := make([]bool, len(keys))
		all := make([][]byte, len(keys))
		for i, k := range keys {
			all[i] = []byte(k)
		}
		bloomery.Keyed[[]byte](again).ContainsMany(dst, all)
		for i, k := range keys {
			if !dst[i] || !again.ContainsString(k) || !again.Contains([]byte(k)) || empty.ContainsString(k) {
				t.Errorf("%s: %s", spec, k)
			}
		}
		ints := bloomery.Keyed[uint64](again)
		if !ints.Contains(77) || ints.Contains(78) || !bloomery.Keyed[uint64](empty).Contains(77) {
			t.Errorf("%s: integers", spec)
		}
		if n := testing.AllocsPerRun(100, func() {
			if hash != filter.Murmur3Twice { // copies the key, since it calls through an interface
				again.Contains(all[0])
				again.ContainsString(keys[0])
				bloomery.Keyed[uint64](again).Contains(5)
			}
		}); n != 0 {
			t.Errorf("%s: asking allocates %v times", spec, n)
		}
	}
	secret := filter.NewSecret()
	for _, c := range []bloomery.Config{{Spec: "guava", Hash: filter.XXH64}, {Spec: "guava", Secret: secret}, {Spec: "standard", Hash: filter.XXH64},
		{Spec: "blocked", Hash: filter.XXH64}, {Spec: "blocked(layout=split)", Hash: filter.XXH64, Secret: secret}, {Spec: "guava", Hash: filter.XXH3}, {Spec: "standard", Hash: 99}} {
		c.Keys = 10
		if _, err := bloomery.New(c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestSetComeAndGo has keys come, carry values, and go, or be refused by families that cannot.
func TestSetComeAndGo(t *testing.T) {
	key := []byte("key")
	set, err := bloomery.New(bloomery.Config{Spec: "rankindexed(value_bits=4)", Keys: 100})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Put(key, 16); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("Put of five bits: %v", err)
	}
	if err := set.Put(key, 7); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("Put of an absent key: %v", err)
	}
	if err := errors.Join(set.AddValue(key, 5), set.Put(key, 7)); err != nil {
		t.Fatal(err)
	}
	trimmed, err := set.Trimmed()
	if err != nil {
		t.Fatal(err)
	}
	var full, sent bytes.Buffer
	if err := errors.Join(write(&full, set), write(&sent, trimmed)); err != nil || sent.Len() >= full.Len() {
		t.Errorf("%d bytes, trimmed %d: %v", full.Len(), sent.Len(), err)
	}
	back, err := bloomery.Read(&sent)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*bloomery.Set{set, back} {
		if v, ok, err := s.Get(key); v != 7 || !ok || err != nil {
			t.Errorf("Get: %d, %t, %v", v, ok, err)
		}
		if n, saturated, err := s.Count(key); n != 1 || saturated || err != nil {
			t.Errorf("Count: %d, %v", n, err)
		}
		if err := s.Remove(key); err != nil || s.Contains(key) {
			t.Errorf("Remove: %v", err)
		}
		if err := s.Remove(key); !errors.Is(err, filter.ErrNotFound) {
			t.Errorf("Remove of nothing: %v", err)
		}
		if _, ok, _ := s.Get(key); ok {
			t.Error("Get of nothing")
		}
	}
	plain, err := bloomery.New(bloomery.Config{Keys: 100})
	if err != nil {
		t.Fatal(err)
	}
	_, _, get := plain.Get(key)
	_, _, count := plain.Count(key)
	_, trim := plain.Trimmed()
	for what, err := range map[string]error{"Put": plain.Put(key, 1), "Get": get, "Count": count, "Remove": plain.Remove(key), "Trimmed": trim} {
		if !errors.Is(err, filter.ErrUnsupported) || !strings.Contains(err.Error(), "standard(k=7,m=960) does not ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func write(w io.Writer, s *bloomery.Set) error {
	_, err := s.WriteTo(w)
	return err
}
