package main

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/shard"
)

// sharded is the report of info about the shards of a set.
type sharded struct {
	Plan     string       `json:"plan"`
	Count    int          `json:"count"`
	Smallest shardEntry   `json:"smallest"` // by keys
	Largest  shardEntry   `json:"largest"`
	Shards   []shardEntry `json:"shards"`
}

type shardEntry struct {
	File         string  `json:"file"`
	Keys         uint64  `json:"keys"`
	Bytes        uint64  `json:"bytes"`
	SHA256       string  `json:"sha256"`
	FPRPrior     float64 `json:"fpr_prior"`
	FPRPosterior float64 `json:"fpr_posterior"`
}

func entryOf(e shard.Entry) shardEntry {
	return shardEntry{e.File, e.Keys, e.Bytes, hex.EncodeToString(e.SHA256[:]), e.FPRPrior, e.FPRPosterior}
}

// shardedOf describes the shards of a sharded set. It is nil for other sets.
func shardedOf(set *bloomery.Set) *sharded {
	m := set.Manifest()
	if m == nil {
		return nil
	}
	s := &sharded{Plan: m.ID(), Count: len(m.Shards)}
	for i, e := range m.Shards {
		one := entryOf(e)
		s.Shards = append(s.Shards, one)
		if i == 0 || one.Keys < s.Smallest.Keys {
			s.Smallest = one
		}
		if i == 0 || one.Keys > s.Largest.Keys {
			s.Largest = one
		}
	}
	return s
}

// write prints lines of the report of info.
func (s *sharded) write(w io.Writer) {
	fmt.Fprintf(w, "shards\t%d, plan %s\n", s.Count, s.Plan)
	for _, e := range []struct {
		name string
		shardEntry
	}{{"fewest keys", s.Smallest}, {"most keys", s.Largest}} {
		fmt.Fprintf(w, "%s\t%d, %s, false positive rate %.4g: %s\n",
			e.name, e.Keys, bytesText(e.Bytes), e.FPRPosterior, e.File)
	}
}
