package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/beam/job"
)

func (a *app) workerCommand() *cobra.Command {
	var port int
	var host, secretFile string
	c := &cobra.Command{
		Use:   "worker --port PORT",
		Short: "Serve a worker pool for --environment external",
		Long: `Serve a worker pool on a port of localhost, until it is interrupted. A runner on this machine, or in the
same pod, starts workers in it for jobs with --environment external --environment-config localhost:PORT. With --host
the pool listens on another address.

Whoever can connect to the port can run jobs of bloomery-beam with the rights of this process.`,
		Example: `  bloomery-beam worker --port 50000
  bloomery-beam worker --port 50000 --secret-file secret.hex`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if port <= 0 || port > 65535 {
				return errors.New("--port: want a port from 1 to 65535")
			}
			if secretFile != "" {
				if _, err := job.ReadSecret(c.Context(), secretFile); err != nil {
					return err
				}
				if err := os.Setenv(job.SecretFileVariable, secretFile); err != nil {
					return err
				}
			}
			a.setUpLogs()
			job.LimitMemory()
			address := net.JoinHostPort(host, strconv.Itoa(port))
			return job.ServeWorkers(c.Context(), address, func() {
				if !a.quiet {
					fmt.Fprintln(a.stderr, "bloomery-beam: workers at", address)
				}
			})
		},
	}
	c.Flags().IntVar(&port, "port", 50000, "`port`")
	c.Flags().StringVar(&host, "host", "localhost", "`address` of this machine; every program that can connect to it "+
		"can run jobs")
	c.Flags().StringVar(&secretFile, "secret-file", "",
		"`file` with the secret of the keyed hash, 32 hex digits; else the variable "+job.SecretFileVariable+" names it")
	return c
}

// isBoot reports whether a runner has started this program as a worker, with the flags of Beam's container contract
// (https://s.apache.org/beam-fn-api-container-contract): --id first.
func isBoot(args []string) bool {
	for _, a := range args {
		if name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "="); name == "id" && strings.HasPrefix(a, "-") {
			return true
		}
	}
	return false
}

// boot is the entry point of containers and of processes that a runner starts. The provision service tells where the
// other services are. Nothing is staged: the program in the image is the worker. It returns the exit code, but usually
// only a signal ends a worker.
func boot(args []string, stderr io.Writer) int {
	f := flag.NewFlagSet("bloomery-beam", flag.ContinueOnError)
	f.SetOutput(stderr)
	id := f.String("id", "", "id of the worker")
	provision := f.String("provision_endpoint", "", "HOST:PORT of the provision service")
	control := f.String("control_endpoint", "", "HOST:PORT of the control service")
	logging := f.String("logging_endpoint", "", "HOST:PORT of the logging service")
	dir := f.String("semi_persist_dir", os.TempDir(), "folder for files of the worker")
	for _, unused := range []string{"artifact_endpoint", "worker", "options"} {
		_ = f.String(unused, "", "not used")
	}
	if err := f.Parse(args); err != nil {
		return 2
	}

	*id = strings.Trim(*id, "'") // Prism quotes it for a shell that is not there
	if err := provisioned(*id, *provision, control, logging, *dir); err != nil {
		fmt.Fprintln(stderr, "bloomery-beam: starting a worker:", err)
		return 1
	}

	for name, value := range map[string]string{
		"worker": "true", "id": *id, "control_endpoint": *control, "logging_endpoint": *logging, "semi_persist_dir": *dir,
	} {
		if err := flag.Set(name, value); err != nil {
			fmt.Fprintln(stderr, "bloomery-beam:", err)
			return 1
		}
	}

	job.LimitMemory()
	beam.Init() // runs the worker
	return 0
}

// provisioned asks the provision service for what the flags do not say, and passes it on to beam.Init.
func provisioned(id, provision string, control, logging *string, dir string) error {
	if provision == "" {
		return nil
	}

	ctx := grpcx.WriteWorkerID(context.Background(), id)
	info, err := tools.ProvisionInfo(ctx, provision)
	if err != nil {
		return fmt.Errorf("the provision service at %s: %w", provision, err)
	}
	if at := info.GetControlEndpoint().GetUrl(); at != "" {
		*control = at
	}
	if at := info.GetLoggingEndpoint().GetUrl(); at != "" {
		*logging = at
	}

	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return err
	}

	file, err := os.CreateTemp(dir, "bloomery-beam-options-*.json")
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.WriteString(options); err != nil {
		return err
	}

	for name, value := range map[string]string{
		"PIPELINE_OPTIONS_FILE": filepath.Clean(file.Name()),
		"STATUS_ENDPOINT":       info.GetStatusEndpoint().GetUrl(),
		"RUNNER_CAPABILITIES":   strings.Join(info.GetRunnerCapabilities(), " "),
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}
