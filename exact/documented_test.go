package exact

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocumented compares the example of docs/format/exact.md with the code.
func TestDocumented(t *testing.T) {
	content := must(os.ReadFile("../docs/format/exact.md"))
	data := must(os.ReadFile("testdata/few.exact"))
	s := must(FromBytes(data))
	var want []string
	for at := 0; at < len(data); at += 16 {
		want = append(want, fmt.Sprintf("\n%3d  % x\n", at, data[at:min(at+16, len(data))]))
	}
	r := s.records[0]
	rate := r.classes[0].rate()
	seen := map[string]bool{}
	for i := range 1000 {
		key := fmt.Sprintf("key-%d", i)
		h := clearUnused(s.hasher.SumString(key))
		row := fmt.Sprintf("\n| `%s` | %016x | %016x | ", key, h.Hi, h.Lo)
		kind := "absent"
		if r.first[rate].Has(h) {
			again, value := rehash(h), 0
			if r.lastBit(h) {
				value = 1
			}
			row += fmt.Sprintf("present | %016x | %016x | %d |", again.Hi, again.Lo, value)
			kind = fmt.Sprint(value)
		} else {
			row += "absent | | | |"
		}
		if !seen[kind] {
			want = append(want, row+map[bool]string{true: " yes |\n", false: " no |\n"}[s.Contains([]byte(key))])
		}
		seen[kind] = true
	}
	for _, text := range want {
		if !strings.Contains(string(content), text) {
			t.Errorf("docs/format/exact.md lacks:%s", text)
		}
	}
}
