package job

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
)

// prismServer is the job server in this process. It cannot be stopped, so there is one for all jobs.
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
