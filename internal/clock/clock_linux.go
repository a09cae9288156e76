// Package clock measures CPU time where the system tells it, so that other programs on the machine disturb a
// measurement less. Elsewhere it measures wall time.
package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Name describes the clocks.
const Name = "CPU time of the thread for queries, of the process for builds"

// Thread returns the CPU time of this thread, user and system. Lock the goroutine to its thread while you measure.
func Thread() time.Duration { return cpuTime(unix.CLOCK_THREAD_CPUTIME_ID) }

// Process returns the CPU time of all threads, including the garbage collector's.
func Process() time.Duration { return cpuTime(unix.CLOCK_PROCESS_CPUTIME_ID) }

func cpuTime(clock int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		panic(err) // Linux has had both clocks since 2.6.12
	}
	return time.Duration(t.Nano())
}
