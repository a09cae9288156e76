package job

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"
)

// flinkServer is a job server like Beam's for Flink: it forgets that a job has failed if no client reads the messages
// at that time, and after Cancel it reports the job as cancelled even while the job runs.
type flinkServer struct {
	jobpb.JobServiceClient
	fails     time.Duration // time after which the job fails
	state     jobpb.JobState_Enum
	cancelled bool
}

func (s *flinkServer) GetMessageStream(
	ctx context.Context, _ *jobpb.JobMessagesRequest, _ ...grpc.CallOption,
) (jobpb.JobService_GetMessageStreamClient, error) {
	return &messages{s: s, ctx: ctx, fails: time.Now().Add(s.fails)}, nil
}

type messages struct {
	grpc.ClientStream
	s     *flinkServer
	ctx   context.Context
	fails time.Time
}

func (m *messages) Recv() (*jobpb.JobMessagesResponse, error) {
	if ended(m.s.state) {
		return nil, io.EOF
	}
	select {
	case <-m.ctx.Done():
		return nil, m.ctx.Err()
	case <-time.After(time.Until(m.fails)):
	}
	m.s.state = jobpb.JobState_FAILED
	return &jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_StateResponse{
		StateResponse: &jobpb.JobStateEvent{State: jobpb.JobState_FAILED},
	}}, nil
}

func (s *flinkServer) Cancel(
	context.Context, *jobpb.CancelJobRequest, ...grpc.CallOption,
) (*jobpb.CancelJobResponse, error) {
	s.cancelled, s.state = true, jobpb.JobState_CANCELLED
	return &jobpb.CancelJobResponse{}, nil
}

func (s *flinkServer) GetState(
	context.Context, *jobpb.GetJobStateRequest, ...grpc.CallOption,
) (*jobpb.JobStateEvent, error) {
	return &jobpb.JobStateEvent{State: s.state}, nil
}

// TestWaitLingers checks that after a cancel, the job has time to find the mark of its attempt and to end, and that the
// submitter reads messages until then. If the job does not end, wait must send Cancel to the server. It must do so at
// once for a server that does not linger.
func TestWaitLingers(t *testing.T) {
	cause := errors.New("enough")
	const delay = time.Second // time before the cancel
	for _, tt := range []struct {
		lingers   bool
		fails     time.Duration
		cancelled bool
		waits     time.Duration // time after the cancel
	}{
		{true, delay + 3*time.Second, false, 3 * time.Second},
		{true, time.Hour, true, lingerTimeout},
		{false, time.Hour, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := &flinkServer{fails: tt.fails, state: jobpb.JobState_RUNNING}
			s := &server{client: client, lingers: tt.lingers}
			ctx, cancel := context.WithCancelCause(t.Context())
			start := time.Now()
			time.AfterFunc(delay, func() { cancel(cause) })
			err := s.wait(ctx, "1")
			took := time.Since(start) - delay
			if !errors.Is(err, cause) || client.cancelled != tt.cancelled || took != tt.waits || !ended(client.state) {
				t.Errorf("%+v: %v after %v, state %v, cancelled %v", tt, err, took, client.state, client.cancelled)
			}
		})
	}
}
