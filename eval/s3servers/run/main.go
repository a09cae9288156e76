// Command run starts servers of S3 (see package s3servers) and runs a command once for each of them. The variables
// BLOOMERY_S3, BLOOMERY_S3_NAME and AWS_* tell the command the endpoint, the name of the server and its credentials.
//
//	go run ./s3servers/run -server s3proxy,s3mock go -C ../buckets test ./s3 -run TestReal -count=1
//	go run ./s3servers/run -moto DIR/bin/moto_server go -C ../buckets test ./s3 -run TestReal -count=1
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/bloomery/bloomery/eval/s3servers"
)

func main() {
	names := flag.String("server", s3servers.Moto, "`names` of servers with commas, or all: "+
		strings.Join(s3servers.Names, ", "))
	moto := flag.String("moto", "", "`path` of a moto_server, or of a Python that has moto")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := run(ctx, *names, *moto, flag.Args()); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

// run runs the command for every server, even if it failed for an earlier one.
func run(ctx context.Context, names, moto string, command []string) (err error) {
	if len(command) == 0 {
		return errors.New("name a command")
	}
	servers := strings.Split(names, ",")
	if names == "all" {
		servers = s3servers.Names
	}

	for _, name := range servers {
		if lacks := s3servers.Lacking(name, moto); lacks != "" {
			fmt.Printf("NOT RUN against %s: %s\n", name, lacks)
			continue
		}
		if err2 := runAgainst(ctx, name, moto, command); err2 != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", name, err2))
		}
	}
	return err
}

// runAgainst starts a server and runs the command. If it fails, the end of the server's log is printed.
func runAgainst(ctx context.Context, name, moto string, command []string) error {
	dir, err := os.MkdirTemp("", "bloomery-s3-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	start := time.Now()
	s, err := s3servers.Start(ctx, name, s3servers.Options{
		Dir: dir, Bucket: "bucket", Moto: moto, Note: func(text string) { fmt.Println(text) },
	})
	if err != nil {
		return err
	}
	defer s.Stop()
	fmt.Printf("%s runs after %v\n", name, time.Since(start).Round(time.Millisecond))

	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.Env = append(os.Environ(), "BLOOMERY_S3="+s.URL, "BLOOMERY_S3_NAME="+name, "AWS_REGION="+s3servers.Region,
		"AWS_ACCESS_KEY_ID="+s3servers.Key, "AWS_SECRET_ACCESS_KEY="+s3servers.Secret)
	// The terminal sends ctrl-C to the whole process group, so the command also receives it.
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(os.Interrupt) }, 10*time.Second
	if err = c.Run(); err != nil {
		text := s.Log()
		fmt.Printf("the log of %s ends with: %s\n", name, text[max(0, len(text)-2000):])
	}
	return err
}
