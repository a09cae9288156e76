package main

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/plan"
)

const (
	programMemory = 32 << 20  // of the program itself, which the garbage collector does not count
	leastMemory   = 128 << 20 // below this, the collector would run all the time
)

// memoryFlags adds the flags that limit the memory for keys. normal describes the default.
func memoryFlags(c *cobra.Command, bytes *int64, dir *string, normal string) {
	usage := "`SIZE`: key hashes in memory, such as 1GiB (default " + normal + ")"
	parse(c, bytes, "memory", usage, func(flag, text string) (int64, error) {
		n, err := parseBytes(flag, text)
		if err == nil && n > 1<<60 {
			err = fmt.Errorf("%s %s: want at most 2^60 bytes", flag, text)
		}
		return int64(n), err
	})
	parseDefault(c, dir, "temp-dir", os.TempDir(), "`DIR`: folder of temporary files", func(flag, text string) (string, error) {
		return text, cli.NoStdout(flag, "temporary files need a folder", text)
	})
	_ = c.MarkFlagDirname("temp-dir")
}

// noLimit is the usual default of --memory.
const noLimit = "no limit"

// limitGarbage makes the garbage collector keep a planned build within its memory limit, or within the needs of the
// family if they are higher: the collector runs more often instead of letting the heap double. Once the filter is
// chosen, its size is added to the limit. undo removes the limit.
func limitGarbage(c *bloomery.Config) (undo func()) {
	if c.Spec != "" {
		return func() {}
	}

	was := debug.SetMemoryLimit(-1) // GOMEMLIMIT
	limit, chosen := intake.BuildMemory(c.Building.Memory, c.Needs.Memory), c.Building.Chosen
	set := func(filter int64) {
		debug.SetMemoryLimit(min(was, max(limit-programMemory, leastMemory)+filter))
	}

	c.Building.Chosen = func(best plan.Choice) {
		if chosen != nil {
			chosen(best)
		}
		_, form := formOf(best)
		if need := best.BytesBuild * float64(best.Keys); !form.Can.Has(family.CanSpill) && need > float64(limit) {
			limit = int64(min(need, 1<<60)) + programMemory
		}
		set(int64(min(best.Bits/8, 1<<60)))
	}
	set(0)
	return func() { debug.SetMemoryLimit(was) }
}

// collectEarly makes the garbage collector run all the time once 1.25x limit bytes of key hashes are in use, instead of
// letting the heap double. undo restores the old setting.
func collectEarly(limit int64) (undo func()) {
	was := debug.SetMemoryLimit(-1) // GOMEMLIMIT
	if limit <= math.MaxInt64/2 {
		debug.SetMemoryLimit(min(was, max(limit+limit/4, leastMemory)+programMemory))
	}
	return func() { debug.SetMemoryLimit(was) }
}
