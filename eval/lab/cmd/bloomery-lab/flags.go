package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/eval/lab"
	"github.com/bloomery/bloomery/internal/cli"
)

// runFlags are the flags of running experiments.
type runFlags struct {
	config lab.Config
}

func (f *runFlags) register(c *cobra.Command) {
	c.Flags().IntVar(&f.config.Trials, "trials", 0, "sets of keys (default: what the experiment says)")
	c.Flags().Uint64Var(&f.config.Seed, "seed", 1, "seed of the keys")
	c.Flags().BoolVar(&f.config.Quick, "quick", false, "fewer keys and trials, to see that it works")
	c.Flags().BoolVar(&f.config.Full, "full", false, "larger sets of keys too, in experiments that have them: minutes")
	c.Flags().StringVar(&f.config.Trace, "trace", "",
		"`file` of requests, one key a line, for experiments that replay them (default: those parts are left out)")
	c.Flags().StringVar(&f.config.Packets, "packets", "",
		"pcap or pcapng `file`, for experiments that use payloads as keys (default: packets that come with the lab)")
}

// read returns the configuration, after checking that its files can be read.
func (f *runFlags) read(c *cobra.Command) (lab.Config, error) {
	if c.Flags().Changed("trials") && f.config.Trials < 1 {
		return f.config, fmt.Errorf("--trials %d: want at least one", f.config.Trials)
	}
	if f.config.Quick && f.config.Full {
		return f.config, errors.New("--quick and --full exclude each other")
	}
	for _, input := range []struct{ flag, path string }{{"trace", f.config.Trace}, {"packets", f.config.Packets}} {
		if !c.Flags().Changed(input.flag) {
			continue
		}
		if input.path == "" {
			return f.config, fmt.Errorf("--%s: name a file", input.flag)
		}
		if err := cli.Readable(input.path); err != nil {
			return f.config, fmt.Errorf("--%s: %w", input.flag, err)
		}
	}
	return f.config, nil
}

// completeExperiments completes the names of experiments that are not yet on the command line.
func completeExperiments(
	_ *cobra.Command, named []string, _ string,
) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, e := range lab.Experiments() {
		if !slices.Contains(named, e.Name) {
			names = append(names, cobra.CompletionWithDesc(e.Name, e.Varies))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
