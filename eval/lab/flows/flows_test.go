package flows

import (
	"os"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/experiment"
)

// TestTable sends packets of two flows through periods: a flow times out after one to two periods, and ends by a reset.
func TestTable(t *testing.T) {
	s := stream{keys: [][]byte{[]byte("a"), []byte("b")}}
	for _, p := range []struct {
		packet
		before uint64 // the state before the packet
	}{
		{packet{0.1, 0, syn}, unknown}, {packet{0.2, 0, synAck}, opening}, {packet{0.3, 1, data}, unknown},
		{packet{1.1, 0, data}, open}, {packet{2.2, 0, fin}, open}, {packet{2.3, 1, data}, unknown}, // 1 timed out
		{packet{3.1, 0, fin}, closing}, {packet{3.2, 0, data}, unknown}, {packet{3.3, 1, reset}, open},
		{packet{3.4, 1, syn}, unknown}, {packet{5.1, 1, syn}, unknown},
	} {
		s.packets = append(s.packets, p.packet)
		if got := s.exact().states[len(s.packets)-1]; got != p.before {
			t.Errorf("packet %+v: state %d before it, want %d", p.packet, got, p.before)
		}
	}

	exact := s.exact()
	if exact.young != 2 || exact.held != 2 {
		t.Errorf("%d flows in the young generation, %d in all", exact.young, exact.held)
	}
	n, err := s.replay(t.Context(), 1e-6, exact)
	if err != nil || n.wrong+n.lost+n.invented > 0 || n.packets != 11 || n.unknown != 6 {
		t.Errorf("%+v, %v", n, err)
	}
}

// TestCaptured reads the capture in the lab.
func TestCaptured(t *testing.T) {
	s, _, err := captured(experiment.Config{})
	if err != nil || len(s.packets) != 26_068 || len(s.keys) != 3017 {
		t.Errorf("%d packets of %d flows, %v", len(s.packets), len(s.keys), err)
	}
}

// TestPage requires that docs/families/rankindexed.md shows the code of the table.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/families/rankindexed.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("table.go")
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(source), "// table maps")
	if !strings.Contains(string(page), "```go\n"+string(source[at:])+"```\n") {
		t.Error("docs/families/rankindexed.md does not show table.go from its first type on")
	}
}
