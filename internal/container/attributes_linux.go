package container

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const aclName = "system.posix_acl_access"

// mostAttributes is the largest size in bytes of an attribute, and of all names, on Linux.
const mostAttributes = 64 << 10

// getAttribute is a variable for tests.
var getAttribute = unix.Lgetxattr

// attributesOf returns the user.* attributes of a file, and its ACL, or nil.
func attributesOf(path string) (user map[string][]byte, a acl, err error) {
	b := make([]byte, mostAttributes)
	n, err := unix.Llistxattr(path, b)
	if err != nil {
		return nil, nil, ignoreNone(err)
	}

	user = map[string][]byte{}
	for name := range strings.SplitSeq(string(b[:n]), "\x00") {
		if !strings.HasPrefix(name, "user.") {
			continue
		}
		n, err := getAttribute(path, name, b)
		if err != nil {
			return nil, nil, notKept(name, err)
		}
		user[name] = append([]byte{}, b[:n]...)
	}

	// Some file systems do not list the ACL among the attributes.
	n, err = unix.Lgetxattr(path, aclName, b)
	if err != nil {
		return user, nil, ignoreNone(err)
	}
	return user, b[:n], nil
}

// setAttributes gives a file attributes.
func setAttributes(f *os.File, user map[string][]byte) error {
	for name, value := range user {
		if err := unix.Fsetxattr(int(f.Fd()), name, value, 0); err != nil {
			return notKept(name, err)
		}
	}
	return nil
}

// setACL gives a file an ACL. nil removes the ACL that the file inherited from its folder.
func setACL(f *os.File, a acl) error {
	if a == nil {
		return ignoreNone(unix.Fremovexattr(int(f.Fd()), aclName))
	}
	if err := unix.Fsetxattr(int(f.Fd()), aclName, a, 0); err != nil {
		return notKept(aclName, err)
	}
	return nil
}

// notKept is the error of an attribute that cannot be read or set.
func notKept(name string, err error) error {
	return fmt.Errorf("the attribute %s of the old file cannot be kept: %w; remove it, or the file", name, err)
}

// ignoreNone returns nil for the errors of a file without an attribute, and of a file system without any.
func ignoreNone(err error) error {
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return err
}
