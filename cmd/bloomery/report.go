package main

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// report is the output of info about a file.
type report struct {
	Family        string        `json:"family"`
	Spec          filter.Spec   `json:"spec"`
	Hash          string        `json:"hash"`
	Seed          uint64        `json:"seed"`
	Keys          uint64        `json:"keys"`                    // a key that was added twice counts twice
	Distinct      uint64        `json:"keys_distinct,omitempty"` // estimated; absent unless it is less than keys
	Bits          uint64        `json:"bits"`
	BitsPerKey    float64       `json:"bits_per_key"`
	Late          uint64        `json:"keys_late,omitempty"`
	Capacity      uint64        `json:"capacity,omitempty"`
	Load          float64       `json:"load,omitempty"`
	Room          *uint64       `json:"room,omitempty"` // keys until the capacity; absent without a capacity
	Pools         []filter.Pool `json:"pools,omitempty"`
	Fill          float64       `json:"fill"`
	FillSearched  float64       `json:"fill_searched,omitempty"`
	FPRPrior      float64       `json:"fpr_prior"`
	FPRPosterior  float64       `json:"fpr_posterior"`
	FPRChosen     float64       `json:"fpr_chosen,omitempty"`
	FPRExceeded   bool          `json:"fpr_exceeded"` // the rate has left the chosen one, or is useless
	FileBytes     uint64        `json:"file_bytes"`
	Allowed       uint64        `json:"allowed,omitempty"` // keys of --allow
	Exceptions    uint64        `json:"exceptions,omitempty"`
	ExceptionBits uint64        `json:"exception_bits,omitempty"` // part of bits; absent without --allow
	Trimmed       bool          `json:"trimmed,omitempty"`
	FormatVersion uint16        `json:"format_version"`
	Sharded       *sharded      `json:"sharded,omitempty"`
	foreign       bool
	lowest        float64 // the rate at which an absent key has the hash of one of the keys
	info          filter.Info
}

// reportOf describes a set and its file.
func reportOf(set *bloomery.Set, file bloomery.Stored) report {
	i, h := set.Info(), set.Hasher()
	r := report{
		Family: i.Spec.Family(), Spec: i.Spec, Hash: h.ID().String(), Seed: h.Seed(), Keys: i.Keys, Bits: i.Bits,
		BitsPerKey: i.BitsPerKey(), Late: i.Late, Capacity: i.Capacity, Load: i.Load(), Pools: i.Pools,
		Fill: i.Fill, FillSearched: i.FillSearched, FPRPrior: i.FPRPrior, FPRPosterior: i.FPRPosterior,
		FPRChosen: i.FPRChosen, FPRExceeded: i.Exceeded(),
		Allowed: i.Allowed, Exceptions: i.Exceptions, ExceptionBits: i.ExceptionBits,
		FileBytes: file.Bytes, Trimmed: file.Trimmed, FormatVersion: file.Version, foreign: h.ID().Foreign(),
		lowest: h.ID().LowestRate(i.Keys), info: i, Sharded: shardedOf(set),
	}
	if room := i.Room(); i.Capacity > 0 {
		r.Room = &room
	}
	r.Distinct = distinctOf(set, i)
	return r
}

// distinctOf returns about how many distinct keys a set holds if its bits say that they are less than its keys, as
// after the merge of filters with common keys. Else it returns 0. For sharded sets it would have to read all shards.
func distinctOf(set *bloomery.Set, i filter.Info) uint64 {
	if set.Manifest() != nil || i.FPRPosterior >= 0.9*i.FPRPrior {
		return 0
	}
	e, err := set.EstimateInterval()
	if err != nil || e.Counted || !(e.High < float64(i.Keys)) {
		return 0
	}
	return uint64(math.Round(e.Keys))
}

// describe returns the report of a file.
func (a *app) describe(path string) (report, error) {
	set, err := a.open(path)
	if err != nil {
		return report{}, err
	}
	defer set.Close()
	r := reportOf(set, set.Stored())
	return r, set.Err()
}

// written returns the report of a set that was just written to a file.
func written(set *bloomery.Set, path string) (report, error) {
	bytes, err := writtenBytes(set, path)
	if err != nil {
		return report{}, err
	}
	r := reportOf(set, bloomery.Stored{Bytes: bytes})
	file := container.File{FPRChosen: set.FPRChosen()}
	if r.ExceptionBits > 0 {
		file.Exceptions = []uint64{}
	}
	r.FormatVersion = file.FormatVersion()
	if of := set.Stored(); of.Shards > 0 {
		r.FormatVersion = of.Version
	}
	return r, nil
}

// writtenBytes returns the length of the file at path, of all shards, or for "-" of the set that went to standard
// output.
func writtenBytes(set *bloomery.Set, path string) (uint64, error) {
	switch {
	case set.Manifest() != nil:
		return set.Stored().Bytes, nil
	case path == stdio:
		return set.EncodedLen()
	}
	return fileSize(path)
}

// fileSize returns the length of a file.
func fileSize(path string) (uint64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return uint64(st.Size()), nil
}

// printKeys prints the number of keys in a file after a change, and the false-positive rate.
func (a *app) printKeys(set *bloomery.Set, path string) error {
	r, err := written(set, path)
	if err != nil {
		return err
	}
	a.warnRate(path, r.info)
	keys := fmt.Sprintf("%d keys", r.Keys)
	if r.Distinct > 0 {
		keys = fmt.Sprintf("about %d distinct keys, added %d times", r.Distinct, r.Keys)
	}
	return a.report(r, "%s: %s, false positive rate %.4g", pathName(path), keys, r.FPRPosterior)
}

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
	for _, e := range m.Shards {
		s.Shards = append(s.Shards, entryOf(e))
	}
	byKeys := func(a, b shardEntry) int { return cmp.Compare(a.Keys, b.Keys) }
	s.Smallest, s.Largest = slices.MinFunc(s.Shards, byKeys), slices.MaxFunc(s.Shards, byKeys)
	return s
}
