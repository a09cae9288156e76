package job

import (
	"runtime/debug"
	"testing"
	"time"
)

// TestLimitMemory runs steps of two jobs and checks that the memory limit of the runtime follows their memory.
func TestLimitMemory(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	was := debug.SetMemoryLimit(-1)
	LimitMemory()
	t.Cleanup(func() {
		debug.SetMemoryLimit(was)
		collector.on, collector.set = false, 0
	})
	limited := func(steps string, want int64) {
		t.Helper()
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("%s: limit %d, want %d", steps, got, want)
		}
	}
	const own = programMemory - uncounted
	limited("no steps", was)
	useMemory(512 << 20)
	limited("a job", 512<<20+own)
	useMemory(256 << 20)
	limited("two jobs", 768<<20+own)
	useMemory(-512 << 20)
	limited("the second job", 256<<20+own)
	useMemory(-256 << 20)
	limited("no steps any more", 256<<20+own)

	t.Setenv("GOMEMLIMIT", "1GiB")
	LimitMemory()
	useMemory(512 << 20)
	limited("GOMEMLIMIT is set", 256<<20+own)
	useMemory(-512 << 20)
}

// TestIdleWorker checks that a pool drops the worker of an idle task, but not a worker in use.
func TestIdleWorker(t *testing.T) {
	now := time.Now()
	w := &worker{task: Task{Memory: 1}}
	w.attempts.last = now
	if w.idle(now.Add(-time.Second)) || !w.idle(now.Add(time.Second)) {
		t.Error("without a step, only the time counts")
	}
	w.attempts.m = map[string]*watched{"attempt": {}}
	if w.idle(now.Add(time.Hour)) {
		t.Error("a worker with a step is not idle")
	}
}
