package job

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
)

// ServeWorkers serves a worker pool for External jobs at HOST:PORT until ctx ends. It calls ready once it listens.
func ServeWorkers(ctx context.Context, address string, ready func()) error {
	if !beam.Initialized() {
		beam.Init()
	}
	p, err := startPool(ctx, address)
	if err != nil {
		return err
	}
	ready()
	<-ctx.Done()
	p.stop()
	return nil
}

// pool is a worker pool: Beam's service BeamFnExternalWorkerPool. Its workers are goroutines of this process.
//
// A worker is identified by its id and its control endpoint. Each task manager of Flink and each executor of Spark
// numbers its workers from 1-1 and has its own control endpoint, so one pool can serve several of them.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	at      string // HOST:PORT
	server  *grpc.Server
	root    context.Context // context of the workers
	cancel  context.CancelFunc
	serve   func(context.Context, *fnpb.StartWorkerRequest) error // runs a worker; tests replace it
	mu      sync.Mutex
	workers map[workerKey]*pooled // nil after stop
}

type workerKey struct{ id, control string }

// pooled is a running worker.
type pooled struct {
	connection string // address of the client that started it
	cancel     context.CancelFunc
	ended      chan struct{}
}

// endTimeout is the time for which the pool waits for a stopped worker to end.
const endTimeout = 5 * time.Second

// startPool serves a pool at HOST:PORT; port 0 means any free port. The workers of the pool end with ctx.
func startPool(ctx context.Context, address string) (*pool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}

	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}

	p := newPool(ctx, serveWorker)
	p.at = net.JoinHostPort(host, fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
	fnpb.RegisterBeamFnExternalWorkerPoolServer(p.server, p)
	go func() { _ = p.server.Serve(l) }() // until stop
	return p, nil
}

func newPool(ctx context.Context, serve func(context.Context, *fnpb.StartWorkerRequest) error) *pool {
	p := &pool{server: grpc.NewServer(), serve: serve, workers: map[workerKey]*pooled{}}
	p.root, p.cancel = context.WithCancel(ctx)
	return p
}

// serveWorker runs Beam's harness.
func serveWorker(ctx context.Context, r *fnpb.StartWorkerRequest) error {
	var o harness.Options
	if at := r.GetProvisionEndpoint().GetUrl(); at != "" {
		if info, err := tools.ProvisionInfo(ctx, at); err == nil { // ignore errors: a worker does not need the info
			o.StatusEndpoint, o.RunnerCapabilities = info.GetStatusEndpoint().GetUrl(), info.GetRunnerCapabilities()
		}
	}
	return harness.MainWithOptions(ctx, r.GetLoggingEndpoint().GetUrl(), r.GetControlEndpoint().GetUrl(), o)
}

// StartWorker starts a worker. If a worker with the same id and control endpoint still runs, its runner has forgotten
// it, for example after a restart; StartWorker stops it first.
func (p *pool) StartWorker(ctx context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	control, logging := r.GetControlEndpoint(), r.GetLoggingEndpoint()
	switch {
	case control.GetUrl() == "" || logging.GetUrl() == "":
		return refusal("worker %q: no control endpoint or no logging endpoint", r.GetWorkerId()), nil
	case control.GetAuthentication() != nil || logging.GetAuthentication() != nil:
		return refusal("worker %q: endpoints with authentication are not supported", r.GetWorkerId()), nil
	}

	key := workerKey{r.GetWorkerId(), control.GetUrl()}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers == nil {
		return refusal("the worker pool has stopped"), nil
	}

	w := &pooled{connection: connection(ctx), ended: make(chan struct{})}
	before := p.workers[key]
	p.workers[key] = w
	var own context.Context
	own, w.cancel = context.WithCancel(grpcx.WriteWorkerID(p.root, key.id))
	go func() {
		defer close(w.ended)
		defer w.cancel() // steps that still run no longer have a runner
		if before != nil {
			before.stop()
		}
		if err := p.serve(own, r); err != nil && own.Err() == nil {
			slog.WarnContext(own, "worker ended", "id", key.id, "control", key.control, "error", err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.workers[key] == w {
			delete(p.workers, key)
		}
	}()
	return &fnpb.StartWorkerResponse{}, nil
}

func refusal(format string, args ...any) *fnpb.StartWorkerResponse {
	return &fnpb.StartWorkerResponse{Error: fmt.Sprintf(format, args...)}
}

// StopWorker stops the worker with this id that was started through the same connection. The request contains no
// endpoint, but runners start and stop a worker through one connection: Prism, and the class ExternalEnvironmentFactory
// of Beam for Java, which ends the control stream of the worker before the request. A worker always ends with its
// control stream, so StopWorker leaves workers of other connections alone, which belong to other task managers. For an
// unknown worker it returns no error, because Beam for Java would make it an error of the job.
func (p *pool) StopWorker(ctx context.Context, r *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	from := connection(ctx)
	var found []*pooled
	p.mu.Lock()
	for key, w := range p.workers {
		if key.id == r.GetWorkerId() && w.connection == from {
			found = append(found, w)
		}
	}

	p.mu.Unlock()
	if len(found) == 1 { // if several match, the worker ends when its control stream ends
		found[0].stop()
	}
	return &fnpb.StopWorkerResponse{}, nil
}

// connection returns the address of the client of a call. Each connection has another port.
func connection(ctx context.Context) string {
	if c, ok := peer.FromContext(ctx); ok {
		return c.Addr.String()
	}
	return ""
}

// stop ends a worker and waits for at most endTimeout.
func (w *pooled) stop() {
	w.cancel()
	select {
	case <-w.ended:
	case <-time.After(endTimeout):
	}
}

// stop ends the service and all workers.
func (p *pool) stop() {
	p.mu.Lock()
	workers := p.workers
	p.workers = nil
	p.mu.Unlock()
	p.cancel()
	late := time.After(endTimeout)
	for _, w := range workers {
		select {
		case <-w.ended:
			continue
		case <-late:
		}
		break
	}
	p.server.GracefulStop() // no call takes longer than endTimeout
}
