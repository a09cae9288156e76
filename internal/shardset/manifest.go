package shardset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/shard"
)

// Clone returns a copy of a manifest that shares nothing with it.
func Clone(m *shard.Manifest) *shard.Manifest {
	c := *m
	c.Shards = slices.Clone(m.Shards)
	return &c
}

// EntryOf returns the entry of a filter with this Info. File, Bytes and SHA256 are not set.
func EntryOf(info filter.Info) shard.Entry {
	return shard.Entry{Keys: info.Keys, FPRPrior: Rate(info.FPRPrior), FPRPosterior: Rate(info.FPRPosterior)}
}

// Measure writes the file of a shard to w, and sets Bytes and SHA256 of its entry.
func Measure(e *shard.Entry, file io.WriterTo, w io.Writer) error {
	sum := sha256.New()
	n, err := file.WriteTo(io.MultiWriter(w, sum))
	e.Bytes = uint64(n)
	sum.Sum(e.SHA256[:0])
	return err
}

// CheckHeader returns an error wrapping shard.ErrForeign if the header of a file differs from the manifest for shard i
// in family, hash function, seed, check of the secret, form of keys, number of keys or length. The error is a *container.FormatError
// with the offset of the field.
func CheckHeader(m *shard.Manifest, i int, f *container.File) error {
	e := m.Shards[i]
	want := &container.File{Encoded: family.Encoded{Spec: m.Spec, Keys: e.Keys}, Hash: m.Hash, Seed: m.Seed,
		KeyCheck: m.KeyCheck, Form: m.Form, Bytes: e.Bytes}
	return f.CheckHeader(want, shard.ErrForeign)
}

// Rate rounds a rate to four significant digits, so that manifests from different processors have the same bytes.
func Rate(r float64) float64 { return roundDigits(r, 4) }

// PlannedRate returns the planned false-positive rate of a set, from the planned rates of its shards: their mean
// to three digits, or the rate itself if they are equal. It is 0 if a shard has none.
func PlannedRate(rates []float64) float64 {
	sum := 0.0
	for _, r := range rates {
		if r == 0 {
			return 0
		}
		sum += r
	}
	if distinct := slices.Compact(slices.Clone(rates)); len(distinct) == 1 {
		return distinct[0]
	}
	return roundDigits(sum/float64(max(len(rates), 1)), 3)
}

// roundDigits rounds a rate to a number of significant digits.
func roundDigits(r float64, digits int) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(r, 'g', digits, 64), 64) // a formatted number can be parsed
	return v
}

// Name returns the file name of a shard; see shard.ParseName. suffix may be empty.
func Name(s, shards int, suffix string) string {
	if suffix != "" {
		suffix = "." + suffix
	}
	return fmt.Sprintf("%05d-of-%05d%s.bloom", s, shards, suffix)
}

// HashName returns the file name of shard s with a suffix from the SHA-256 of its contents.
func HashName(s, shards int, sum [sha256.Size]byte) string {
	return Name(s, shards, hex.EncodeToString(sum[:6]))
}

// NewName returns the file name for new contents of shard s. If the folder has no old manifest with the same number of
// shards, the name is the plain Name. If it has, the name is the name in old for the same contents, and the HashName
// for other contents, so that readers of the old set keep their file.
func NewName(old *shard.Manifest, s, shards int, sum [sha256.Size]byte) string {
	switch {
	case old == nil || len(old.Shards) != shards:
		return Name(s, shards, "")
	case old.Shards[s].SHA256 == sum:
		return old.Shards[s].File
	}
	return HashName(s, shards, sum)
}

// IsName reports whether name is a Name of some shard of some set.
func IsName(name string) bool {
	_, _, ok := shard.ParseName(name)
	return ok
}

// OfSet reports whether name belongs to a shard or to a manifest.
func OfSet(name string) bool { return IsName(name) || name == shard.ManifestName }

// IsUnfinished reports whether name belongs to a shard, or to a temporary file of container.WriteAtomic for a shard or
// the manifest. A folder with only such files contains a set whose writer was killed before it wrote the manifest.
func IsUnfinished(name string) bool {
	if target, digits, ok := strings.Cut(strings.TrimPrefix(name, "."), ".tmp-"); ok && len(digits) == 16 {
		return OfSet(target)
	}
	return IsName(name)
}

// WorkPrefix is the first part of the name of the folder with the working files of a distributed build, which is in the
// folder of the set. The second part is the id of the plan, 32 hexadecimal digits.
const WorkPrefix = "work-"

const workDigits = 32

// WorkName returns the name of a working file of the plan with this id, or the prefix of all names if file is empty.
func WorkName(id, file string) string { return WorkPrefix + id + "/" + file }

// CutWork splits the slash-separated name of a working file, or of the folder of working files, into the id of the plan
// and the name in that folder. ok is false for other names.
func CutWork(name string) (id, file string, ok bool) {
	folder, file, _ := strings.Cut(name, "/")
	id, ok = strings.CutPrefix(folder, WorkPrefix)
	_, err := hex.DecodeString(id)
	return id, file, ok && err == nil && len(id) == workDigits
}
