package trial

import (
	"bytes"
	"io"
	"slices"
	"testing"
)

// fake is a database and a table without a filter.
type fake map[string]bool

func (f fake) Set(key, _ []byte) error       { f[string(key)] = true; return nil }
func (f fake) Get(key []byte) (bool, error)  { return f[string(key)], nil }
func (f fake) Seek(key []byte) (bool, error) { return f[string(key)], nil }
func (f fake) Flush() error                  { return nil }
func (f fake) Compact(from, to []byte) error { return nil }
func (f fake) Counts() Counts                { return Counts{} }
func (f fake) Close() error                  { return nil }
func (f fake) AddKey(key []byte)             { f[string(key)] = true }
func (f fake) Done() []byte                  { return []byte("block") }
func (f fake) has(_, key []byte) bool        { return true }
func (f fake) contender(name string) Contender {
	return Contender{
		Name: name, Open: func(string, uint64, int64) (Store, error) { return fake{}, nil },
		NewTable: func() Table { return fake{} }, Has: f.has,
	}
}

// TestStop checks that a stopped run reports the complete turns, and that other runs report all turns.
func TestStop(t *testing.T) {
	all := []Contender{fake{}.contender("a"), fake{}.contender("b")}
	for _, stop := range []bool{false, true} {
		c, err := Flags([]string{"--keys", "200", "--tables", "10", "--turns", "2", "--queries", "50", "--json"}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if stop {
			closed := make(chan struct{})
			close(closed)
			c.Stop = closed
		}
		var out bytes.Buffer
		if err := Run(c, all, &out); err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(out.Bytes(), []byte(`"Contender": "b"`)); got == stop {
			t.Errorf("stopped: %v, report: %s", stop, out.Bytes())
		}
	}
}

func TestRatio(t *testing.T) {
	r := ratio([]float64{10, 30, 80}, []float64{10, 10, 20})
	if (r != Ratio{NS: 30, Median: 3, Lowest: 1, Highest: 4}) {
		t.Errorf("%+v", r)
	}
	if s := (Share{1, 100}).String(); s != "1.000% ± 1.950" {
		t.Error(s)
	}
}

// TestKey checks that present and absent keys differ and are mixed in their order.
func TestKey(t *testing.T) {
	seen := map[[keySize]byte]bool{}
	var first [][]byte
	for i := range 1000 {
		for _, absent := range []bool{false, true} {
			var key [keySize]byte
			Key(&key, i, absent)
			seen[key] = true
			first = append(first, key[:1])
		}
	}
	if len(seen) != 2000 || slices.IsSortedFunc(first, bytes.Compare) {
		t.Errorf("%d different keys", len(seen))
	}
}
