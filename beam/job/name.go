package job

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	jobNameOption = "job_name"
	maxName       = 100 // bytes of a job's name
)

// jobName returns the name of the job on the page of the runner, such as "bloomery blocked(fpr=0.01) 16 shards to set".
// Beam's job servers refuse other characters than ASCII, because names are in headers of requests.
func (c *Config) jobName() string {
	name := c.Options[jobNameOption]
	if name == "" {
		out := c.Output
		if abs, err := filepath.Abs(out); err == nil && !isURL(out) {
			out = abs
		}
		name = fmt.Sprintf("bloomery %s %d shards to %s", c.Set.Build.Spec, c.Set.Build.Shards,
			path.Base(filepath.ToSlash(out)))
	}
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(" ._,:=()+@/-", r) {
			return r
		}
		return '-'
	}, name)
	return strings.TrimSpace(name[:min(len(name), maxName)])
}

// dataflowName is jobName as Dataflow takes it: lower case, digits and dashes, beginning with a letter.
func (c *Config) dataflowName() string {
	const most = 63
	words := strings.FieldsFunc(strings.ToLower(c.jobName()), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	name := strings.Join(words, "-")
	if name == "" || name[0] < 'a' {
		name = "bloomery-" + name
	}
	return strings.Trim(name[:min(len(name), most)], "-")
}

// named is a client that gives jobs a name. The runners of Beam for Java take it from the options; without it they make
// one of the name of the application, the user, the time and a random number.
type named struct {
	jobpb.JobServiceClient
	name string
}

func (n named) Prepare(
	ctx context.Context, r *jobpb.PrepareJobRequest, o ...grpc.CallOption,
) (*jobpb.PrepareJobResponse, error) {
	r.JobName = n.name
	if r.PipelineOptions == nil {
		r.PipelineOptions = &structpb.Struct{}
	}
	if r.PipelineOptions.Fields == nil {
		r.PipelineOptions.Fields = map[string]*structpb.Value{}
	}
	r.PipelineOptions.Fields["beam:option:"+jobNameOption+":v1"] = structpb.NewStringValue(n.name)
	return n.JobServiceClient.Prepare(ctx, r, o...)
}
