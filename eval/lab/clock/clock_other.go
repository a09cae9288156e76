//go:build !linux

// Package clock provides the clocks that measurements use: CPU time if the system has it, else wall time.
package clock

import "time"

// Name describes the clocks.
const Name = "wall time, because this system has no CPU clock"

var started = time.Now()

// ThreadTime returns the time since the program started.
func ThreadTime() time.Duration { return time.Since(started) }

// ProcessTime returns the time since the program started.
func ProcessTime() time.Duration { return time.Since(started) }
