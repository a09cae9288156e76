package job

import (
	"fmt"
	"runtime/debug"
)

// Version returns the version of the module from which this program was built, or "" if the build has none.
func Version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok || b.Main.Version == "(devel)" {
		return ""
	}
	return b.Main.Version
}

// sameProgram returns an error if the submitter and a worker are known to be different versions: they may not have the
// same steps and files.
func sameProgram(submitter, worker string) error {
	if submitter == "" || worker == "" || submitter == worker {
		return nil
	}
	return fmt.Errorf("the submitter is bloomery-beam %s and a worker is %s: run the same version on all machines",
		submitter, worker)
}
