package container

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestDocumented recomputes the examples on the pages of docs/format that use a golden file or one of the vectors. The
// packages below internal/family test the pages of the other families.
func TestDocumented(t *testing.T) {
	for _, c := range []struct {
		path  string
		words int // number of sections that the page prints
		keys  map[string]func(p *plain, h filter.Hash) []string
	}{
		{"partitioned-0", 3, map[string]func(*plain, filter.Hash) []string{
			"key-3": documentedPartitioned, "": documentedFirst,
		}},
		{"blockpartitioned-0", 2, map[string]func(*plain, filter.Hash) []string{
			"key-3": documentedBlockpartitioned, "": documentedFirst,
		}},
		{"twochoice-0", 2, map[string]func(*plain, filter.Hash) []string{
			"key-3": documentedTwochoice, "a": documentedTwochoice,
		}},
	} {
		f, err := ReadFile("testdata/"+c.path+".bloom", Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := newPlain(t, f.Encoded)
		want := []string{"\n    " + f.Spec.String() + "\n", "`internal/container/testdata/" + c.path + ".bloom`"}
		for _, words := range f.Sections[:c.words] {
			want = append(want, "\n"+filtertest.DocumentedWords(words))
		}
		hasher := filter.NewHasher(f.Seed)
		for key, texts := range c.keys {
			h := hasher.SumString(key)
			want = append(want, fmt.Sprintf("Hi = %016x and Lo = %016x", h.Hi, h.Lo))
			want = append(want, texts(p, h)...)
		}
		content, err := os.ReadFile("../../docs/format/" + f.Spec.Family() + ".md")
		if err != nil {
			t.Fatal(err)
		}
		page := strings.Join(strings.Fields(string(content)), " ") // the text may be wrapped anywhere
		for _, text := range want {
			if !strings.Contains(string(content), text) && !strings.Contains(page, text) {
				t.Errorf("docs/format/%s.md lacks:\n%s", f.Spec.Family(), text)
			}
		}
	}
}

// documentedFirst returns the positions of the probes up to the first bit that is 0.
func documentedFirst(p *plain, h filter.Hash) []string {
	at := p.family.positions(p, nil, h)
	for i, a := range at {
		if p.bit(0, a) == 0 {
			list := filtertest.DocumentedList(at[:i])
			return []string{fmt.Sprintf("%s and %d in its first", list, a), fmt.Sprintf("Bit %d is 0: absent.", a)}
		}
	}
	return []string{"an absent key"}
}

func documentedPartitioned(p *plain, h filter.Hash) (rows []string) {
	k, width := p.number("k"), p.number("width")
	base := p.number("bits") - (1<<width - 1)
	group := part(h.Hi, p.number("shards")*p.number("groups"))
	x := h.Lo
	for l, at := range partitionedBits(p, nil, h) {
		bit := (group*k + uint64(l)) * width
		rows = append(rows, fmt.Sprintf("\n| %d | %016x | %d | %d | %d | %d | %d |\n", l, x, part(x, base), bit,
			p.field(1, bit, width), at, p.bit(0, at)))
		x = foldProduct(x, h.Hi|1)
	}
	return rows
}

func documentedBlockpartitioned(p *plain, h filter.Hash) (rows []string) {
	k, width, groups := p.number("k"), p.number("width"), p.number("groups")
	payload := (p.number("block") - groups*k*width) / 32 * 32
	group := part(h.Hi, groups) // of the only block
	for l, at := range blockpartitionedBits(p, nil, h) {
		x := uint32(h.Lo >> (l / 8 * 32))
		q := x * salts[l%8] >> 16
		rows = append(rows, fmt.Sprintf("\n| %d | %08x | %d | %d | %d | %d | %d |\n", l, x, q, uint64(q)*payload>>16,
			p.field(0, (group*k+uint64(l))*width, width), at, p.bit(0, at)))
	}
	return rows
}

func documentedTwochoice(p *plain, h filter.Hash) (rows []string) {
	choices := p.number("choices")
	all, x, starts := uint64(1)<<choices-1, h.Lo, p.number("bits")-choices+1
	for i, at := range twochoiceBits(p, nil, h) {
		all &= p.field(0, at, choices)
		rows = append(rows, fmt.Sprintf("\n| %d | %016x | %d | %0*b | %0*b |\n", i, x, part(x, starts),
			int(choices), p.field(0, at, choices), int(choices), all))
		if all == 0 {
			break
		}
		x = bits.RotateLeft64(9*x, 25) + h.Hi // one shard
	}
	return rows
}

// TestDocumentedHeader compares the example of a header in docs/format.md with the golden file.
func TestDocumentedHeader(t *testing.T) {
	file, err := os.ReadFile("testdata/standard-0.bloom")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	var dump strings.Builder
	for i := 0; i < 128; i += 16 {
		fmt.Fprintf(&dump, "%4d  % x  % x\n", i, file[i:i+8], file[i+8:i+16])
	}
	le := binary.LittleEndian
	for _, want := range []string{
		dump.String(), fmt.Sprintf("%d keys, %d bytes, a spec of %d bytes, CRC %08x.",
			le.Uint64(file[32:]), len(file), le.Uint32(file[56:]), le.Uint32(file[60:])),
		fmt.Sprintf("offset %d, %d bytes, CRC %08x.", le.Uint64(file[64:]), le.Uint64(file[72:]), le.Uint32(file[80:])),
	} {
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("docs/format.md lacks:\n%s", want)
		}
	}
}
