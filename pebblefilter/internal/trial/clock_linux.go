package trial

import (
	"time"

	"golang.org/x/sys/unix"
)

// ThreadTime returns the CPU time of this thread, user and system.
func ThreadTime() time.Duration { return cpuTime(unix.CLOCK_THREAD_CPUTIME_ID) }

// ProcessTime returns the CPU time of all threads.
func ProcessTime() time.Duration { return cpuTime(unix.CLOCK_PROCESS_CPUTIME_ID) }

func cpuTime(clock int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		panic(err) // Linux has had both clocks since 2.6.12
	}
	return time.Duration(t.Nano())
}
