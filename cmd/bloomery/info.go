package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
)

// report is what info says of a file.
type report struct {
	Family        string        `json:"family"`
	Spec          filter.Spec   `json:"spec"`
	Hash          string        `json:"hash"`
	Seed          uint64        `json:"seed"`
	Keys          uint64        `json:"keys"`
	Bits          uint64        `json:"bits"`
	BitsPerKey    float64       `json:"bits_per_key"`
	Late          uint64        `json:"keys_late,omitempty"`
	Capacity      uint64        `json:"capacity,omitempty"`
	Load          float64       `json:"load,omitempty"`
	Pools         []filter.Pool `json:"pools,omitempty"`
	Fill          float64       `json:"fill"`
	FillSearched  float64       `json:"fill_searched,omitempty"`
	FPRPrior      float64       `json:"fpr_prior"`
	FPRPosterior  float64       `json:"fpr_posterior"`
	FileBytes     uint64        `json:"file_bytes"`
	Trimmed       bool          `json:"trimmed,omitempty"`
	FormatVersion uint16        `json:"format_version"`
	foreign       bool
}

// report opens a file and describes it.
func (a *app) report(path string) (report, error) {
	o, err := a.options()
	if err != nil {
		return report{}, err
	}
	s, unmap, err := container.Open(path, o)
	if err != nil {
		return report{}, err
	}
	defer unmap()
	i := s.Filter.Info()
	return report{
		Family: i.Spec.Family(), Spec: i.Spec, Hash: s.Hasher.ID().String(), Seed: s.Hasher.Seed(), Keys: i.Keys, Bits: i.Bits,
		BitsPerKey: i.BitsPerKey(), Late: i.Late, Capacity: i.Capacity, Load: i.Load(), Pools: i.Pools, Fill: i.Fill, FillSearched: i.FillSearched, FPRPrior: i.FPRPrior, FPRPosterior: i.FPRPosterior,
		FileBytes: s.FileBytes, Trimmed: s.Trimmed, FormatVersion: s.Version, foreign: s.Hasher.ID().Foreign(),
	}, nil
}

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "info FILE",
		Short:   "Describe a filter file",
		Long:    "Describe a filter file, after verifying all of its checksums.",
		Example: "  bloomery info blocked.bloom --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.report(args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(r)
			}
			prior := "predicted"
			if f, err := families.ByName(r.Family); err == nil && f.Can.Has(filter.CanSearch) {
				prior = "before the search"
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintf(w, "spec\t%s\n", r.Spec)
			if r.foreign {
				fmt.Fprintf(w, "hash\t%s, that of another system\n", r.Hash)
			} else {
				fmt.Fprintf(w, "hash\t%s, seed %d\n", r.Hash, r.Seed)
			}
			fmt.Fprintf(w, "keys\t%d\n", r.Keys)
			fmt.Fprintf(w, "bits\t%d (%.4g a key)\n", r.Bits, r.BitsPerKey)
			if r.Capacity > 0 {
				fmt.Fprintf(w, "capacity\t%d (load %.4f)\n", r.Capacity, r.Load)
			}
			for level, p := range r.Pools {
				fmt.Fprintf(w, "extensions %d\t%d of %d in use\n", level+2, p.Used, p.Size)
			}
			fmt.Fprintf(w, "fill\t%.4f\n", r.Fill)
			if r.Late > 0 {
				fmt.Fprintf(w, "\t%.4f after the search; %d keys came later: see bloomery optimize\n", r.FillSearched, r.Late)
			}
			fmt.Fprintf(w, "false positive rate\t%.4g from the bits that are set (%.4g %s)\n", r.FPRPosterior, r.FPRPrior, prior)
			form := ""
			if r.Trimmed {
				form = ", trimmed"
			}
			fmt.Fprintf(w, "file\t%s, format %d%s\n", bytesText(r.FileBytes), r.FormatVersion, form)
			return w.Flush()
		},
	}
}
