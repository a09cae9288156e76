package container

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocumentedHeader holds the example of a header in docs/format.md to the golden file.
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
