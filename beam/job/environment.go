package job

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
)

// Environment selects how workers are started. All workers run the same program as the submitter, which is installed on
// their machines: nothing is staged.
type Environment string

// Environments.
const (
	// Loopback: the submitter is the only worker. The job server must be able to connect to this machine.
	Loopback Environment = "loopback"
	// External: the runner asks a worker pool, which `bloomery-beam worker` serves, at EnvironmentConfig = HOST:PORT.
	External Environment = "external"
	// Docker: the runner starts containers of the image EnvironmentConfig.
	Docker Environment = "docker"
	// Process: the runner starts EnvironmentConfig, the path of this program on the workers.
	Process Environment = "process"
)

// Environments lists the environments.
func Environments() []string {
	return []string{string(Loopback), string(External), string(Docker), string(Process)}
}

// check returns an error that tells the user which configuration the environment needs.
func (e Environment) check(config string) error {
	switch e {
	case Loopback:
		if config != "" {
			return fmt.Errorf("the environment loopback takes no configuration, got %q", config)
		}
	case External:
		if _, _, err := net.SplitHostPort(config); err != nil {
			return errors.New("the environment external needs the HOST:PORT of a worker pool, which " +
				"`bloomery-beam worker` serves")
		}
	case Docker:
		if config == "" {
			return errors.New("the environment docker needs the name of an image; see the Dockerfile of bloomery-beam")
		}
	case Process:
		if config == "" {
			return errors.New("the environment process needs the path of bloomery-beam on the workers")
		}
	default:
		return fmt.Errorf("environment %q: want %s", e, strings.Join(Environments(), ", "))
	}
	return nil
}

// start returns the environment for the pipeline. stop ends the workers in this process and their steps. The end
// of ctx does not end them, because a job that is cancelled may need workers to end; see attempt.go.
func (e Environment) start(ctx context.Context, config string) (env *pipepb.Environment, stop func(), err error) {
	stop = func() {}
	urn := graphx.URNEnvDocker
	switch e {
	case Loopback:
		p, err := startPool(context.WithoutCancel(ctx), "localhost:0")
		if err != nil {
			return nil, nil, err
		}
		urn, config, stop = graphx.URNEnvExternal, p.at, p.stop
	case External:
		urn = graphx.URNEnvExternal
	case Process:
		urn, config = graphx.URNEnvProcess, fmt.Sprintf(`{"command": %q}`, config)
	}
	env, err = graphx.CreateEnvironment(ctx, urn, func(context.Context) string { return config })
	if err != nil {
		stop()
		return nil, nil, err
	}
	env.Dependencies = nil // without one the worker is not staged
	return env, stop, nil
}
