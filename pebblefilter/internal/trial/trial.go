// Package trial compares filter policies in tables and in a database. The compare programs of pebblefilter and of
// pebblefilter/next connect it to their version of Pebble.
//
// The contenders take turns, in another order each time, and times are ratios to the first contender, Base, in the same
// turn. So other load of the machine changes the figures little.
package trial

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Contender is a filter policy.
type Contender struct {
	Name string
	// Open opens a database in dir, or in memory if dir is empty, that makes its filters by the policy and does not
	// compact by itself. It flushes after room bytes of keys and values, counted in memory. table is the size in bytes
	// of tables, or 0 for the sizes of Pebble.
	Open func(dir string, room uint64, table int64) (Store, error)
	// NewTable returns the writer of one filter block.
	NewTable func() Table
	// Has asks a filter block.
	Has func(block, key []byte) bool
}

// Table makes a filter block.
type Table interface {
	AddKey(key []byte)
	Done() []byte
}

// Store is a database.
type Store interface {
	Set(key, value []byte) error
	Get(key []byte) (found bool, err error)
	// Seek reports whether an iterator that uses the filters of all levels finds the key.
	Seek(key []byte) (found bool, err error)
	Flush() error
	// Compact moves everything to the last level.
	Compact(from, to []byte) error
	Counts() Counts
	Close() error
}

// Counts are counters of a database from its metrics.
type Counts struct {
	No, Yes int64 // answers of filters
	Blocks  int64 // blocks read, from the cache or not: data, index and filter
	Levels  []int // tables of each level
	Filters int64 // bytes of all filter blocks
}

// Config configures a measurement.
type Config struct {
	Keys    int   // keys of the database; 0 for none
	Tables  []int // numbers of keys of single tables
	Turns   int
	Queries int // queries of a kind for each contender and turn
	Only    string
	Dir     string
	JSON    bool
	Log     io.Writer
	Stop    <-chan struct{} // if not nil: once it is closed, Run ends with the turns that are complete
}

func (c Config) stopped() bool {
	select {
	case <-c.Stop:
		return true
	default:
		return false
	}
}

// Flags reads a Config.
func Flags(args []string, log io.Writer) (Config, error) {
	c := Config{Log: log}
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.SetOutput(log)
	f.IntVar(&c.Keys, "keys", 5_000_000, "keys of the database; 0 for none")
	tables := f.String("tables", "1000,10000,100000,1000000", "numbers of keys of single tables; empty for none")
	f.IntVar(&c.Turns, "turns", 5, "turns of each contender")
	f.IntVar(&c.Queries, "queries", 300_000, "queries of each kind and turn")
	f.StringVar(&c.Only, "only", "", "only the first contender and those with one of these texts in their name")
	f.StringVar(&c.Dir, "dir", "", "folder of the databases; default: in memory")
	f.BoolVar(&c.JSON, "json", false, "print JSON instead of tables")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	for n := range strings.SplitSeq(*tables, ",") {
		if n == "" {
			continue
		}
		v, err := strconv.Atoi(n)
		if err != nil || v < 1 {
			return c, fmt.Errorf("--tables %q: want numbers of keys, such as 1000,100000", *tables)
		}
		c.Tables = append(c.Tables, v)
	}
	if c.Turns < 1 || c.Queries < 1 || c.Keys < 0 {
		return c, fmt.Errorf("--turns and --queries must be 1 or more, --keys 0 or more")
	}
	return c, nil
}

// Run measures the contenders and writes a report of all measurements with at least one turn. The first contender is
// the base.
func Run(c Config, all []Contender, out io.Writer) error {
	if c.Only != "" {
		all = slices.DeleteFunc(slices.Clone(all), func(x Contender) bool {
			return x.Name != all[0].Name && !slices.ContainsFunc(strings.Fields(c.Only), func(text string) bool {
				return strings.Contains(x.Name, text)
			})
		})
	}
	r := Report{Base: all[0].Name, Turns: c.Turns}
	for _, n := range c.Tables {
		if err := c.tables(&r, all, n); err != nil {
			return err
		}
	}
	if c.Keys > 0 {
		all = slices.DeleteFunc(slices.Clone(all), func(x Contender) bool { return slices.Contains(tablesOnly, x.Name) })
		if err := c.database(&r, all); err != nil {
			return err
		}
	}
	if c.JSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	return r.Markdown(out)
}

// keySize is the length of a key in bytes.
const keySize = 16

// Key writes key i of a set to b: present keys have even numbers, absent ones odd numbers, so that they lie in the
// ranges of the same tables. Keys are spread over the whole space, like hashed or random ids.
func Key(b *[keySize]byte, i int, absent bool) []byte {
	x := uint64(i) << 1
	if absent {
		x |= 1
	}
	x *= 0x9E3779B97F4A7C15 // a bijection
	binary.BigEndian.PutUint64(b[:], x)
	binary.BigEndian.PutUint64(b[8:], x^x>>31)
	return b[:]
}

// order returns the contenders in the order of a turn.
func order(n, turn int) []int { return rand.New(rand.NewPCG(uint64(turn), 1)).Perm(n) }

func (c Config) logf(format string, a ...any) { fmt.Fprintf(c.Log, format+"\n", a...) }

// Specs lists the policies of Bloomery that compete at the bits of bloom(10) and at its rate.
var Specs = []string{
	"blocked(bits_per_key=10)",
	"blockpartitioned(bits_per_key=10,effort=fast)",
	"partitioned(bits_per_key=10,effort=fast)",
	"fuse(width=8)",
	"ribbon(r=8)",
	"blocked(fpr=0.0114)",
	"blockpartitioned(fpr=0.0114,effort=fast)",
	"partitioned(fpr=0.0114,effort=fast)",
}

// tablesOnly are the contenders that databases leave out, to save time.
var tablesOnly = []string{"blocked(fpr=0.0114)", "partitioned(fpr=0.0114,effort=fast)"}

// CacheSize is the size in bytes of the block cache of a database. It holds all blocks of 5 million keys.
const CacheSize = 2 << 30
