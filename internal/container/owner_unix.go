//go:build unix

package container

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/bloomery/bloomery/filter"
)

// keepOwner gives a new file the owner, group, permissions, ACL and attributes of the old one at path. If this process
// may not give away the owner or the group, warning wraps filter.ErrOwner; a file with another group then gets only the
// permissions that both its group and all others had.
func keepOwner(f *os.File, path string, old fs.FileInfo) (warning, err error) {
	attributes, acl, err := attributesOf(path)
	if err == nil { // first, while this process may surely write the file
		err = setAttributes(f, attributes)
	}
	if err != nil {
		return nil, err
	}

	mode := old.Mode().Perm()
	if was, ok := old.Sys().(*syscall.Stat_t); ok {
		if failed := f.Chown(int(was.Uid), int(was.Gid)); failed != nil {
			_ = f.Chown(-1, int(was.Gid)) // the owner of a file may change its group to one of the owner's groups
			mode, warning = lost(f, was, mode, acl, failed)
		}
	}

	// The permissions follow chown, which may clear bits. An ACL includes the permissions. If the old file has none,
	// the ACL that the new file inherited from the folder must go before chmod opens the file.
	if err := setACL(f, acl); err != nil || acl != nil {
		return warning, err
	}
	return warning, f.Chmod(mode)
}

// lost returns the permissions that f may have, and a warning if its owner or group differ from was. It limits an ACL
// in the same way.
func lost(f *os.File, was *syscall.Stat_t, mode fs.FileMode, acl acl, failed error) (fs.FileMode, error) {
	st, err := f.Stat()
	if err != nil {
		acl.limit(0)
		return mode & 0o700, fmt.Errorf("%w: %w", filter.ErrOwner, err)
	}

	now := st.Sys().(*syscall.Stat_t)
	if now.Gid != was.Gid {
		both := acl.group(mode>>3) & mode & 0o7
		mode = mode&0o700 | both<<3 | both
		acl.limit(both)
	}
	if now.Uid == was.Uid && now.Gid == was.Gid {
		return mode, nil
	}

	failed, _ = cause(failed)
	return mode, fmt.Errorf("%w: they were %d:%d and are %d:%d now, with permissions %#o: %w",
		filter.ErrOwner, was.Uid, was.Gid, now.Uid, now.Gid, mode, failed)
}

// acl is a POSIX ACL as Linux stores it, little-endian: a version of 4 bytes, then entries of a tag and permissions, of
// 2 bytes each, and an id of 4. It is nil if a file has none.
type acl []byte

const (
	aclHead, aclEntry = 4, 8
	aclGroup, aclRest = 0x04, 0x20 // tags of the owning group and of all others
)

// group returns the permissions of the owning group. masked are the group's permissions in the mode; with an ACL, these
// are its mask.
func (a acl) group(masked fs.FileMode) fs.FileMode {
	for i := aclHead; i+aclEntry <= len(a); i += aclEntry {
		if binary.LittleEndian.Uint16(a[i:]) == aclGroup {
			masked &= fs.FileMode(binary.LittleEndian.Uint16(a[i+2:]))
		}
	}
	return masked
}

// limit gives the owning group and all others the same permissions.
func (a acl) limit(both fs.FileMode) {
	for i := aclHead; i+aclEntry <= len(a); i += aclEntry {
		if tag := binary.LittleEndian.Uint16(a[i:]); tag == aclGroup || tag == aclRest {
			binary.LittleEndian.PutUint16(a[i+2:], uint16(both&0o7))
		}
	}
}

// giveTo gives a file of root to the owner of its folder.
func giveTo(f *os.File, folder fs.FileInfo) error {
	if s, ok := folder.Sys().(*syscall.Stat_t); ok && s.Uid != 0 {
		return f.Chown(int(s.Uid), int(s.Gid))
	}
	return nil
}

// linkCount returns the number of hard links of a file.
func linkCount(st fs.FileInfo) int {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}

// stranger reports whether a file belongs neither to this user nor to root.
func stranger(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && s.Uid != 0 && int(s.Uid) != os.Geteuid()
}
