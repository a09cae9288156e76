//go:build !linux

package main

import "time"

// clockName describes the clock of the measurements.
const clockName = "wall time, because this system has no CPU clock"

var started = time.Now()

func threadTime() time.Duration  { return time.Since(started) }
func processTime() time.Duration { return time.Since(started) }
