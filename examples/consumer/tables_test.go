package main

import (
	"testing"

	"github.com/bloomery/bloomery/tablefilter"
)

// TestTables makes the filter block of a table and asks it.
func TestTables(t *testing.T) {
	policy := must(tablefilter.New("blocked(bits_per_key=10)"))(t)
	policy.MaxKeys, policy.Workers = tablefilter.DefaultMaxKeys, 1
	if again := must(tablefilter.Parse(policy.Name()))(t); again.Name() != policy.Name() {
		t.Errorf("%s is parsed as %s", policy.Name(), again.Name())
	}
	w := policy.NewWriter()
	keys := words("row ", 1000)
	for _, k := range keys {
		w.Add([]byte(k))
	}
	block := w.Finish(nil)
	if !tablefilter.HasFilter(block) {
		t.Fatal("no filter")
	}
	for _, k := range keys {
		if !tablefilter.MayContain(block, []byte(k)) {
			t.Errorf("%s is lost", k)
		}
	}
}
