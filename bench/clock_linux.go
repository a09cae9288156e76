package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// clockName describes the clock of the measurements.
const clockName = "CPU time of the thread for queries, of the process for builds"

// threadTime returns the CPU time of this thread, user and system, in nanoseconds.
func threadTime() time.Duration { return cpuTime(unix.CLOCK_THREAD_CPUTIME_ID) }

// processTime returns the CPU time of all threads, including the garbage collector's.
func processTime() time.Duration { return cpuTime(unix.CLOCK_PROCESS_CPUTIME_ID) }

func cpuTime(clock int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		panic(err) // Linux has had both clocks since 2.6.12
	}
	return time.Duration(t.Nano())
}
