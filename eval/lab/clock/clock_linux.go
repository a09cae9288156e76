// Package clock provides the clocks that measurements use: CPU time if the system has it, else wall time.
package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Name describes the clocks. CPU time is disturbed less by other programs on the machine than wall time.
const Name = "CPU time of the thread for queries, of the process for builds"

// ThreadTime returns the user and system CPU time of this thread. The goroutine must be locked to its thread during the
// measurement.
func ThreadTime() time.Duration { return cpuTime(unix.CLOCK_THREAD_CPUTIME_ID) }

// ProcessTime returns the CPU time of all threads, including the threads of the garbage collector.
func ProcessTime() time.Duration { return cpuTime(unix.CLOCK_PROCESS_CPUTIME_ID) }

func cpuTime(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(err) // Linux has had both clocks since 2.6.12
	}
	return time.Duration(t.Nano())
}
