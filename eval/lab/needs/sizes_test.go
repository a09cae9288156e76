package needs

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/experiment"
)

var update = flag.Bool("update", false, "write the picture of README.md")

// TestPicture compares the pictures of README.md, for light and for dark pages, with the result of the experiment.
func TestPicture(t *testing.T) {
	r, err := sizes.Do(t.Context(), experiment.Config{})
	if err != nil {
		t.Fatal(err)
	}

	var light, dark bytes.Buffer
	if err := r.Plots[0].Draw(&light, "svg"); err != nil {
		t.Fatal(err)
	}
	if err := r.Plots[0].DrawDark(&dark, "svg"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]byte{"sizes.svg": light.Bytes(), "sizes-dark.svg": dark.Bytes()} {
		path = "../../../docs/img/" + path
		if *update {
			if err := os.WriteFile(path, want, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not the picture of the experiment sizes: run go test ./lab/needs -update in eval (%v)", path, err)
		}
	}
}
