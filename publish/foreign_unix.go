//go:build unix

package publish

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the owner of a file.
func ownerOf(_ string, st fs.FileInfo) (owner, bool) {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}, false
	}
	return owner{int(s.Uid), int(s.Gid), int(s.Nlink)}, true
}
