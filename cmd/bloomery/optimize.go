package main

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
)

// optimized is what optimize reports.
type optimized struct {
	Before report `json:"before"`
	After  report `json:"after"`
	Read   uint64 `json:"lines_read"`
	New    uint64 `json:"lines_new"` // those whose key the filter did not know before
}

func (a *app) optimizeCommand() *cobra.Command {
	var (
		in     inputFlags
		effort effortFlags
		memory memoryFlags
		keys   []string
		output string
		force  bool
	)
	c := &cobra.Command{
		Use:   "optimize FILE --keys KEYS",
		Short: "Search on for better hash functions, after keys were added or removed",
		Long: `Continue the search of a partitioned, blockpartitioned or twochoice filter from where it stands, for all keys in the given lists,
and write the filter back, all or nothing. Its size stays. The lists say which keys the filter holds afterwards: give all of
them, with those that were added since; those that you leave out are gone. Lists most of whose keys are new, or that leave
out more than half, are refused without --force. The rate falls with time: see --budget.`,
		Example: `  bloomery add blocked.bloom new.txt
  bloomery optimize blocked.bloom --keys blocklist.txt --keys new.txt
  bloomery optimize blocked.bloom --keys blocklist.txt --budget 5m -o better.bloom`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(keys) == 0 {
				return errors.New("name the lists of all keys: --keys KEYS")
			}
			if err := memory.parse(c); err != nil {
				return err
			}
			path := args[0]
			if output != "" && output != path {
				if err := mayReplace(output); err != nil {
					return err
				}
			}
			e, err := effort.effort(c)
			if err != nil {
				return err
			}
			held, was, err := a.hold(c.Context(), path)
			if err != nil {
				return err
			}
			defer held.Close()
			set, err := a.load(path)
			if err != nil {
				return err
			}
			before, err := a.report(path)
			if err != nil {
				return err
			}
			old, ok := set.Filter().(filter.Reoptimizer)
			if !ok {
				return fmt.Errorf("%s is of family %s, which does not search; optimize takes partitioned, blockpartitioned and twochoice", path, before.Family)
			}
			result := optimized{Before: before}
			var read, unknown atomic.Uint64
			built, err := a.collect(c.Context(), in, keys, set.Hasher(), memory, func(uint64) (filter.Builder, string, error) {
				b, err := old.Reoptimize(e)
				if err != nil {
					return nil, "", err
				}
				memory.limit(b)
				return newcomers{b.(filter.Spiller), set.Filter(), &read, &unknown}, "searching", nil
			})
			if err != nil {
				return err
			}
			lists := strings.Join(keys, ", ")
			switch left := built.Info().Keys; {
			case read.Load() == 0:
				return fmt.Errorf("there is no key in %s; the filter stays as it is", lists)
			case force:
			case unknown.Load() > read.Load()/2:
				return fmt.Errorf("most keys of %s were not in the filter, which stays as it is; if these are the right lists, add --force", lists)
			case left < before.Keys/2:
				return fmt.Errorf("%s: %d keys instead of %d, and the filter would forget all others; it stays as it is. Give all lists, or add --force", lists, left, before.Keys)
			}
			if output == "" || output == path {
				output = path
				err = container.ReplaceFile(c.Context(), path, built, set.Hasher(), was)
			} else {
				err = container.WriteFile(c.Context(), output, built, set.Hasher())
			}
			if err != nil || a.quiet {
				return err
			}
			if result.After, err = a.report(output); err != nil {
				return err
			}
			result.Read, result.New = read.Load(), unknown.Load()
			if a.json {
				return a.printJSON(result)
			}
			fmt.Fprintf(a.stderr, "%s: %d keys (before %d; %d of %d lines were new to it), false positive rate %.4g (before %.4g)\n",
				output, result.After.Keys, before.Keys, result.New, result.Read, result.After.FPRPosterior, before.FPRPosterior)
			return nil
		},
	}
	in.register(c)
	effort.register(c)
	memory.register(c)
	c.Flags().StringArrayVar(&keys, "keys", nil, "list of keys; may be given several times, - is standard input")
	c.Flags().StringVarP(&output, "output", "o", "", "file to write instead of FILE")
	c.Flags().BoolVar(&force, "force", false, "do it though most keys are new, or most of the filter's are left out")
	_ = c.MarkFlagFilename("keys")
	return c
}

// newcomers is a builder that counts the keys which an earlier filter says no to.
type newcomers struct {
	filter.Spiller
	old           filter.Filter
	read, unknown *atomic.Uint64
}

// AddMany counts and passes on.
func (b newcomers) AddMany(hs []filter.Hash) error {
	var n uint64
	for _, h := range hs {
		if !b.old.Has(h) {
			n++
		}
	}
	b.read.Add(uint64(len(hs)))
	b.unknown.Add(n)
	return b.Spiller.AddMany(hs)
}

// OnProgress is that of the builder inside.
func (b newcomers) OnProgress(f func(filter.Progress)) { b.Spiller.(filter.Searcher).OnProgress(f) }
