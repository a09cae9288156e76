package doctest

import (
	"path/filepath"
	"testing"
)

// TestExamples compiles the examples of README.md and docs.
func TestExamples(t *testing.T) {
	const module = "github.com/bloomery/bloomery"
	imports := map[string]string{"bloomery": module, "clubcard": module + "/interop/clubcard", "x509": "crypto/x509"}
	for _, p := range []string{
		"delta", "distribute", "exact", "filter", "interop", "plan", "publish", "shard", "window",
	} {
		imports[p] = module + "/" + p
	}
	for _, p := range []string{"context", "fmt", "io", "log", "os", "slices", "time"} {
		imports[p] = p
	}
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	n := Check(t, "../..", append(docs, "../../README.md"), `
var (
	ctx       = context.Background()
	blocklist []string
	keys      [][]byte
	answers   []bool
	domain    string
	url       string
	r         io.Reader
	w         io.Writer
	n         uint64
	data      []byte
	cert      *x509.Certificate
	issuer    *x509.Certificate
)
`, imports)
	if n < 6 {
		t.Errorf("%d examples", n)
	}
}
