package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

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
			a.logs()
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
