package job

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
)

// ServeWorkers serves a worker pool for External jobs on a port of localhost until ctx ends. It calls ready when it
// listens.
func ServeWorkers(ctx context.Context, port int, ready func()) error {
	if !beam.Initialized() {
		beam.Init()
	}
	pool, err := extworker.StartLoopback(ctx, port)
	if err != nil {
		return err
	}
	ready()
	<-ctx.Done()
	return pool.Stop(context.WithoutCancel(ctx))
}
