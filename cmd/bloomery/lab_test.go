package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeLab stands for bloomery-lab, which is in another module. It prints its arguments. With the argument read it
// prints its input, with fail its exit code is 7, and with wait it ends at a signal.
func fakeLab() {
	fmt.Printf("lab %q\n", os.Args[1:])
	switch args := os.Args[1:]; {
	case len(args) == 0:
	case args[0] == "__complete":
		fmt.Print("ph-anneal\tpasses of a search\nph-time\n:4\n")
	case args[0] == "read":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case args[0] == "fail":
		fmt.Fprintln(os.Stderr, "bloomery-lab: no such thing")
		os.Exit(7)
	case args[0] == "wait":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		fmt.Println("ready")
		select {
		case s := <-signals:
			fmt.Println("got", s)
			os.Exit(9)
		case <-time.After(time.Minute):
		}
	}
}

// TestLabSignal sends a signal to bloomery, which passes it on to bloomery-lab and ends with the exit code of that.
func TestLabSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signal that one process can send another")
	}
	c := exec.Command(os.Args[0])
	c.Args = []string{"bloomery", "lab", "wait"}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for sent := false; ; {
		b := make([]byte, 100)
		n, err := out.Read(b)
		text.Write(b[:n])
		if err != nil {
			break
		}
		if !sent && strings.Contains(text.String(), "ready") {
			sent = true
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 9 || !strings.Contains(text.String(), "got terminated") {
		t.Errorf("exit code %d, %q", code, text.String())
	}
}

// TestLabMissing has neither bloomery-lab nor a compiler in PATH. The working folder has a program of that name and
// sources of a lab, which may be somebody else's.
func TestLabMissing(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "lab"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bloomery-lab", "bloomery-lab.exe", "go", "go.exe", "lab/go.work"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho foreign\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, path := range []string{t.TempDir(), "."} {
		t.Setenv("PATH", path)
		for _, args := range [][]string{{"lab"}, {"lab", "run", "--json", "x"}, {"help", "lab", "run"}, {"lab", "--help"}} {
			var stdout, stderr strings.Builder
			code := run(t.Context(), args, nil, &stdout, &stderr)
			if code != exitError || stdout.Len() > 0 || strings.Count(stderr.String(), labPackage+"@latest") != 1 ||
				slices.Contains(args, "--json") != strings.HasPrefix(stderr.String(), "{") {
				t.Errorf("PATH=%s, %q: exit code %d, %q, %q", path, args, code, stdout.String(), stderr.String())
			}
		}
	}
}
