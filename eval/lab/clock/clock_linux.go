// Package clock has the clocks that measurements of time use: CPU time where the system has it.
package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Name describes the clocks. CPU time is disturbed less by other programs on the machine than wall time.
const Name = "CPU time of the thread for queries, of the process for builds"

// ThreadTime returns the CPU time of this thread, user and system. Lock the goroutine to its thread while you measure.
func ThreadTime() time.Duration { return cpuTime(unix.CLOCK_THREAD_CPUTIME_ID) }

// ProcessTime returns the CPU time of all threads, including the garbage collector's.
func ProcessTime() time.Duration { return cpuTime(unix.CLOCK_PROCESS_CPUTIME_ID) }

func cpuTime(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(err) // Linux has had both clocks since 2.6.12
	}
	return time.Duration(t.Nano())
}
