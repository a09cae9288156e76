package exact

import (
	"context"
	"math"
	"testing"
)

// TestUniverse requires that the keys are distinct, and that each partition has its stated numbers of members and of
// other keys.
func TestUniverse(t *testing.T) {
	u := universe{[]partition{{10_000, 5000}, {3, 0}, {0, 0}, {7, 7}}, 5}
	seen, members := map[string]bool{}, 0
	err := u.batches(t.Context(), func(b *batch) error {
		for i, k := range b.keys {
			if seen[string(k)] || len(b.names) != len(b.keys) {
				t.Fatalf("key %x comes twice, or %d names of %d keys", k, len(b.names), len(b.keys))
			}
			seen[string(k)] = true
			if b.members {
				members++
			}
			if name := string(b.names[i]); b.members && name != "partition 0" && name != "partition 3" {
				t.Errorf("a member in %s", name)
			}
		}
		return nil
	})
	keys, want := u.count()
	if err != nil || len(seen) != keys || members != want || keys != 10_010 || want != 5007 {
		t.Errorf("%d keys, %d members, want %d and %d: %v", len(seen), members, keys, want, err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := u.batches(canceled, func(*batch) error { return nil }); err == nil {
		t.Error("a canceled context goes on")
	}
}

// TestRandomUniverse requires sizes and densities within their ranges.
func TestRandomUniverse(t *testing.T) {
	u := randomUniverse(1_000_000, 3)
	keys, _ := u.count()
	if len(u.partitions) != partitions || math.Abs(float64(keys)/1e6-1) > 0.001 {
		t.Errorf("%d keys in %d partitions", keys, len(u.partitions))
	}
	for i, p := range u.partitions {
		if p.members > int(0.6*float64(p.keys)+1) || i > 0 && p.keys > u.partitions[i-1].keys {
			t.Errorf("partition %d: %+v", i, p)
		}
	}
}

// TestBuild requires correct answers, and a size between the entropy and the size of a cascade of Bloom filters.
func TestBuild(t *testing.T) {
	u := randomUniverse(200_000, 1)
	for _, partitioned := range []bool{false, true} {
		o, err := u.build(t.Context(), partitioned)
		keys, members := u.count()
		if err != nil || o.wrong != 0 || o.info.Universe != uint64(keys) || o.info.Members != uint64(members) {
			t.Fatalf("%+v: %v", o, err)
		}
		if bits := o.info.BitsPerMember; bits*float64(members) < u.entropy() ||
			bits > bloomCascade(float64(keys), float64(members)) {
			t.Errorf("partitioned %v: %.3f bits per member", partitioned, bits)
		}
	}
}
