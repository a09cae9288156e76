package docs_test

import "testing"

// atRoot runs the rest of a test in the root of the repository, so that its paths are written as from there. It is not
// done in TestMain: Go's cache of test results follows only changes of folder that a running test makes.
func atRoot(t *testing.T) { t.Chdir("../..") }
