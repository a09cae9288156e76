package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
)

const (
	parallelismOption = "parallelism"
	masterOption      = "beam:option:flink_master:v1"
	slotsTimeout      = 20 * time.Second // timeout for all questions about slots
	noParallelism     = -1               // the job server decides
)

// checkParallelism returns an error if a parallelism is given that the runner would ignore.
func (c *Config) checkParallelism() error {
	instead := map[string]string{
		Spark:    "the cores of all executors, or spark.default.parallelism of its job server",
		Prism:    "all processors, within the memory of a worker",
		Dataflow: "as many workers as Beam's options num_workers and max_num_workers say",
	}[c.Runner]
	option := c.Options[parallelismOption]
	switch {
	case c.Parallelism < 0:
		return fmt.Errorf("parallelism %d: want 1 or more", c.Parallelism)
	case c.Parallelism > 0 && option != "":
		return fmt.Errorf("the parallelism is given twice: %d, and Beam's option parallelism=%s", c.Parallelism, option)
	case c.Parallelism > 0 && instead != "":
		return fmt.Errorf("the runner %s takes %s; leave out the parallelism", c.Runner, instead)
	}
	return nil
}

// parallelism returns the parallelism of a job, at most steps: the number that the user gives, else on Flink the number
// of free slots, or of all slots if none is free. Without a number, Beam's job server for Flink would use its own
// configuration, which usually sets none, and then 1. The job server for Spark uses the cores of all executors.
func (c *Config) parallelism(ctx context.Context, s *server, steps int) int {
	switch {
	case c.Parallelism > 0:
		return c.Parallelism
	case c.Options[parallelismOption] != "":
		return *jobopts.Parallelism
	case c.Runner != Flink:
		return noParallelism
	}

	ctx, cancel := context.WithTimeout(ctx, slotsTimeout)
	defer cancel()
	n, err := s.slots(ctx)
	if err != nil {
		if c.Warn != nil && ctx.Err() != context.Canceled {
			c.Warn(fmt.Sprintf("the number of Flink's slots is unknown (%s): the job runs with parallelism.default of the "+
				"job server's configuration, or 1; give --parallelism", sentenceOf(err.Error())))
		}
		return noParallelism
	}
	return max(1, min(n, steps))
}

// slots asks Flink for its slots.
func (s *server) slots(ctx context.Context) (int, error) {
	at, err := s.master(ctx)
	if err != nil {
		return 0, err
	}
	url, err := restURL(at, s.at)
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/overview", nil)
	if err != nil {
		return 0, err
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	var slots struct {
		Free int `json:"slots-available"`
		All  int `json:"slots-total"`
	}
	if err := json.NewDecoder(io.LimitReader(a.Body, 1<<20)).Decode(&slots); err != nil || a.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s does not answer as Flink: %s", url, a.Status)
	}
	if slots.All < 1 {
		return 0, fmt.Errorf("%s has none now", url)
	}
	if slots.Free > 0 {
		return slots.Free, nil
	}
	return slots.All, nil
}

// master returns the address of Flink that the job server uses, which is in the options of the jobs that the server
// knows. If the server knows no job, master submits an empty one, which the server refuses before it asks Flink.
func (s *server) master(ctx context.Context) (string, error) {
	for range 2 {
		r, err := s.client.GetJobs(ctx, &jobpb.GetJobsRequest{})
		if err != nil {
			return "", err
		}
		for _, j := range r.GetJobInfo() {
			if at := j.GetPipelineOptions().GetFields()[masterOption].GetStringValue(); at != "" {
				return at, nil
			}
		}
		id, _, token, err := runnerlib.Prepare(ctx, named{s.client, "bloomery asks for the address of Flink"},
			&pipepb.Pipeline{Components: &pipepb.Components{}}, &runnerlib.JobOptions{Parallelism: noParallelism})
		if err == nil {
			_, err = runnerlib.Submit(ctx, s.client, id, token)
		}
		if err != nil {
			return "", err
		}
	}
	return "", errors.New("the job server does not say where Flink is")
}

// restURL returns the URL of Flink's REST API from the address that a job server at an endpoint uses.
func restURL(master, endpoint string) (string, error) {
	scheme, at, ok := strings.Cut(master, "://")
	if !ok {
		scheme, at = "http", master
	}
	if at == "[local]" || at == "[auto]" || at == "[collection]" {
		return "", fmt.Errorf("the job server uses Flink %s", master)
	}

	host, port, err := net.SplitHostPort(strings.TrimSuffix(at, "/"))
	if err != nil {
		host, port = strings.TrimSuffix(at, "/"), "8081"
	}
	if server, _, err := net.SplitHostPort(endpoint); err == nil && isLocal(host) && !isLocal(server) {
		host = server // of the machine of the job server
	}
	return scheme + "://" + net.JoinHostPort(host, port), nil
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
