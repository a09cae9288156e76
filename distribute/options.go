package distribute

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/parallel"
)

// Options control how a step runs. They do not change its result.
type Options struct {
	// Secret is that of bloomery.Config.Secret. A plan with a keyed hash needs it in Range and Build.
	Secret *[filter.SecretSize]byte
	// Workers is the number of goroutines that hash, read and search. Default: GOMAXPROCS.
	Workers int
	// Memory is the maximum size in bytes of the key hashes that Build holds in memory; see bloomery.Config.Memory.
	Memory int64
	// TempDir is the folder of temporary files. Default: os.TempDir().
	TempDir string
	// Formats are those that were given to NewPlan.
	Formats Formats
	// Progress, if not nil, is called now and then with the part of the step that is done, in [0, 1], by one goroutine
	// at a time.
	Progress func(done float64)
	// Removed, if not nil, is called by Finish for each file of an earlier set or plan that it removes.
	Removed func(name string)
}

func (o Options) workers() int { return parallel.Workers(o.Workers) }

func (o Options) progress(done float64) {
	if o.Progress != nil {
		o.Progress(min(max(done, 0), 1))
	}
}
