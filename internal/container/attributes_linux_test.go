package container

import (
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// testACL is u::rw-, u:1000:r--, g::---, m::rw-, o::---: the owning group may not read, although the mode is 0660.
var testACL, _ = hex.DecodeString("02000000" + "01000600ffffffff" + "02000400e8030000" + "04000000ffffffff" +
	"10000600ffffffff" + "20000000ffffffff")

// set sets an attribute. It skips the test if the file system does not support attributes.
func set(t *testing.T, path, name string, value []byte) {
	t.Helper()
	if err := unix.Setxattr(path, name, value, 0); err != nil {
		t.Skipf("NO ATTRIBUTES HERE: %s of %s: %v", name, path, err)
	}
}

func get(t *testing.T, path, name string) string {
	t.Helper()
	b := make([]byte, 1<<16)
	n, err := unix.Getxattr(path, name, b)
	if errors.Is(err, unix.ENODATA) {
		return "none"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

// TestAttributes checks that a replaced file keeps its ACL and attributes, even if it is replaced through a link, and
// that no other user can open the temporary file. A file that is written with Like must also have them.
func TestAttributes(t *testing.T) {
	dir := t.TempDir()
	path, link, like := filepath.Join(dir, "f"), filepath.Join(t.TempDir(), "link"), filepath.Join(dir, "like")
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 1000)
	set(t, path, "user.one", []byte(long))
	set(t, path, "user.empty", nil)
	set(t, path, aclName, testACL)
	for i, name := range []string{path, link, like} {
		ctx := t.Context()
		if name == like {
			ctx = Like(ctx, path)
		}
		err := WriteAtomic(ctx, name, func(w io.Writer) error {
			for _, n := range entries(t, dir) {
				st, err := os.Stat(filepath.Join(dir, n))
				if strings.HasPrefix(n, ".") && (err != nil || st.Mode().Perm() != 0o600) {
					t.Errorf("%s: %v, %v", n, st, err)
				}
			}
			_, err := io.WriteString(w, "new")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(name); string(text) != "new" {
			t.Errorf("%d: %q, %v", i, text, err)
		}
		if get(t, name, "user.one") != long || get(t, name, "user.empty") != "" {
			t.Errorf("%d: the attributes are gone", i)
		}
		if got := get(t, name, aclName); got != string(testACL) {
			t.Errorf("%d: ACL %x", i, got)
		}
		if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o660 {
			t.Errorf("%d: %v, %v", i, st.Mode(), err)
		}
	}
}

// TestFolderACL checks that a file that replaces a file without an ACL does not get the default ACL of its folder.
func TestFolderACL(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	set(t, dir, "system.posix_acl_default", testACL)
	if err := WriteAtomic(t.Context(), path, half("new", nil)); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o640 || get(t, path, aclName) != "none" {
		t.Errorf("%v, ACL %x, %v", st.Mode(), get(t, path, aclName), err)
	}
}

// TestAttributesNotKept checks that an attribute that cannot be kept is an error, and that the old file remains
// unchanged.
func TestAttributesNotKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := getAttribute
	defer func() { getAttribute = before }()
	set(t, path, "user.one", []byte("x"))
	getAttribute = func(string, string, []byte) (int, error) { return 0, unix.EACCES }
	err := WriteAtomic(t.Context(), path, half("new", nil))
	if !errors.Is(err, unix.EACCES) || !strings.Contains(err.Error(), "user.one") {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); string(text) != "old" || len(entries(t, filepath.Dir(path))) != 1 {
		t.Errorf("%q, %v", text, err)
	}
}

// TestLostGroup checks that if a process is not allowed to keep the group of a file, neither the new group nor other
// users get permissions that the old group did not have.
func TestLostGroup(t *testing.T) {
	a := acl(testACL)
	if got := a.group(0o6); got != 0 {
		t.Errorf("the group has %o", got)
	}
	a = append(acl{}, testACL...)
	a.limit(0o4)
	want := append(acl{}, testACL...)
	want[aclHead+2*aclEntry+2], want[aclHead+4*aclEntry+2] = 4, 4
	if string(a) != string(want) {
		t.Errorf("%x, want %x", a, want)
	}
	if acl(nil).group(0o6) != 0o6 {
		t.Error("without an ACL")
	}
}

// mountEnv makes a process started by TestMounted replace a single mounted file in its own mount namespace.
const mountEnv = "BLOOMERY_TEST_MOUNT"

// TestMounted checks that the error for a single mounted file has a hint.
func TestMounted(t *testing.T) {
	if dir := os.Getenv(mountEnv); dir != "" {
		path := filepath.Join(dir, "f")
		err := errors.Join(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
			syscall.Mount(filepath.Join(dir, "outside"), path, "", syscall.MS_BIND, ""))
		if err != nil {
			os.Stdout.WriteString("skip: " + err.Error())
			os.Exit(0)
		}
		err = WriteAtomic(t.Context(), path, half("new", nil))
		os.Stdout.WriteString(err.Error())
		os.Exit(0)
	}
	dir := t.TempDir()
	for _, name := range []string{"f", "outside"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestMounted$")
	cmd.Env = append(os.Environ(), mountEnv+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.HasPrefix(string(out), "skip") {
		t.Skipf("NO MOUNTS HERE: %v, %s", err, out)
	}
	want := filepath.Join(dir, "f") + ": device or resource busy: a file that is mounted alone cannot be replaced; " +
		"mount its folder"
	if !strings.Contains(string(out), want) {
		t.Errorf("%s", out)
	}
	if left := entries(t, dir); len(left) != 2 {
		t.Errorf("%q is left", left)
	}
}

// TestACLLost replaces a file with an ACL as another user. The old owning group, which now belongs to "others", must
// get no new permissions, and a user in the ACL must keep the permissions.
func TestACLLost(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of another owner")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := errors.Join(os.Chmod(dir, 0o777), os.WriteFile(path, nil, 0o600), os.Chown(path, 12345, 23456)); err != nil {
		t.Skip("this root may not change owners:", err)
	}
	open := append([]byte{}, testACL...)
	open[aclHead+4*aclEntry+2] = 4 // other users may read, but not the owning group
	set(t, path, aclName, open)
	cmd := exec.Command(os.Args[0], "-test.run=^TestOwnerLost$")
	cmd.Env, cmd.Dir = append(os.Environ(), ownerEnv+"=1"), dir
	out, err := cmd.CombinedOutput()
	skipEmulated(t, err)
	if strings.HasPrefix(string(out), "skip") {
		t.Skip(string(out))
	}
	if err != nil || !strings.HasSuffix(string(out), "\n<nil>") {
		t.Errorf("%v, %s", err, out)
	}
	if got := get(t, path, aclName); got != string(testACL) {
		t.Errorf("ACL %x, want %x", got, testACL)
	}
}
