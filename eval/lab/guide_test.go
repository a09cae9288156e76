package lab

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuide runs the program of docs/guides/experiment.md as if it were in this module, and requires that the measured
// rates agree with the formula.
func TestGuide(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/experiment.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, ok := strings.Cut(string(page), "```go\n")
	program, _, end := strings.Cut(program, "```\n")
	if !ok || !end {
		t.Fatal("the page has no program")
	}
	module, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	source, list := filepath.Join(temp, "main.go"), filepath.Join(temp, "overlay.json")
	binary := filepath.Join(temp, "mine.exe")
	replace := map[string]string{filepath.Join(module, "mine", "main.go"): source} // place in the module -> file
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{source: program, list: string(overlay)} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}

	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", list, "-o", binary, "./mine")
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), binary).CombinedOutput()
	if err != nil || strings.Count(string(out), " yes") != 12 {
		t.Errorf("%v\n%s", err, out)
	}
}
