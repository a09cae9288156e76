package job

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	dialTimeout   = 5 * time.Second  // timeout to an endpoint
	submitTimeout = 2 * time.Minute  // timeout of each call until the job runs
	cancelTimeout = 20 * time.Second // longest wait for the end of a cancelled job
	lingerTimeout = 10 * time.Second // longest wait for the end of a job by the mark of its attempt
)

// server is a Beam job server.
type server struct {
	client  jobpb.JobServiceClient
	at      string // its endpoint, for errors
	lingers bool   // whether the server may report a job as cancelled while the steps of the job still run
}

// dialServer connects to a job server. If no server answers, it returns an error after at most dialTimeout.
func dialServer(ctx context.Context, endpoint string) (s *server, hangUp func(), err error) {
	d := net.Dialer{Timeout: dialTimeout}
	c, err := d.DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return nil, nil, fmt.Errorf("no Beam job server answers at %s: %w; start one there, or leave out --runner and "+
			"--endpoint to run in this process", endpoint, err)
	}

	c.Close()
	conn, err := grpc.NewClient("passthrough:///"+endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		return nil, nil, err
	}

	s = &server{client: jobpb.NewJobServiceClient(conn), at: endpoint}
	short, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if _, err := s.client.DescribePipelineOptions(short, &jobpb.DescribePipelineOptionsRequest{}); err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("%s does not answer as a Beam job server: %w", endpoint, err)
	}
	return s, func() { conn.Close() }, nil
}

// submit starts a job and returns its id. It returns the id even if ctx ends while the job is being started, so that
// the job can be cancelled.
func (s *server) submit(ctx context.Context, p *pipepb.Pipeline, o *runnerlib.JobOptions) (id string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), submitTimeout)
	defer cancel()
	prepared, artifacts, token, err := runnerlib.Prepare(ctx, named{s.client, o.Name}, p, o)
	if err != nil {
		return "", s.refusedError("the pipeline", err)
	}
	if token, err = runnerlib.Stage(ctx, prepared, artifacts, "", token); err != nil {
		return "", s.refusedError("the files of the job", err)
	}
	if id, err = runnerlib.Submit(ctx, s.client, prepared, token); err != nil {
		return "", s.refusedError("the job", err)
	}
	return id, nil
}

// refusedError returns the error of a job that does not run.
func (s *server) refusedError(what string, err error) error {
	all := err.Error()
	return &RunnerError{fmt.Sprintf("the job server at %s does not take %s: %s", s.at, what, sentenceOf(all)), all}
}

// wait returns when the job has ended, with nil if the job is done. If ctx ends first, wait cancels the job, waits for
// at most cancelTimeout, and returns the cause. With a server that lingers, wait first waits for at most lingerTimeout
// until the mark of the attempt has ended the job, because the server forgets a cancelled job.
//
// It reads the messages until the job has ended: if the stream of messages ended earlier, Beam's job server for Flink
// would not record that the job has failed.
func (s *server) wait(ctx context.Context, id string) error {
	following, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	over := make(chan error, 1)
	go func() { over <- s.follow(following, id) }()
	select {
	case err := <-over:
		if ctx.Err() == nil {
			return err
		}
		return context.Cause(ctx)
	case <-ctx.Done():
	}
	if s.lingers {
		select {
		case <-over:
			return context.Cause(ctx)
		case <-time.After(lingerTimeout):
		}
	}

	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	return errors.Join(context.Cause(ctx), s.cancel(end, id))
}

// ended reports whether a job in this state is over.
func ended(s jobpb.JobState_Enum) bool {
	switch s {
	case jobpb.JobState_DONE, jobpb.JobState_FAILED, jobpb.JobState_CANCELLED, jobpb.JobState_DRAINED,
		jobpb.JobState_UPDATED:
		return true
	}
	return false
}

// cancel ends a job and returns when it has ended.
func (s *server) cancel(ctx context.Context, id string) error {
	if _, err := s.client.Cancel(ctx, &jobpb.CancelJobRequest{JobId: id}); err != nil {
		return fmt.Errorf("cannot cancel job %s at %s: %w; cancel it there", id, s.at, err)
	}

	for {
		switch r, err := s.client.GetState(ctx, &jobpb.GetJobStateRequest{JobId: id}); {
		case err != nil:
			return fmt.Errorf("job %s at %s: cancelled, but its state is unknown: %w", id, s.at, err)
		case ended(r.GetState()):
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// named is a client that gives jobs a name. The runners of Beam for Java read the name from the options; without it
// they compose a name of the application, the user, the time and a random number.
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

// prismServer is the job server in this process. It cannot be stopped, so all jobs use the same one.
type prismServer struct {
	client   jobpb.JobServiceClient
	endpoint string
	open     error // why the server is reachable from other machines, or nil if it is not
}

// startPrism starts Prism in this process, on a free port of the loopback interface.
var startPrism = sync.OnceValues(func() (*prismServer, error) {
	var s *prismServer
	var err error
	for range 5 { // another process may take the port in between
		if s, err = tryPrism(); err == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("cannot start Prism: %w", err)
})

func tryPrism() (s *prismServer, err error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil { // NewServer panics if it cannot listen
			err = errors.New(fmt.Sprint(p))
		}
	}()
	client, err := prism.CreateJobServer(context.Background(), prism.Options{Port: port})
	if err != nil {
		return nil, err
	}
	return &prismServer{client, fmt.Sprintf("localhost:%d", port), bindLoopback(port)}, nil
}

// freePort returns a TCP port that was free a moment ago.
func freePort() (int, error) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
