package main

import (
	"os/exec"
	"strings"
	"testing"
)

// mostPackages is how many packages of other modules the root package may bring along.
const mostPackages = 10

// TestWeight counts the packages of other modules that are compiled for a program that only builds and asks.
func TestWeight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	for _, p := range strings.Fields(string(out)) {
		if !strings.HasPrefix(p, "github.com/bloomery/bloomery") && !strings.HasPrefix(p, "example.com/consumer") {
			others = append(others, p)
		}
		if strings.HasPrefix(p, "gonum.org/") {
			t.Errorf("%s is compiled", p)
		}
	}
	t.Logf("%d packages of other modules: %s", len(others), strings.Join(others, " "))
	if len(others) == 0 || len(others) > mostPackages {
		t.Errorf("%d packages of other modules, want 1 to %d", len(others), mostPackages)
	}
}
