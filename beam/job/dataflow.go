package job

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/gcpopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow/dataflowlib"
	df "google.golang.org/api/dataflow/v1b3"
)

// dataflowInterval is the time between two requests for the state of a Dataflow job.
const dataflowInterval = 10 * time.Second

// checkDataflow returns an error unless workers in Google's cloud can reach input and output.
func (c *Config) checkDataflow() error {
	for _, option := range []string{"project", "region", "staging_location"} {
		if c.Options[option] == "" {
			return fmt.Errorf("the runner dataflow needs Beam's options project, region and staging_location; no %s", option)
		}
	}
	if c.Environment != Docker || c.EnvironmentConfig == "" {
		return errors.New("the runner dataflow needs the environment docker and the name of an image")
	}

	for _, name := range append([]string{c.Output}, c.Input...) {
		if !isURL(name) {
			return fmt.Errorf("%s: workers of Dataflow have no files of this machine; use the URL of a bucket", name)
		}
	}
	return nil
}

// runDataflow runs the pipeline on Google Cloud Dataflow, which has its own interface, and returns when the job has
// ended.
func (c *Config) runDataflow(ctx context.Context, t Task) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}

	for name, value := range map[string]string{
		jobNameOption: c.dataflowName(), "sdk_container_image": c.EnvironmentConfig, "environment_type": "docker",
		"worker_binary": program, "async": "true",
	} {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}

	r, err := dataflow.Execute(ctx, pipelineOf(t))
	if err != nil || r == nil { // dry_run
		return err
	}

	client, err := dataflowlib.NewClient(ctx, c.Endpoint)
	if err != nil {
		return err
	}
	return waitDataflow(ctx, client.Projects.Locations.Jobs, *gcpopts.Project, *gcpopts.Region, r.JobID())
}

// waitDataflow returns when a Dataflow job has ended. If ctx ends first, waitDataflow cancels the job and waits until
// the job has ended.
func waitDataflow(ctx context.Context, jobs *df.ProjectsLocationsJobsService, project, region, id string) error {
	var cancelled error
	for {
		j, err := jobs.Get(project, region, id).Do()
		if err != nil {
			return errors.Join(cancelled, fmt.Errorf("job %s of Dataflow: %w", id, err))
		}
		switch j.CurrentState {
		case "JOB_STATE_DONE":
			return cancelled
		case "JOB_STATE_FAILED", "JOB_STATE_CANCELLED", "JOB_STATE_DRAINED", "JOB_STATE_UPDATED":
			return errors.Join(cancelled,
				fmt.Errorf("job %s of Dataflow ended as %s; its log has the cause", id, j.CurrentState))
		}
		select {
		case <-time.After(dataflowInterval):
			continue
		case <-ctx.Done():
		}
		if cancelled == nil {
			cancelled = context.Cause(ctx)
			if _, err := jobs.Update(project, region, id, &df.Job{RequestedState: "JOB_STATE_CANCELLED"}).Do(); err != nil {
				return errors.Join(cancelled, fmt.Errorf("cannot cancel Dataflow job %s: %w; cancel it there", id, err))
			}
		}
		time.Sleep(time.Second)
	}
}
