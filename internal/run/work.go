package run

import (
	"encoding/hex"
	"strings"
)

// WorkPrefix begins the name of the folder with the working files of a distributed build. The id of the plan, PlanDigits
// hexadecimal digits, ends it.
const (
	WorkPrefix = "work-"
	PlanDigits = 32
)

// IsWork reports whether name is that of a folder with the working files of a distributed build.
func IsWork(name string) bool {
	id, ok := strings.CutPrefix(name, WorkPrefix)
	_, err := hex.DecodeString(id)
	return ok && err == nil && len(id) == PlanDigits
}
