package distribute

import (
	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// Config says what to build. Build.Spec or Build.Needs, Shards, Seed or Secret, Hash, Capacity, FPRChosen and MaxFPR
// mean what they mean for bloomery.Build; the other fields of Build are ignored, but Build.Allow must be nil.
// Build.Shards must be set, and Build.Keys if Build has Needs: nothing counts the keys before the plan.
type Config struct {
	Build bloomery.Config
	Keys  KeyFormat
	// RangeBytes is the size of a range of plain text. Small files share a range, and a compressed file, or
	// one of CSV or TSV, is one range. With less than 64 KiB, the files and requests of a build take more
	// time than its keys. Default: 32 MiB.
	RangeBytes int64
}

// KeyFormat says how keys stand in the input. The zero value is one key a line. Input that is compressed with gzip,
// zstd or bzip2 is decompressed.
type KeyFormat struct {
	Name      string // "lines", "null" (each key ends in a NUL byte), "csv" or "tsv". Default: "lines".
	Column    string // of the keys in CSV and TSV: a name in the header row, or a number from 1; default 1
	Header    bool   // the first row of CSV and TSV is a header row; implied if a column is given by name
	Delimiter string // between the fields of CSV: one character. Default: a comma.
	KeepEmpty bool   // empty lines and fields are keys
	MaxKey    int    // length limit of a key in bytes, at most 1 GiB. Default: 1 MiB.

	// ValueColumn is the column of the values, given like Column, and Separator the byte between the key
	// and the value of a line, below 0x80. They need a Spec with values, such as ribbon(value_bits=8).
	// Defaults: the second column of CSV and TSV, and a tab.
	ValueColumn string
	Separator   string
}

// Options control how a step runs. They do not change its result.
type Options struct {
	// Secret is bloomery.Config.Secret again: Range and Build need it if the hash is keyed.
	Secret *filter.Secret
	// Workers is the number of goroutines that hash, read and search. Default: GOMAXPROCS.
	Workers int
	// Memory is the maximum size in bytes of the key hashes that Build holds in memory; see
	// bloomery.Config.Memory.
	Memory int64
	// TempDir is the folder of temporary files. Default: os.TempDir().
	TempDir string
	// Progress, if not nil, is called now and then with the part of the step that is done, in [0, 1], by
	// one goroutine at a time.
	Progress func(done float64)
	// Removed, if not nil, is called by Finish for each file of an earlier set or plan that it removes.
	Removed func(name string)
}
