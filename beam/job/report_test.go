package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestJobName(t *testing.T) {
	for _, tt := range []struct{ option, spec, output, want, dataflow string }{
		{"", "blocked(fpr=0.01)", "s3://bucket/path/set/", "bloomery blocked(fpr=0.01) 4 shards to set",
			"bloomery-blocked-fpr-0-01-4-shards-to-set"},
		{"", "fuse", "./é set\n", "bloomery fuse 4 shards to - set-", "bloomery-fuse-4-shards-to-set"},
		{"", "ribbon(r=8,value_bits=8)", "s3://bucket", "bloomery ribbon(r=8,value_bits=8) 4 shards to bucket",
			"bloomery-ribbon-r-8-value-bits-8-4-shards-to-bucket"},
		{"", "fuse", strings.Repeat("long", 40), "bloomery fuse 4 shards to " + strings.Repeat("long", 40)[:74],
			"bloomery-fuse-4-shards-to-" + strings.Repeat("long", 40)[:37]},
		{"1 Nightly_", "fuse", "set", "1 Nightly_", "bloomery-1-nightly"},
	} {
		c := config("", tt.output, tt.spec)
		if tt.option != "" {
			c.Options = map[string]string{"job_name": tt.option}
		}
		if got := c.jobName(); got != tt.want {
			t.Errorf("%+v: name %q", tt, got)
		}
		if got := c.dataflowName(); got != tt.dataflow {
			t.Errorf("%+v: name for Dataflow %q", tt, got)
		}
	}
}

// jobServer is a job server that reports the address of Flink only after a first job.
type jobServer struct {
	jobpb.JobServiceClient
	flink, says string
	prepared    []*jobpb.PrepareJobRequest
	jobs        int
}

func (s *jobServer) GetJobs(
	context.Context, *jobpb.GetJobsRequest, ...grpc.CallOption,
) (*jobpb.GetJobsResponse, error) {
	r := &jobpb.GetJobsResponse{}
	for range s.jobs {
		o := &structpb.Struct{Fields: map[string]*structpb.Value{s.says: structpb.NewStringValue(s.flink)}}
		r.JobInfo = append(r.JobInfo, &jobpb.JobInfo{PipelineOptions: o})
	}
	return r, nil
}

func (s *jobServer) Prepare(
	_ context.Context, r *jobpb.PrepareJobRequest, _ ...grpc.CallOption,
) (*jobpb.PrepareJobResponse, error) {
	s.prepared = append(s.prepared, r)
	return &jobpb.PrepareJobResponse{}, nil
}

func (s *jobServer) Run(context.Context, *jobpb.RunJobRequest, ...grpc.CallOption) (*jobpb.RunJobResponse, error) {
	s.jobs++
	return &jobpb.RunJobResponse{}, nil
}

// TestParallelism queries an imitation of Flink for its slots.
func TestParallelism(t *testing.T) {
	overview := `{"slots-total":8,"slots-available":6}`
	flink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/overview" {
			http.NotFound(w, r)
		}
		fmt.Fprint(w, overview)
	}))
	defer flink.Close()
	at := strings.TrimPrefix(flink.URL, "http://")
	for _, tt := range []struct {
		name                      string
		config                    Config
		flink, says, overview     string
		jobs, steps, want, probes int
		warns                     string
	}{
		{"free", Config{Runner: Flink}, at, masterOption, overview, 1, 100, 6, 0, ""},
		{"free, first job", Config{Runner: Flink}, at, masterOption, overview, 0, 100, 6, 1, ""},
		{"few steps", Config{Runner: Flink}, flink.URL + "/", masterOption, overview, 1, 3, 3, 0, ""},
		{"busy", Config{Runner: Flink}, at, masterOption, `{"slots-total":8,"slots-available":0}`, 1, 100, 8, 0, ""},
		{"given", Config{Runner: Flink, Parallelism: 3}, "", "", "", 0, 100, 3, 0, ""},
		{"Spark", Config{Runner: Spark}, at, masterOption, overview, 1, 100, -1, 0, ""},
		{"none", Config{Runner: Flink}, at, masterOption, `{"slots-total":0}`, 1, 100, -1, 0, "has none now"},
		{"no Flink", Config{Runner: Flink}, at, masterOption, `<html>`, 1, 100, -1, 0, "does not answer as Flink"},
		{"local", Config{Runner: Flink}, "[local]", masterOption, "", 1, 100, -1, 0, "uses Flink [local]"},
		{"silent", Config{Runner: Flink}, at, "other", "", 0, 100, -1, 2, "does not say where Flink is"},
	} {
		warned := ""
		tt.config.Warn = func(text string) { warned = text }
		overview = tt.overview
		client := &jobServer{flink: tt.flink, says: tt.says, jobs: tt.jobs}
		got := tt.config.parallelism(t.Context(), &server{client: client, at: "localhost:1"}, tt.steps)
		if got != tt.want || len(client.prepared) != tt.probes || (warned == "") != (tt.warns == "") ||
			!strings.Contains(warned, tt.warns) {
			t.Errorf("%s: %d with %d questions, warning %q", tt.name, got, len(client.prepared), warned)
		}
		for _, p := range client.prepared {
			if n := len(p.GetPipeline().GetComponents().GetTransforms()); n > 0 || p.GetJobName() == "" {
				t.Errorf("%s: the question has %d steps and the name %q", tt.name, n, p.GetJobName())
			}
		}
	}
}

func TestRestURL(t *testing.T) {
	for _, tt := range []struct{ master, server, want string }{
		{"localhost:8081", "localhost:8099", "http://localhost:8081"},
		{"localhost:8081", "jobs.example:8099", "http://jobs.example:8081"},
		{"127.0.0.1:8081", "10.0.0.1:8099", "http://10.0.0.1:8081"},
		{"flink.example", "jobs.example:8099", "http://flink.example:8081"},
		{"https://flink.example:443/", "jobs.example:8099", "https://flink.example:443"},
		{"[::1]:8081", "[::1]:8099", "http://[::1]:8081"},
	} {
		if got, err := restURL(tt.master, tt.server); got != tt.want || err != nil {
			t.Errorf("%s at %s: %s, %v", tt.master, tt.server, got, err)
		}
	}
	for _, master := range []string{"[auto]", "[local]", "[collection]"} {
		if got, err := restURL(master, "localhost:1"); err == nil {
			t.Errorf("%s: %s", master, got)
		}
	}
}

// TestOtherVersion checks that a worker refuses the job of a submitter of another version, if both are known.
func TestOtherVersion(t *testing.T) {
	for _, tt := range []struct {
		submitter, worker string
		same              bool
	}{{"v1.0.0", "v1.0.1", false}, {"v1.0.0", "v1.0.0", true}, {"", "v1.0.0", true}, {"v1.0.0", "", true}} {
		err := sameProgram(tt.submitter, tt.worker)
		if (err == nil) != tt.same || err != nil && !strings.Contains(err.Error(), "run the same version") {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// streams is a job server whose message streams end with an error.
type streams struct {
	jobpb.JobServiceClient
	all    [][]*jobpb.JobMessagesResponse // one for each call, each before its end
	end    error
	states []jobpb.JobState_Enum // answers of GetState; after them the server is unreachable
}

type stream struct {
	grpc.ClientStream
	all []*jobpb.JobMessagesResponse
	end error
}

func (s *stream) Recv() (*jobpb.JobMessagesResponse, error) {
	if len(s.all) == 0 {
		return nil, s.end
	}
	m := s.all[0]
	s.all = s.all[1:]
	return m, nil
}

func (s *streams) GetMessageStream(
	context.Context, *jobpb.JobMessagesRequest, ...grpc.CallOption,
) (jobpb.JobService_GetMessageStreamClient, error) {
	all := s.all[0]
	s.all = s.all[1:]
	return &stream{all: all, end: s.end}, nil
}

func (s *streams) GetState(
	context.Context, *jobpb.GetJobStateRequest, ...grpc.CallOption,
) (*jobpb.JobStateEvent, error) {
	if len(s.states) == 0 {
		return nil, errors.New("unavailable")
	}
	state := s.states[0]
	s.states = s.states[1:]
	return &jobpb.JobStateEvent{State: state}, nil
}

// TestFollow reads message streams that end too early, as streams of Beam's job servers do, and streams that end with
// an error.
func TestFollow(t *testing.T) {
	state := func(s jobpb.JobState_Enum) *jobpb.JobMessagesResponse {
		return &jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_StateResponse{
			StateResponse: &jobpb.JobStateEvent{State: s}}}
	}
	says := func(i jobpb.JobMessage_MessageImportance, text string) *jobpb.JobMessagesResponse {
		return &jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_MessageResponse{
			MessageResponse: &jobpb.JobMessage{Importance: i, MessageText: text}}}
	}
	const debug, wrong = jobpb.JobMessage_JOB_MESSAGE_DEBUG, jobpb.JobMessage_JOB_MESSAGE_ERROR
	running, done, ended := state(jobpb.JobState_RUNNING), state(jobpb.JobState_DONE), state(jobpb.JobState_FAILED)
	type all = []*jobpb.JobMessagesResponse
	for name, tt := range map[string]struct {
		s    streams
		want string // "" for no error
	}{
		"done": {streams{all: []all{{running, done}}}, ""},
		"failed": {streams{all: []all{{running, says(debug, "a\n\tat b"), says(wrong, "x.Y: z"), ended}}},
			"Y: z"},
		"failed, and the error comes late": {streams{all: []all{{ended, says(wrong, "x.Y: z")}}}, "Y: z"},
		"failed at once": {streams{all: []all{{says(wrong, "x.Y: z"), running}}, end: io.EOF,
			states: []jobpb.JobState_Enum{jobpb.JobState_FAILED}}, "Y: z"},
		"broken": {streams{all: []all{{running}, {running, done}}, end: errors.New("reset"),
			states: []jobpb.JobState_Enum{jobpb.JobState_RUNNING}}, ""},
		"gone": {streams{all: []all{{running}}, end: errors.New("reset")}, "has gone, or was restarted"},
		"the error of a step in the trace only": {streams{all: []all{{says(debug, "a\n"+fail(errors.New("f.csv:3")).Error()),
			says(wrong, "x.Y: z"), ended}}}, "f.csv:3"},
	} {
		synctest.Test(t, func(t *testing.T) {
			err := (&server{client: &tt.s, at: "host:1"}).follow(t.Context(), "1")
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v; want %q", name, err, tt.want)
			}
		})
	}
}

// TestProgress runs a job after an earlier job has hashed some of its ranges.
func TestProgress(t *testing.T) {
	pattern, _ := input(t, 30_000)
	c := config(pattern, filepath.Join(t.TempDir(), "set"), "blocked(fpr=0.01)")
	var seen []Progress
	c.Progress = func(p Progress) { seen = append(seen, p) }
	m, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) < 3 || seen[0] != (Progress{}) {
		t.Fatalf("%+v", seen)
	}
	n := seen[1].Ranges
	last := seen[len(seen)-1]
	if want := (Progress{Ranges: n, RangesDone: n, Shards: 4, ShardsDone: 4, Keys: last.Keys}); n < 2 || last != want {
		t.Errorf("%+v; want %+v", last, want)
	}
	if m.Keys() != 30_000 {
		t.Errorf("%d keys", m.Keys())
	}
}

func TestStall(t *testing.T) {
	var s stall
	start := time.Now()
	for _, tt := range []struct {
		after  time.Duration
		ranges int
		want   bool
	}{
		{0, 0, false}, {stallTime - 1, 0, false}, {stallTime, 0, true}, {stallTime + time.Second, 0, false},
		{2 * stallTime, 0, true}, {3*stallTime - 1, 1, false}, {4*stallTime - 2, 1, false}, {4*stallTime - 1, 1, true},
	} {
		text := s.warning(tally{ranges: tt.ranges}, start.Add(tt.after))
		if (text != "") != tt.want {
			t.Errorf("after %v, %d ranges: %q", tt.after, tt.ranges, text)
		}
	}
}
