package buckets_test

import (
	"testing"

	"github.com/bloomery/bloomery/internal/docs"
)

// TestReadme compiles the examples of README.md.
func TestReadme(t *testing.T) {
	const module = "github.com/bloomery/bloomery/"
	n := docs.CompileExamples(t, ".", []string{"README.md"}, `
var (
	ctx = context.Background()
	key []byte
	pin publish.PublicKey
)
`, map[string]string{
		"context": "context", "buckets": module + "buckets", "publish": module + "publish",
	})
	if n != 2 {
		t.Errorf("%d examples", n)
	}
}
