package clusters

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed flink/pom.xml
var flinkProject []byte

// flink is Flink in session mode: a job manager, task managers, and Beam's job server.
type flink struct{}

func (flink) project() ([]byte, string) { return flinkProject, "flink-1.19-beam-2.62.0" }

func (flink) daemons(c *Cluster, o Config) ([]*Daemon, error) {
	conf := filepath.Join(c.Dir, "conf")
	if err := os.Mkdir(conf, 0o777); err != nil {
		return nil, err
	}
	settings := flinkSettings(c)
	maps.Copy(settings, o.Settings)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s: %s\n", name, settings[name])
	}
	if err := os.WriteFile(filepath.Join(conf, "flink-conf.yaml"), []byte(text.String()), 0o666); err != nil {
		return nil, err
	}
	all := []jvm{{
		name: "job-manager", heap: "448m", class: "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
		args: []string{"--configDir", conf, "--host", "localhost"},
	}}
	for i := range o.Workers {
		j := jvm{
			name: fmt.Sprintf("task-manager-%d", i+1), heap: "384m",
			class: "org.apache.flink.runtime.taskexecutor.TaskManagerRunner", args: []string{"--configDir", conf},
		}
		if o.OwnPools {
			j.options = []string{"-Djdk.net.hosts.file=hosts"}
		}
		all = append(all, j)
	}
	all = append(all, jvm{
		name: "job-server", heap: "512m", class: "org.apache.beam.runners.flink.FlinkJobServerDriver",
		args: append(jobServerArgs(c), "--flink-master="+strings.TrimPrefix(c.Web, "http://"), "--flink-conf-dir="+conf),
	})
	return c.assemble(all, o.OwnPools)
}

// flinkSettings returns the configuration. Flink's own scripts would compute the sizes of the memory.
func flinkSettings(c *Cluster) map[string]string {
	return map[string]string{
		"jobmanager.rpc.address":                     "localhost",
		"jobmanager.rpc.port":                        fmt.Sprint(c.rpc),
		"jobmanager.bind-host":                       "localhost",
		"jobmanager.memory.process.size":             "1024m",
		"rest.address":                               "localhost",
		"rest.bind-address":                          "localhost",
		"rest.port":                                  c.Web[strings.LastIndex(c.Web, ":")+1:],
		"taskmanager.host":                           "localhost",
		"taskmanager.bind-host":                      "localhost",
		"taskmanager.numberOfTaskSlots":              fmt.Sprint(c.Slots),
		"taskmanager.cpu.cores":                      fmt.Sprintf("%d.0", c.Slots),
		"taskmanager.memory.framework.heap.size":     "128mb",
		"taskmanager.memory.framework.off-heap.size": "128mb",
		"taskmanager.memory.task.heap.size":          "256mb",
		"taskmanager.memory.task.off-heap.size":      "0b",
		"taskmanager.memory.network.min":             "64mb",
		"taskmanager.memory.network.max":             "64mb",
		"taskmanager.memory.managed.size":            "128mb",
		"taskmanager.memory.jvm-metaspace.size":      "256mb",
		"taskmanager.memory.jvm-overhead.min":        "64mb",
		"taskmanager.memory.jvm-overhead.max":        "64mb",
		"blob.service.cleanup.interval":              "60", // seconds; the jars of a job are 150 MB
		"io.tmp.dirs":                                c.Dir,
		"parallelism.default":                        fmt.Sprint(c.Slots * c.Workers),
	}
}

func (flink) registered(ctx context.Context, c *Cluster) (int, error) {
	var overview struct{ TaskManagers int }
	err := c.Ask(ctx, "/overview", &overview)
	return overview.TaskManagers, err
}
