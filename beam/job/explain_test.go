package job

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
)

// TestExplain checks the explanations of errors of Beam's job servers 2.62. Most of each stack trace is omitted.
func TestExplain(t *testing.T) {
	tested := map[string]bool{}
	for _, tt := range []struct{ file, cause, want string }{
		{"flink-unreachable", "java.net.ConnectException: Connection refused",
			"the job server reaches no Flink at localhost/127.0.0.1:1: start Flink there, or give the job server another " +
				"--flink-master"},
		{"flink-slots", "java.util.concurrent.TimeoutException: Timeout has occurred: 10000 ms",
			"the cluster has too few free slots: give a lower --parallelism, wait for other jobs, or add task managers"},
		{"flink-pool", "java.net.ConnectException: java.net.ConnectException: finishConnect(..) failed: Connection refused",
			"a machine of the cluster reaches no worker pool at 127.0.0.1:1: start `bloomery-beam worker` there, or correct " +
				"--environment-config; with --environment loopback, all machines are this one"},
		{"flink-process", "java.io.IOException: error=2, No such file or directory",
			"a machine of the cluster cannot start /nonexistent/bloomery-beam (No such file or directory): " +
				"--environment-config is the path of bloomery-beam on the workers"},
		{"flink-jars", "java.lang.ClassNotFoundException: " +
			"org.apache.beam.runners.flink.translation.wrappers.ImpulseInputFormat",
			"the machines of the cluster have no class org.apache.beam.runners.flink.translation.wrappers.ImpulseInputFormat: " +
				"put the jars of the job server into their class path, or let the job server upload them; see the README of " +
				"bloomery-beam"},
		{"flink-docker", "java.io.IOException: Received exit code 125 for command 'docker run -d'. stderr: docker: Cannot",
			"a machine of the cluster cannot start the container of --environment-config: docker: Cannot connect to the " +
				"Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"},
		{"flink-worker", "org.apache.beam.vendor.grpc.v1p60p1.io.grpc.StatusRuntimeException: CANCELLED: client cancelled",
			"a worker of bloomery-beam has ended, or cannot be reached: its log, or the one of the system, has the cause, " +
				"such as too little memory; repeat the command: what is finished is kept"},
		{"", "org.apache.flink.runtime.jobmaster.JobMasterException: TaskManager with id localhost:43691-b31fce is no " +
			"longer reachable.",
			"Flink has lost a task manager: it has ended, or cannot be reached; repeat the command: what is finished is kept"},
		{"", "org.apache.pekko.pattern.AskTimeoutException: org.apache.pekko.pattern.AskTimeoutException: Ask timed out on " +
			"[Actor[pekko.tcp://flink@localhost:34769/user/rpc/taskmanager_0#2030462474]] after [10000 ms].",
			"Flink has lost a task manager: it has ended, or cannot be reached; repeat the command: what is finished is kept"},
		{"", "org.apache.flink.runtime.rest.util.RestClientException: [org.apache.flink.runtime.rest.handler." +
			"RestHandlerException: org.apache.flink.runtime.messages.FlinkJobNotFoundException: Could not find Flink job " +
			"(5a52f00efb9a3ae04653f4f77645bb67)",
			"Flink does not know the job any more: its job manager was started again; repeat the command: what is finished " +
				"is kept"},
		{"", "org.apache.spark.SparkException: Only one SparkContext should be running in this JVM (see SPARK-2243).The " +
			"currently running SparkContext was created at:\norg.apache.spark.api.java.JavaSparkContext.<init>",
			"the job server for Spark runs one job at a time, and has another one, perhaps of a submitter that was killed: wait " +
				"for its end, or restart the job server"},
		{"", "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\nThis stopped SparkContext " +
			"was created at:",
			"Spark has ended the job, for example because it could start no executor: the log of the job server has the cause"},
		{"", "java.lang.IllegalArgumentException: Setting parallelism is not in valid bounds (1..32768), found: 2147483647",
			"the job ended as FAILED: IllegalArgumentException: Setting parallelism is not in valid bounds (1..32768), found: " +
				"2147483647"},
		{"", "process bundle failed:\n\tcaused by:\nrpc error: code = Internal desc = no such bundle\nmore", // Prism
			"the job ended as FAILED: no such bundle"},
		{"", "", "the job ended as FAILED"},
	} {
		trace := ""
		if tt.file != "" {
			b, err := os.ReadFile(filepath.Join("testdata", tt.file+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			trace = string(b)
			tested[tt.file+".txt"] = true
		}
		err := explain(jobpb.JobState_FAILED, tt.cause, trace)
		var r *RunnerError
		if !errors.As(err, &r) || err.Error() != tt.want || !strings.Contains(r.Trace, strings.TrimSpace(trace)) ||
			!strings.Contains(r.Trace, tt.cause) {
			t.Errorf("%s: %v\nwant %s", tt.file, err, tt.want)
		}
	}
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !tested[f.Name()] {
			t.Errorf("no test reads %s", f.Name())
		}
	}
}
