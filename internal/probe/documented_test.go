package probe

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestDocumented checks the examples of probes and of Remix in docs/format.md to the code.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	h := filter.NewHasher(0).SumString("bloomery")
	want := []string{fmt.Sprintf("Hi = %016x, Lo = %016x, m = 1000", h.Hi, h.Lo)}
	x := h.Lo
	for i := range 4 {
		want = append(want, fmt.Sprintf("\n| %d | %016x | %d |\n", i, x, Position(x, 1000)))
		x = Next(x, h.Hi)
	}
	for _, lo := range []uint64{1, h.Lo} {
		name := "1"
		if lo == h.Lo {
			name = fmt.Sprintf("%016x", lo)
		}
		want = append(want, fmt.Sprintf("\n| %s | %016x | %016x | %016x |\n",
			name, Remix(lo, 0), Remix(lo, 1), Remix(lo, 2)))
	}
	for _, w := range want {
		if !strings.Contains(string(text), w) {
			t.Errorf("docs/format.md lacks %q", w)
		}
	}
}
