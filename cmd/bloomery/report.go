package main

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/shard"
	"github.com/bloomery/bloomery/window"
)

// report is the description of a file by info.
type report struct {
	filter.Info
	hasher   filter.Hasher
	file     bloomery.FileInfo
	distinct uint64 // estimated number of distinct keys, 0 unless it is less than Keys
	manifest *shard.Manifest
	window   *window.Info // of a filter of package window
	notes    []object     // about the keys of a build
}

func reportOf(set *bloomery.Set, file bloomery.FileInfo) report {
	i := set.Info()
	return report{Info: i, hasher: set.Hasher(), file: file, distinct: distinctOf(set, i), manifest: set.Manifest()}
}

// load returns Keys divided by Capacity, or 0 if there is no capacity.
func (r report) load() float64 {
	if r.Capacity == 0 {
		return 0
	}
	return float64(r.Keys) / float64(r.Capacity)
}

// room returns the number of keys that may be added before the capacity is reached, or 0 if there is no capacity.
// Slightly more may fit; the larger the filter, the fewer.
func (r report) room() uint64 { return max(r.Capacity, r.Keys) - r.Keys }

func (r report) json() object {
	var room *uint64
	if n := r.room(); r.Capacity > 0 {
		room = &n
	}
	form := ""
	if r.Form != (filter.KeyForm{}) {
		form = r.Form.String()
	}
	return object{
		{"family", r.Spec.Family()}, {"spec", r.Spec}, {"hash", r.hasher.ID().String()}, {"seed", r.hasher.Seed()},
		{"key_form,omitempty", form}, {"keys", r.Keys}, // a key that was added twice counts twice
		{"keys_distinct,omitempty", r.distinct},
		{"bits", r.Bits}, {"bits_per_key", r.BitsPerKey()},
		{"keys_late,omitempty", r.Late},
		{"capacity,omitempty", r.Capacity}, {"load,omitempty", r.load()}, {"room,omitempty", room},
		{"pools,omitempty", r.Pools},
		{"fill", r.Fill}, {"fill_searched,omitempty", r.FillSearched},
		{"fpr_prior", r.FPRPrior}, {"fpr_posterior", r.FPRPosterior}, {"fpr_planned,omitempty", r.FPRPlanned},
		{"fpr_exceeded", r.Exceeded()}, // the rate exceeds the planned one, or makes the filter useless
		{"file_bytes", r.file.Bytes},
		{"allowed,omitempty", r.Allowed}, {"exceptions,omitempty", r.Exceptions}, // --allow: keys, false positives
		{"exception_bits,omitempty", r.ExceptionBits}, // part of bits
		{"trimmed,omitempty", r.file.Trimmed}, {"format_version", container.Version},
		{"sharded,omitempty", shardsOf(r.manifest)}, {"window,omitempty", windowJSON(r.window)},
		{"notes,omitempty", r.notes},
	}
}

func (r report) MarshalJSON() ([]byte, error) { return r.json().MarshalJSON() }

// distinctOf returns the estimated number of distinct keys of a set if it is clearly below the number of keys, as after
// the merge of filters with common keys; else 0. It returns 0 for sharded sets, of which it would have to read all
// shards.
func distinctOf(set *bloomery.Set, i filter.Info) uint64 {
	if set.Manifest() != nil || i.FPRPosterior >= 0.9*i.FPRPrior {
		return 0
	}
	e, err := set.EstimateInterval()
	if err != nil || !(e.High < float64(i.Keys)) {
		return 0
	}
	return uint64(math.Round(e.Keys))
}

func (a *app) describe(path string) (report, error) {
	set, err := a.open(path)
	if isWindow(path, err) {
		return a.describeWindow(path)
	}
	if err != nil {
		return report{}, err
	}
	defer set.Close()
	r := reportOf(set, set.FileInfo())
	return r, set.Err()
}

// written returns the report of a set that was just written to a file.
func written(set *bloomery.Set, path string) (report, error) {
	bytes, err := writtenBytes(set, path)
	if err != nil {
		return report{}, err
	}
	return reportOf(set, bloomery.FileInfo{Bytes: bytes}), nil
}

// writtenBytes returns the length of the file at path, of all its shards, or for "-" of the set written to standard
// output.
func writtenBytes(set *bloomery.Set, path string) (uint64, error) {
	switch {
	case set.Manifest() != nil:
		return set.FileInfo().Bytes, nil
	case path == stdio:
		n, err := set.WriteTo(io.Discard) // to count: the output may be a pipe
		return uint64(n), err
	}
	return fileSize(path)
}

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
	a.warnRate(path, r.Info)
	keys := fmt.Sprintf("%d keys", r.Keys)
	if r.distinct > 0 {
		keys = fmt.Sprintf("about %d distinct keys, added %d times", r.distinct, r.Keys)
	}
	return a.report(r, "%s: %s, false-positive rate %s", pathName(path), keys, stat.Percent(r.FPRPosterior))
}

// shardsOf describes the shards of a sharded set, or returns nil if m is nil.
func shardsOf(m *shard.Manifest) *object {
	if m == nil {
		return nil
	}
	var all []object
	for _, e := range m.Shards {
		all = append(all, entryOf(e))
	}
	few, many := fewestAndMost(m)
	return &object{{"plan", m.ID()}, {"count", len(m.Shards)},
		{"smallest", entryOf(few)}, {"largest", entryOf(many)},
		{"shards", all}}
}

func entryOf(e shard.Entry) object {
	return object{{"file", e.File}, {"keys", e.Keys}, {"bytes", e.Bytes}, {"sha256", hex.EncodeToString(e.SHA256[:])},
		{"fpr_prior", e.FPRPrior}, {"fpr_posterior", e.FPRPosterior}}
}

// fewestAndMost returns the shards with the fewest and the most keys.
func fewestAndMost(m *shard.Manifest) (few, many shard.Entry) {
	byKeys := func(a, b shard.Entry) int { return cmp.Compare(a.Keys, b.Keys) }
	return slices.MinFunc(m.Shards, byKeys), slices.MaxFunc(m.Shards, byKeys)
}
