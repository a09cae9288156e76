package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

func (a *app) shardCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "shard",
		Short: "Build a sharded set in steps, on many machines",
		Long: `Your scheduler runs the steps (make, ssh, Kubernetes Jobs): plan once, range and then build in parallel,
finish once. The machines share DIR and the input. The set has the bytes of build --shards. Each step may be killed,
repeated, and run twice at once.`,
		Example: `  bloomery shard plan -o large.set --shards 16 --spec blocked large.txt
  bloomery shard range large.set --all
  bloomery shard build large.set --all
  bloomery shard finish large.set`,
	}
	c.AddCommand(a.shardPlanCommand(), a.shardRangeCommand(), a.shardBuildCommand(), a.shardFinishCommand(),
		a.shardStatusCommand())
	return c
}

type stepFlags struct {
	plan  string
	all   bool
	every string
	limit steps.Options
}

func (f *stepFlags) registerPlan(c *cobra.Command) {
	c.Flags().StringVar(&f.plan, "plan", "", "`ID`: plan, if DIR has several")
}

func (a *app) readPlan(ctx context.Context, dir, id string) (*steps.Plan, steps.Store, error) {
	out := steps.Dir(dir)
	if err := cli.NoStdout("DIR", aSet, dir); err != nil {
		return nil, nil, err
	}
	if st, err := os.Stat(dir); err != nil {
		return nil, nil, err
	} else if !st.IsDir() {
		return nil, nil, fmt.Errorf("%s is a file; name the folder of -o of bloomery shard plan", dir)
	}

	p, err := steps.ReadPlan(ctx, out, id, nil)
	if err != nil {
		err = fmt.Errorf("%s: %w", dir, err)
	}
	if errors.Is(err, steps.ErrNoPlan) || id != "" && errors.Is(err, fs.ErrNotExist) {
		advice := fmt.Sprintf("Make one: bloomery shard plan -o %s --shards N INPUT...", dir)
		if _, err := out.Stat(ctx, shard.ManifestName); err == nil {
			advice = "There is a finished set, of which bloomery info tells more. To build another one: bloomery shard plan."
		}
		err = cli.Advise(err, advice)
	}
	return p, out, err
}

func (a *app) shardFinishCommand() *cobra.Command {
	var f stepFlags
	c := &cobra.Command{
		Use:     "finish DIR",
		Short:   "Complete a sharded set whose shards are built",
		Long:    `finish checks the shards, writes the manifest, and removes working files and the old set.`,
		Example: `  bloomery shard finish large.set`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			start, ctx := time.Now(), c.Context()
			p, out, err := a.readPlan(ctx, args[0], f.plan)
			if errors.Is(err, steps.ErrNoPlan) {
				if m, old := steps.ReadManifest(ctx, out); old == nil && m != nil {
					return a.reportShards(args[0], m, start)
				}
			}
			if err != nil {
				return err
			}
			m, err := p.Finish(ctx, out, steps.Options{})
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return a.reportShards(args[0], m, start)
		},
	}
	f.registerPlan(c)
	return c
}

func (a *app) shardStatusCommand() *cobra.Command {
	var f stepFlags
	c := &cobra.Command{
		Use:   "status DIR",
		Short: "Print which ranges and shards of a plan are missing",
		Long: `Damaged files are missing, as far as sizes and headers show. The exit code is 1 if a file is missing, or
if the set in the folder has changed since the plan.`,
		Example: `  bloomery shard status large.set --json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, out, err := a.readPlan(c.Context(), args[0], f.plan)
			if err != nil {
				return err
			}
			st, err := p.Status(c.Context(), out)
			if err != nil {
				return err
			}
			ranges, shards := st.MissingRanges, st.MissingShards
			err = a.answer(object{
				{"plan", p.ID()}, {"spec", p.Spec.String()}, {"range_count", st.Ranges}, {"shard_count", st.Shards},
				{"missing_ranges", ranges}, {"missing_shards", shards}, {"keys", st.Keys}, {"input_bytes", p.Size()},
				{"set_changed,omitempty", st.SetChanged}, // finish will refuse
			}, "plan %s: %s\nranges: %d of %d missing%s\nshards: %d of %d missing%s\n", p.ID(), p.Spec,
				len(ranges), st.Ranges, listed(ranges), len(shards), st.Shards, listed(shards))
			if err == nil && st.SetChanged {
				a.warn("%s: %v; finish will refuse to replace it", args[0], steps.ErrSetChanged)
			}
			return exitIf(st.SetChanged || len(ranges)+len(shards) > 0, err)
		},
	}
	f.registerPlan(c)
	return c
}

// listed formats at most 20 numbers for the end of a line.
func listed(numbers []int) string {
	text := ""
	for i, n := range numbers {
		if i == 20 {
			return text + " ..."
		}
		text += " " + strconv.Itoa(n)
	}
	return strings.Replace(text, " ", ": ", 1)
}
