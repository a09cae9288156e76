package publish

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestNoHTTP: programs that use the library without this package and its transport do not link net/http.
func TestNoHTTP(t *testing.T) {
	const module = "github.com/bloomery/bloomery"
	for path, want := range map[string]bool{
		module: false, module + "/delta": false, module + "/distribute": false, module + "/publish": true,
	} {
		out, err := exec.Command("go", "list", "-deps", path).Output()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if got := slices.Contains(strings.Fields(string(out)), "net/http"); got != want {
			t.Errorf("%s links net/http: %v, want %v", path, got, want)
		}
	}
}
