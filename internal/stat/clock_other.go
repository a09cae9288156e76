//go:build !linux

package stat

import "time"

// ClockName describes the clocks.
const ClockName = "wall time, because this system has no CPU clock"

var started = time.Now()

// ThreadTime returns the time since the program started.
func ThreadTime() time.Duration { return time.Since(started) }

// ProcessTime returns the time since the program started.
func ProcessTime() time.Duration { return time.Since(started) }
