//go:build !linux

package main

import "time"

// clockName says what the times are.
const clockName = "wall time, for want of a CPU clock on this system"

var started = time.Now()

func threadTime() time.Duration  { return time.Since(started) }
func processTime() time.Duration { return time.Since(started) }
