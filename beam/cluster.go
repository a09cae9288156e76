package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/beam/clusters"
)

const clusterHelp = `Start a cluster of Flink or Spark on this machine, to try a job on it: a manager, workers, and
Beam's job server, each a Java process that listens on localhost. The jars come from Maven, once: 152 MB for
Flink, 299 MB for Spark. A cluster needs Java 17, Maven, and about 1.5 GB of memory and 0.5 GB for each worker.`

// clusterCommand returns the command cluster.
func (a *app) clusterCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "cluster", Short: "Start and stop a cluster on this machine, to try a job on it", Long: clusterHelp,
		Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
		Example: `  bloomery-beam cluster up flink 2
  bloomery-beam -i keys.txt -o set --spec fuse --shards 4 --runner flink --endpoint localhost:8099
  bloomery-beam cluster kill flink task-manager-1
  bloomery-beam cluster down flink`,
	}
	dir := c.PersistentFlags().String("dir", "",
		"`folder` for configuration, logs and state (default: one an engine in the user's cache folder)")
	c.AddCommand(a.clusterUp(dir), a.clusterDown(dir), a.clusterKill(dir), a.clusterStatus(dir))
	return c
}

func (a *app) clusterUp(dir *string) *cobra.Command {
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
					return fmt.Errorf("a cluster of %s runs; stop it with: bloomery-beam cluster down %[1]s", o.Engine)
				}
				if err := c.Remove(); err != nil { // of before a restart of the machine
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

func (a *app) clusterDown(dir *string) *cobra.Command {
	return &cobra.Command{
		Use: "down flink|spark", Short: "Stop a cluster and remove its configuration and logs",
		Args: cobra.ExactArgs(1), ValidArgs: clusters.Engines(),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := loadCluster(*dir, args[0])
			if err == nil {
				err = c.Remove()
			}
			if err == nil {
				a.note("the cluster has stopped")
			}
			return err
		},
	}
}

func (a *app) clusterKill(dir *string) *cobra.Command {
	return &cobra.Command{
		Use: "kill flink|spark DAEMON", Short: "Kill a process of a cluster, to see what a job does",
		Args: cobra.ExactArgs(2), ValidArgs: clusters.Engines(),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := loadCluster(*dir, args[0])
			if err != nil {
				return err
			}
			d, err := c.Daemon(args[1])
			if err != nil {
				return err
			}
			if !d.Runs() {
				return fmt.Errorf("the %s does not run", d.Name)
			}
			d.Kill()
			return nil
		},
	}
}

func (a *app) clusterStatus(dir *string) *cobra.Command {
	return &cobra.Command{
		Use: "status flink|spark", Short: "Show the processes of a cluster, and where they listen",
		Args: cobra.ExactArgs(1), ValidArgs: clusters.Engines(),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := loadCluster(*dir, args[0])
			if err != nil {
				return err
			}
			return a.printCluster(c)
		},
	}
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
		return nil, fmt.Errorf("no cluster of %s in %s; start one with: bloomery-beam cluster up %[1]s 2", engine, dir)
	}
	return c, err
}

// printCluster prints where a cluster listens, and its processes.
func (a *app) printCluster(c *clusters.Cluster) error {
	if a.json {
		return a.printJSON(c)
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
