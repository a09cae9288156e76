package docs_test

import (
	"os"
	"testing"
)

// TestMain runs the tests in the root of the repository, so that paths are written as from there.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	m.Run()
}
