//go:build !linux

package window

import "time"

var started = time.Now()

// threadTime returns the time since the tests started, because this system has no CPU clock of a thread.
func threadTime() time.Duration { return time.Since(started) }
