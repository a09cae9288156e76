// Command cluster starts and stops a cluster of Flink or Spark on this machine, to try a job of bloomery-beam on it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/eval/beam/clusters"
	"github.com/bloomery/bloomery/internal/cli"
)

const help = `Start a cluster of Flink or Spark on this machine, to try a job on it: a manager, workers, and
Beam's job server, each a Java process that listens on localhost. The jars come from Maven, once: 152 MB for
Flink, 299 MB for Spark. A cluster needs Java 17, Maven, and about 1.5 GB of memory and 0.5 GB for each worker.`

func main() { cli.Main(run) }

// app is the state that the subcommands share.
type app struct {
	stdout, stderr io.Writer
	json, quiet    bool
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	out := &cli.Checked{Writer: stdout}
	a := &app{stdout: out, stderr: stderr}

	return cli.Program{Root: a.rootCommand(), JSON: &a.json, Stdout: out, Stderr: stderr}.Run(ctx, args)
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "cluster", Short: "Start and stop a cluster on this machine, to try a job on it", Long: help,
		Example: `  go run ./cluster up flink 2
  bloomery-beam -i keys.txt -o set --spec fuse --shards 4 --runner flink --endpoint localhost:8099
  go run ./cluster kill flink task-manager-1
  go run ./cluster down flink`,
	}

	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "report as JSON, errors too: a line on stderr with the field error")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "show no notes")
	dir := flags.String("dir", "",
		"`folder` for configuration, logs and state (default: one an engine in the user's cache folder)")

	root.AddCommand(a.upCommand(dir), a.downCommand(dir), a.killCommand(dir), a.statusCommand(dir))
	return root
}

// note prints a message about the current step.
func (a *app) note(text string) {
	if !a.quiet && !a.json {
		fmt.Fprintln(a.stderr, "cluster:", text)
	}
}

func (a *app) upCommand(dir *string) *cobra.Command {
	var o clusters.Config
	c := &cobra.Command{
		Use: "up flink|spark WORKERS", Short: "Start a cluster in the background, and wait until it is ready",
		Args: cobra.ExactArgs(2), ValidArgs: clusters.Engines(),
		RunE: func(c *cobra.Command, args []string) (err error) {
			o.Engine, o.Note = args[0], a.note
			if o.Workers, err = strconv.Atoi(args[1]); err != nil {
				return fmt.Errorf("%q: want a number of workers", args[1])
			}
			if o.Dir, err = clusterFolder(*dir, o.Engine); err != nil {
				return err
			}
			if c, err := clusters.Load(o.Dir); err == nil {
				if slices.ContainsFunc(c.Daemons, (*clusters.Daemon).Runs) {
					return fmt.Errorf("a cluster of %s runs; stop it with: go run ./cluster down %[1]s", o.Engine)
				}
				if err := c.Remove(); err != nil { // left over from before a restart of the machine
					return err
				}
			}
			cluster, err := clusters.Start(c.Context(), o)
			if err != nil {
				return err
			}
			return a.printCluster(cluster)
		},
	}
	c.Flags().IntVar(&o.Port, "port", 8099, "`port` of the job server, 0 for any that is free")
	c.Flags().IntVar(&o.Slots, "slots", 2, "tasks that a worker runs at the same time")
	c.Flags().StringToStringVar(&o.Settings, "set", nil,
		"`name=value` of the engine's configuration, such as restart-strategy.type=fixed-delay")
	return c
}

// clusterCommand returns a command on a cluster that was started. use lists its arguments; the first one is the engine.
func clusterCommand(
	dir *string, use, short string, run func(c *clusters.Cluster, args []string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(len(strings.Fields(use)) - 1), ValidArgs: clusters.Engines(),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := loadCluster(*dir, args[0])
			if err != nil {
				return err
			}
			return run(c, args)
		},
	}
}

func (a *app) downCommand(dir *string) *cobra.Command {
	return clusterCommand(dir, "down flink|spark", "Stop a cluster and remove its configuration and logs",
		func(c *clusters.Cluster, _ []string) error {
			if err := c.Remove(); err != nil {
				return err
			}
			a.note("the cluster has stopped")
			return nil
		})
}

func (a *app) killCommand(dir *string) *cobra.Command {
	return clusterCommand(dir, "kill flink|spark DAEMON", "Kill a process of a cluster, to see what a job does",
		func(c *clusters.Cluster, args []string) error {
			d, err := c.Daemon(args[1])
			if err != nil {
				return err
			}
			if !d.Runs() {
				return fmt.Errorf("the %s does not run", d.Name)
			}
			d.Kill()
			return nil
		})
}

func (a *app) statusCommand(dir *string) *cobra.Command {
	return clusterCommand(dir, "status flink|spark", "Show the processes of a cluster, and where they listen",
		func(c *clusters.Cluster, _ []string) error { return a.printCluster(c) })
}

// clusterFolder returns the folder of a cluster.
func clusterFolder(dir, engine string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	return clusters.Folder(engine)
}

func loadCluster(dir, engine string) (*clusters.Cluster, error) {
	dir, err := clusterFolder(dir, engine)
	if err != nil {
		return nil, err
	}
	c, err := clusters.Load(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no cluster of %s in %s; start one with: go run ./cluster up %[1]s 2", engine, dir)
	}
	return c, err
}

// printCluster prints the addresses of a cluster and its processes.
func (a *app) printCluster(c *clusters.Cluster) error {
	if a.json {
		return cli.WriteJSON(a.stdout, c)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d workers with %d slots each\n", c.Engine, c.Workers, c.Slots)
	fmt.Fprintf(&b, "%-15s %s\n%-15s %s\n", "pages", c.Web, "logs", c.Dir)
	for _, d := range c.Daemons {
		state := fmt.Sprintf("process %d", d.PID)
		if !d.Runs() {
			state = "has ended"
		}
		fmt.Fprintf(&b, "%-15s %s\n", d.Name, state)
	}
	fmt.Fprintf(&b, "%-15s --runner %s --endpoint %s\n", "options of jobs", c.Engine, c.JobServer)
	_, err := fmt.Fprint(a.stdout, b.String())
	return err
}
