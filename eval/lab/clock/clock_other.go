//go:build !linux

// Package clock has the clocks that measurements of time use: CPU time where the system has it.
package clock

import "time"

// Name describes the clocks.
const Name = "wall time, because this system has no CPU clock"

var started = time.Now()

// ThreadTime returns the time since the program started.
func ThreadTime() time.Duration { return time.Since(started) }

// ProcessTime returns the time since the program started.
func ProcessTime() time.Duration { return time.Since(started) }
