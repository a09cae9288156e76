package main

import (
	"runtime/debug"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/plan"
)

// TestLimitGarbage checks the memory limit of the garbage collector in planned builds: the memory of the build, plus
// the size of the filter after it was chosen.
func TestLimitGarbage(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	chosen := 0
	c := bloomery.Config{Needs: plan.Needs{Memory: 1 << 29},
		Building: bloomery.Building{Chosen: func(plan.Choice) { chosen++ }}}
	undo := limitGarbage(&c)
	if got := debug.SetMemoryLimit(-1); got != 1<<29-programMemory {
		t.Errorf("a limit of %d", got)
	}
	c.Building.Chosen(plan.Choice{Spec: family.NewSpec("standard"), Bits: 8 << 20})
	if got := debug.SetMemoryLimit(-1); got != 1<<29-programMemory+1<<20 || chosen != 1 {
		t.Errorf("a limit of %d with the filter; the choice was told %d times", got, chosen)
	}
	c.Building.Chosen(plan.Choice{Spec: family.NewSpec("fuse"), Keys: 1 << 20, BytesBuild: 1 << 10})
	if got := debug.SetMemoryLimit(-1); got != 1<<30 {
		t.Errorf("a limit of %d for a family that needs 1 GiB", got)
	}
	undo()
	named := bloomery.Config{Spec: "fuse"}
	defer limitGarbage(&named)()
	if got := debug.SetMemoryLimit(-1); got != was {
		t.Errorf("a limit of %d, want %d", got, was)
	}
}
