package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
)

// said collects the messages of a runner about a job.
type said struct {
	state jobpb.JobState_Enum
	cause string // the first error of a step, else the last error
	trace string // the last text of several lines
}

// add adds a message to the collection.
func (m *said) add(r *jobpb.JobMessagesResponse) {
	if s := r.GetStateResponse(); s != nil {
		m.state = s.GetState()
	}

	text := r.GetMessageResponse().GetMessageText()
	if strings.Contains(text, "\n") {
		m.trace = text
	}
	if r.GetMessageResponse().GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
		if _, ours := failureIn(m.cause); !ours {
			m.cause = text
		}
	}
}

// follow reads the messages of a job until it has ended, and returns its error. A stream that breaks off is opened
// again if the server knows the job; it begins with the first message again.
func (s *server) follow(ctx context.Context, id string) error {
	for {
		var m said
		broken := s.read(ctx, id, &m)
		if broken == nil || ended(m.state) {
			return m.outcome()
		}
		r, err := s.client.GetState(ctx, &jobpb.GetJobStateRequest{JobId: id})
		switch {
		case err != nil:
			return s.goneError(broken)
		case ended(r.GetState()): // Beam's job servers end the stream too early if a job fails at once
			m.state = r.GetState()
			return m.outcome()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// read reads messages until the job has ended and its error is known. If the server ends the stream earlier, it
// returns io.EOF.
func (s *server) read(ctx context.Context, id string, m *said) error {
	stream, err := s.client.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: id})
	for err == nil && (!ended(m.state) || m.state == jobpb.JobState_FAILED && m.cause == "") {
		var r *jobpb.JobMessagesResponse
		if r, err = stream.Recv(); err == nil {
			m.add(r)
		}
	}
	return err
}

// goneError returns the error for a server that has stopped answering.
func (s *server) goneError(err error) error {
	if errors.Is(err, io.EOF) {
		err = errors.New("it does not know the job")
	}
	return &RunnerError{
		Text: fmt.Sprintf("the job server at %s has gone, or was restarted; if the job still runs, let it end, and repeat "+
			"the command: what is finished is kept", s.at),
		Trace: err.Error(),
	}
}

// outcome returns the error of the job, or nil if the job is done.
func (m *said) outcome() error {
	if m.state == jobpb.JobState_DONE {
		return nil
	}
	for _, text := range []string{m.cause, m.trace} {
		if text, ok := failureIn(text); ok {
			return errors.New(text)
		}
	}
	return explain(m.state, m.cause, m.trace)
}
