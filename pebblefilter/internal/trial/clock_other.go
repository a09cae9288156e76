//go:build !linux

package trial

import "time"

var began = time.Now()

// ThreadTime returns the wall time: only Linux has a clock of threads here.
func ThreadTime() time.Duration { return time.Since(began) }

// ProcessTime returns the wall time.
func ProcessTime() time.Duration { return time.Since(began) }
