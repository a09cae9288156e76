package window

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the CPU time of this thread. The goroutine must be locked to its thread during the measurement.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // Linux has had this clock since 2.6.12
	}
	return time.Duration(t.Nano())
}
