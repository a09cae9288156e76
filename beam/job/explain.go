package job

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
)

// RunnerError is an error of a runner or of its job server. Errors of a step have another type, with their own text.
type RunnerError struct {
	Text  string // a sentence
	Trace string // the whole text of the runner
}

func (e *RunnerError) Error() string { return e.Text }

// known are errors that users meet. explain uses the first one whose sign matches the text of the runner. says may
// refer to the groups of sign.
var known = []struct {
	sign *regexp.Regexp
	says string
}{
	{regexp.MustCompile(`(?s)Failed to submit JobGraph.*Connection refused: (\S+)`),
		"the job server reaches no Flink at $1: start Flink there, or give the job server another --flink-master"},
	{regexp.MustCompile(`Failed to submit JobGraph`),
		"the job server cannot submit the job to Flink; see its option --flink-master"},
	{regexp.MustCompile(`All masters are unresponsive|Could not connect to spark://`),
		"the job server reaches no Spark: start Spark, or give the job server another --spark-master-url"},
	{regexp.MustCompile(`NoResourceAvailableException`),
		"the cluster has too few free slots: give a lower --parallelism, wait for other jobs, or add task managers"},
	{regexp.MustCompile(`(?s)Received exit code \d+ for command 'docker .*?stderr: ([^\n]*?)(?:Run 'docker|\n|$)`),
		"a machine of the cluster cannot start the container of --environment-config: $1"},
	{regexp.MustCompile(`Cannot run program "docker"[^\n]*`),
		"a machine of the cluster has no docker, which --environment docker needs"},
	{regexp.MustCompile(`Cannot run program "([^"\n]*)"[^\n]*?(?:error=\d+, )([^\n]*)`),
		"a machine of the cluster cannot start $1 ($2): --environment-config is the path of bloomery-beam on the workers"},
	{regexp.MustCompile(`(?s)ExternalEnvironmentFactory.*Connection refused: (?:localhost/)?(\S+)`),
		"a machine of the cluster reaches no worker pool at $1: start `bloomery-beam worker` there, or correct " +
			"--environment-config; with --environment loopback, all machines are this one"},
	{regexp.MustCompile(`(?s)UNAVAILABLE:.*ExternalEnvironmentFactory`),
		"a machine of the cluster reaches no worker pool: start `bloomery-beam worker`, or correct --environment-config; " +
			"with --environment loopback, all machines are this one"},
	{regexp.MustCompile(`(?:ClassNotFoundException|NoClassDefFoundError): (org[./]apache[./]beam\S+)`),
		"the machines of the cluster have no class $1: put the jars of the job server into their class path, or let the " +
			"job server upload them; see the README of bloomery-beam"},
	{regexp.MustCompile(`TaskManager with id (\S+) (?:is no longer reachable|timed out)|` +
		`(?:closed by|to the) remote task ?manager '?([^'\s]*)|AskTimeoutException[^\n]*rpc/(taskmanager)_`),
		"Flink has lost a task manager: it has ended, or cannot be reached; repeat the command: what is finished is kept"},
	{regexp.MustCompile(`FlinkJobNotFoundException`),
		"Flink does not know the job any more: its job manager was started again; repeat the command: what is finished is " +
			"kept"},
	{regexp.MustCompile(`Only one SparkContext should be running`),
		"the job server for Spark runs one job at a time, and has another one, perhaps of a submitter that was killed: wait " +
			"for its end, or restart the job server"},
	{regexp.MustCompile(`Cannot call methods on a stopped SparkContext`),
		"Spark has ended the job, for example because it could start no executor: the log of the job server has the cause"},
	{regexp.MustCompile(`ExecutorLostFailure|executor \S+ exited|Remote RPC client disassociated`),
		"Spark has lost an executor: it has ended, or cannot be reached; repeat the command: what is finished is kept"},
	{regexp.MustCompile(`StatusRuntimeException: (?:CANCELLED|UNAVAILABLE)`),
		"a worker of bloomery-beam has ended, or cannot be reached: its log, or the one of the system, has the cause, such " +
			"as too little memory; repeat the command: what is finished is kept"},
}

// explain returns the error of a job that ended in state s without an error of a step. cause is the root of the
// runner's error; trace is the whole error.
func explain(s jobpb.JobState_Enum, cause, trace string) error {
	all := strings.TrimSpace(trace + "\n" + cause)
	for _, k := range known {
		if m := k.sign.FindStringSubmatchIndex(all); m != nil {
			return &RunnerError{string(k.sign.ExpandString(nil, k.says, all, m)), all}
		}
	}

	text := fmt.Sprintf("the job ended as %s", s)
	if short := sentenceOf(cause); short != "" {
		text += ": " + short
	} else if short = sentenceOf(trace); short != "" {
		text += ": " + short
	}
	return &RunnerError{text, all}
}

// rpcError matches the beginning of an error of gRPC.
var rpcError = regexp.MustCompile(`^rpc error: code = \w+ desc = `)

// javaClass is the name of an error's class with its package.
var javaClass = regexp.MustCompile(`^(?:[a-z][\w$]*\.)+([A-Z][\w$]*)(?::\s*|$)`)

// sentenceOf returns the sentence in the text of an error: in Beam's Go code the last cause; in Java the first line,
// with the last class and without its package.
func sentenceOf(text string) string {
	if i := strings.LastIndex(text, "caused by:"); i >= 0 {
		text = text[i+len("caused by:"):]
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = rpcError.ReplaceAllString(text, "")
	class := ""
	for m := javaClass.FindStringSubmatch(text); m != nil; m = javaClass.FindStringSubmatch(text) {
		class, text = m[1], text[len(m[0]):]
	}
	return strings.Trim(class+": "+text, ": ")
}

// An error of a step passes through the runner as text, which the runner wraps in its own traces. The marks show the
// submitter where the error of the step begins and ends.
const (
	failureBegin = "{{bloomery: "
	failureEnd   = " :bloomery}}"
)

// failure is an error of a step on its way through a runner.
type failure struct{ error }

// fail marks an error of a step, once.
func fail(err error) error {
	if err == nil || errors.As(err, &failure{}) {
		return err
	}
	return failure{err}
}

func (f failure) Error() string { return failureBegin + f.error.Error() + failureEnd }

func (f failure) Unwrap() error { return f.error }

// failureIn returns the first error of a step in the text of a runner, without the runner's traces. It returns false if
// the text contains no error of a step: then the runner itself failed.
func failureIn(text string) (string, bool) {
	_, rest, ok := strings.Cut(text, failureBegin)
	if !ok {
		return "", false
	}
	message, _, ok := strings.Cut(rest, failureEnd)
	return message, ok
}
