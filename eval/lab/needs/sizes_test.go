package needs

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/experiment"
)

var update = flag.Bool("update", false, "write the picture of README.md")

// TestPicture compares the picture of README.md with the result of the experiment.
func TestPicture(t *testing.T) {
	r, err := sizes.Do(t.Context(), experiment.Config{})
	if err != nil {
		t.Fatal(err)
	}

	var want bytes.Buffer
	if err := r.Plots[0].Draw(&want, "svg"); err != nil {
		t.Fatal(err)
	}
	const path = "../../../docs/img/sizes.svg"
	if *update {
		if err := os.WriteFile(path, want.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not the picture of the experiment sizes: run go test ./lab/needs -update in eval (%v)", path, err)
	}
}
