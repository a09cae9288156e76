//go:build !linux

// Package clock measures wall time: this system has no CPU clock that it reads.
package clock

import "time"

// Name describes the clocks.
const Name = "wall time, because this system has no CPU clock"

var started = time.Now()

// Thread returns the time since the program started.
func Thread() time.Duration { return time.Since(started) }

// Process returns the time since the program started.
func Process() time.Duration { return time.Since(started) }
