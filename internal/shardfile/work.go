package shardfile

import (
	"encoding/hex"
	"strings"
)

// WorkPrefix begins the name of the folder, in that of the set, with the working files of a distributed build. The id
// of the plan, 32 hexadecimal digits, ends it.
const WorkPrefix = "work-"

const workDigits = 32

// WorkName returns the name of a working file of the plan with that id. With an empty file it is the prefix of all.
func WorkName(id, file string) string { return WorkPrefix + id + "/" + file }

// CutWork splits the slash-separated name of a working file, or of the folder of working files, into the id of the plan
// and the name in that folder. ok is false for other names.
func CutWork(name string) (id, file string, ok bool) {
	folder, file, _ := strings.Cut(name, "/")
	id, ok = strings.CutPrefix(folder, WorkPrefix)
	_, err := hex.DecodeString(id)
	return id, file, ok && err == nil && len(id) == workDigits
}
