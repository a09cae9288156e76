package shardset_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/shardfile"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// TestManifest holds ID to the plan in the file, and tells seeds and secrets apart by Matches.
func TestManifest(t *testing.T) {
	secret, other := filter.NewKeyedHasher([filter.SecretSize]byte{1}), filter.NewKeyedHasher([filter.SecretSize]byte{2})
	m := &shard.Manifest{Spec: family.NewSpec("fuse"), Hash: filter.XXH3, Seed: math.MaxUint64}
	m.Shards = []shard.Entry{{File: shardfile.Name(0, 1, ""), Keys: 1000, Bytes: 1472}}
	keyed := shardset.Clone(m)
	keyed.Hash, keyed.Seed, keyed.KeyCheck = filter.SipHash, 0, secret.KeyCheck()
	for _, m := range []*shard.Manifest{m, keyed} {
		var b bytes.Buffer
		if _, err := m.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		if want := `"plan": "` + m.ID() + `"`; !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, &b)
		}
		back, err := shard.ReadManifest(&b)
		if err != nil || back.ID() != m.ID() {
			t.Errorf("plan %s, read %s, %v", m.ID(), back.ID(), err)
		}
		for h, want := range map[filter.Hasher]bool{
			filter.NewHasher(math.MaxUint64): m.Hash == filter.XXH3, filter.NewHasher(1): false,
			secret: m.Hash == filter.SipHash, other: false,
		} {
			if got := shardset.Matches(m, h); got != want {
				t.Errorf("hash %s, %s: %t", m.Hash, h.ID(), got)
			}
		}
	}
	if m.ID() == keyed.ID() {
		t.Error("one id of two plans")
	}
}
