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

//go:embed spark/pom.xml
var sparkProject []byte

// spark is Spark's own cluster: a master, workers with one executor each, and Beam's job server, which is the driver.
type spark struct{}

func (spark) project() ([]byte, string) { return sparkProject, "spark-3.5.0-beam-2.62.0" }

func (spark) daemons(c *Cluster, o Config) ([]*Daemon, error) {
	home := filepath.Join(c.Dir, "home") // workers build the class path of executors from it
	if err := os.Mkdir(home, 0o777); err != nil {
		return nil, err
	}
	if err := os.Symlink(c.jars, filepath.Join(home, "jars")); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(home, "RELEASE"), []byte("Spark\n"), 0o666); err != nil {
		return nil, err
	}
	env := []string{"SPARK_HOME=" + home, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_SCALA_VERSION=2.12",
		"SPARK_LOCAL_DIRS=" + c.Dir}
	master := fmt.Sprintf("spark://localhost:%d", c.rpc)
	all := []jvm{{
		name: "master", heap: "384m", class: "org.apache.spark.deploy.master.Master", env: env,
		args: []string{"--host", "localhost", "--port", fmt.Sprint(c.rpc), "--webui-port",
			c.Web[strings.LastIndex(c.Web, ":")+1:]},
	}}
	for _, name := range slices.Sorted(maps.Keys(o.Settings)) {
		if strings.HasPrefix(name, "spark.deploy.") { // the driver does not read these
			all[0].options = append(all[0].options, "-D"+name+"="+o.Settings[name])
		}
	}
	for i := range o.Workers {
		name := fmt.Sprintf("worker-%d", i+1)
		all = append(all, jvm{
			name: name, heap: "256m", class: "org.apache.spark.deploy.worker.Worker", env: env,
			args: []string{"--host", "localhost", "--cores", fmt.Sprint(c.Slots), "--memory", "1g", "--webui-port", "0",
				"--work-dir", filepath.Join(c.Dir, name), master},
		})
	}
	settings := sparkSettings(c, o)
	maps.Copy(settings, o.Settings)
	server := jvm{
		name: "job-server", heap: "768m", class: "org.apache.beam.runners.spark.SparkJobServerDriver", env: env,
		args: append(jobServerArgs(c), "--spark-master-url="+master),
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		server.options = append(server.options, "-D"+name+"="+settings[name])
	}
	return c.assemble(append(all, server), o.OwnPools)
}

// sparkSettings returns the configuration of the driver and of the executors, which run in the folder
// worker/application/executor.
func sparkSettings(c *Cluster, o Config) map[string]string {
	options := openings()
	if o.OwnPools {
		options = append(options, "-Djdk.net.hosts.file=../../hosts")
	}
	return map[string]string{
		"spark.driver.host":               "localhost",
		"spark.driver.bindAddress":        "127.0.0.1",
		"spark.executor.memory":           "512m",
		"spark.executor.extraClassPath":   filepath.Join(c.jars, "*"),
		"spark.executor.extraJavaOptions": strings.Join(options, " "),
		"spark.ui.enabled":                "false",
	}
}

func (spark) registered(ctx context.Context, c *Cluster) (int, error) {
	var master struct{ AliveWorkers int }
	err := c.Ask(ctx, "/json/", &master)
	return master.AliveWorkers, err
}
