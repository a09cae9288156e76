package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
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

// keysText says how many keys there are, and how many of them are distinct if that is less.
func (r report) keysText() string {
	if r.Distinct == 0 {
		return fmt.Sprintf("%d keys", r.Keys)
	}
	return fmt.Sprintf("about %d distinct keys, added %d times", r.Distinct, r.Keys)
}

// written returns the report of a set that was just written to a file.
func written(set *bloomery.Set, path string) (report, error) {
	bytes, err := writtenBytes(set, path)
	if err != nil {
		return report{}, err
	}
	file := container.File{FPRChosen: set.FPRChosen()}
	r := reportOf(set, bloomery.Stored{Bytes: bytes})
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
	return a.report(r, "%s: %s, false positive rate %.4g", pathName(path), r.keysText(), r.FPRPosterior)
}

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE...",
		Short: "Describe filter files",
		Long: `Describe a filter file, after verifying all of its checksums. Several files make a table with a line for
each, and with --json an array. A file that cannot be read does not hide the others; the exit code is then 2.
One of them may be -, standard input.

FILE may be the folder of a sharded set. Then sizes and headers of its shards are verified, and bloomery verify checks
their contents; the numbers are sums, and the rates means over the shards. --json lists all shards.`,
		Example: `  bloomery info blocked.bloom --json
  bloomery info monday.bloom tuesday.bloom
  bloomery build -o - words.txt | bloomery info -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return a.infoTable(args)
			}
			r, err := a.describe(args[0])
			if err != nil {
				return err
			}
			a.warnRate(args[0], r.info)
			if a.json {
				return a.printJSON(r)
			}
			return r.write(a.stdout)
		},
	}
}

// write prints the report as text.
func (r report) write(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "spec\t%s\n", r.Spec)
	if r.foreign {
		fmt.Fprintf(w, "hash\t%s, that of another system\n", r.Hash)
	} else {
		fmt.Fprintf(w, "hash\t%s, seed %d\n", r.Hash, r.Seed)
	}
	if r.Distinct > 0 {
		fmt.Fprintf(w, "keys\t%d, about %d of them distinct\n", r.Keys, r.Distinct)
	} else {
		fmt.Fprintf(w, "keys\t%d\n", r.Keys)
	}
	fmt.Fprintf(w, "bits\t%d (%.4g a key)\n", r.Bits, r.BitsPerKey)
	if r.Capacity > 0 {
		fmt.Fprintf(w, "capacity\t%d (load %.4f)\n", r.Capacity, r.Load)
		fmt.Fprintf(w, "room left\t%d keys\n", *r.Room)
	}
	for level, p := range r.Pools {
		fmt.Fprintf(w, "extensions %d\t%d of %d in use\n", level+2, p.Used, p.Size)
	}
	if r.ExceptionBits > 0 {
		fmt.Fprintf(w, "exceptions\t%s\n", exceptionsText(r.info))
	}
	if r.Sharded == nil {
		fmt.Fprintf(w, "fill\t%.4f\n", r.Fill)
	}
	if r.Late > 0 {
		fmt.Fprintf(w, "\t%.4f after the search; %d keys came later: see bloomery optimize\n", r.FillSearched, r.Late)
	}
	prior := "predicted"
	if f, err := families.ByName(r.Family); err == nil && f.Can.Has(filter.CanSearch) {
		prior = "before the search"
	}
	if r.info.ValuesOnly() {
		fmt.Fprintln(w, "false positive rate\tnone: values without fingerprints; every key seems to be present")
	} else if r.FPRPosterior == r.lowest && r.Keys > 0 {
		const text = "false positive rate\t%.4g, that of equal hashes: no filter with this hash has a lower one\n"
		fmt.Fprintf(w, text, r.lowest)
	} else {
		fmt.Fprintf(w, "false positive rate\t%.4g from the bits that are set (%.4g %s)\n", r.FPRPosterior, r.FPRPrior, prior)
	}
	if r.FPRChosen > 0 {
		state := map[bool]string{false: "kept", true: "EXCEEDED"}[r.FPRExceeded]
		fmt.Fprintf(w, "chosen rate\t%.4g, %s\n", r.FPRChosen, state)
	}
	form := ""
	if r.Trimmed {
		form = ", trimmed"
	}
	if r.Sharded != nil {
		r.Sharded.write(w)
	}
	fmt.Fprintf(w, "file\t%s, format %d%s\n", bytesText(r.FileBytes), r.FormatVersion, form)
	return w.Flush()
}
