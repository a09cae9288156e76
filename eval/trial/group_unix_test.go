//go:build unix

package main

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// waitGone waits until the process whose number is in a file has ended.
func waitGone(t *testing.T, path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(b))
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if syscall.Kill(pid, 0) != nil || zombie(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d still runs", pid)
}

// zombie reports whether a process has ended, but no other process has waited for it.
func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && len(b) > 0 && string(b[len("0 (sleep) ")+len(strconv.Itoa(pid))-1:][:1]) == "Z"
}
