package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// cost is the time and memory of a run of a program.
type cost struct {
	wall, cpu float64 // seconds
	peak      float64 // MiB
}

// time1 removes the set name, then runs a program that writes it.
func (b *bench) time1(program, name string, args ...string) (cost, error) {
	if err := os.RemoveAll(b.path(name)); err != nil {
		return cost{}, err
	}
	c := exec.CommandContext(b.ctx, b.path(program), args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	start := time.Now()
	if err := c.Run(); err != nil {
		return cost{}, fmt.Errorf("%s %q: %w: %s", program, args, err, out.Bytes())
	}
	peak := float64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / (1 << 10)
	if runtime.GOOS == "darwin" {
		peak /= 1 << 10 // there it is in bytes, on Linux in KiB
	}
	return cost{
		wall: time.Since(start).Seconds(), peak: peak,
		cpu: (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(),
	}, nil
}

// trial is a comparison of the two programs.
type trial struct {
	input  string
	spec   string
	shards int
	memory string
	beam   []string // further arguments
}

// both runs the two programs in turn and compares the sets. It returns their median times and largest peaks.
func (b *bench) both(t trial) (single, beam cost, err error) {
	inputs, err := filepath.Glob(t.input)
	if err != nil {
		return single, beam, err
	}
	var singles, beams []cost
	for range b.rounds {
		args := []string{"build", "--quiet", "--shards", fmt.Sprint(t.shards), "--family", t.spec, "-o", b.path("single")}
		s, err := b.time1("bloomery", "single", append(args, inputs...)...)
		if err != nil {
			return single, beam, err
		}
		args = []string{"--quiet", "--shards", fmt.Sprint(t.shards), "--spec", t.spec, "--output", b.path("beam"),
			"--input", t.input, "--memory", t.memory}
		m, err := b.time1("bloomery-beam", "beam", append(args, t.beam...)...)
		if err == nil {
			err = same(b.path("beam"), b.path("single"))
		}
		if err != nil {
			return single, beam, err
		}
		singles, beams = append(singles, s), append(beams, m)
	}
	return median(singles), median(beams), nil
}

// median returns the medians of times, and the largest peak.
func median(all []cost) (m cost) {
	by := func(value func(cost) float64) cost {
		return slices.SortedFunc(slices.Values(all), func(x, y cost) int { return cmp.Compare(value(x), value(y)) })[len(all)/2]
	}
	m.wall, m.cpu = by(func(c cost) float64 { return c.wall }).wall, by(func(c cost) float64 { return c.cpu }).cpu
	for _, c := range all {
		m.peak = max(m.peak, c.peak)
	}
	return m
}

// same returns an error unless two folders have the same files with the same bytes.
func same(got, want string) error {
	files, err := os.ReadDir(want)
	if err != nil {
		return err
	}
	others, err := os.ReadDir(got)
	if err != nil {
		return err
	}
	if len(others) != len(files) {
		return fmt.Errorf("%s has %d files, %s has %d", got, len(others), want, len(files))
	}
	for _, f := range files {
		g, err := os.ReadFile(filepath.Join(got, f.Name()))
		w, err2 := os.ReadFile(filepath.Join(want, f.Name()))
		if err = errors.Join(err, err2); err != nil {
			return err
		}
		if !bytes.Equal(g, w) {
			return fmt.Errorf("%s differs in %s and %s", f.Name(), got, want)
		}
	}
	return nil
}
