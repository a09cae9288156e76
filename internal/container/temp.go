package container

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/bloomery/bloomery/internal/untrusted"
)

// The temporary file of the file NAME has the name .NAME.tmp- and 16 hex digits, in the same folder. Its writer holds
// its advisory lock until it has renamed or removed it. So an unlocked file belongs to a writer that was killed or has
// just created it. After taking the lock, a writer therefore checks that its file still exists.

// tempPrefix returns the first part of the names of temporary files of target.
func tempPrefix(target string) string { return "." + filepath.Base(target) + ".tmp-" }

// createTemp creates a temporary file of target, locked where that is possible.
func createTemp(target string, mode fs.FileMode) (*os.File, error) {
	for {
		name := filepath.Join(filepath.Dir(target), fmt.Sprintf("%s%016x", tempPrefix(target), rand.Uint64()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return nil, err
		}
		taken, elsewhere := tryLock(f)
		if !elsewhere && (!taken || isPathOf(name, f)) {
			return f, nil
		}
		_ = f.Close() // removeAbandoned has found the file before it was locked, and removes it: take another name
	}
}

func isPathOf(path string, f *os.File) bool {
	one, err := f.Stat()
	two, err2 := os.Lstat(path)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// removeAbandoned removes the temporary files of target whose writers were killed. It leaves those that a living
// process holds, or that it may not open. On systems without locks it does nothing.
func removeAbandoned(target string) {
	RemoveAbandoned(filepath.Dir(target), func(name string) bool { return name == filepath.Base(target) })
}

// RemoveAbandoned removes from a folder the temporary files of WriteAtomic whose writers were killed, for the files
// whose names match, or for all if match is nil. It leaves those that a living process holds, or that it may not open.
// On systems without locks it does nothing.
func RemoveAbandoned(folder string, match func(name string) bool) {
	if !canLock {
		return
	}

	dir, err := os.Open(folder)
	if err != nil {
		return
	}
	defer dir.Close()
	for {
		all, err := dir.Readdirnames(1024)
		for _, name := range all {
			if target, digits, ok := cutTemp(name); ok && len(digits) == 16 && (match == nil || match(target)) {
				if _, err := hex.DecodeString(digits); err == nil {
					removeUnlocked(filepath.Join(folder, name))
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// cutTemp splits the name of a temporary file into the name of its file and the digits.
func cutTemp(name string) (target, digits string, ok bool) {
	at := strings.LastIndex(name, ".tmp-")
	if at < 1 || name[0] != '.' {
		return "", "", false
	}
	return name[1:at], name[at+len(".tmp-"):], true
}

// removeUnlocked removes a regular file unless another process holds its lock.
func removeUnlocked(path string) {
	f, _, err := untrusted.OpenFile(path, os.O_RDWR|untrusted.NoFollow, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if taken, _ := tryLock(f); taken {
		// Names are random and never used again: if the writer has renamed the file, nothing is removed here.
		_ = os.Remove(path)
	}
}

// MayWrite returns an error if WriteAtomic cannot create a file in the folder of path. Callers use it before long work.
// It removes the temporary files of path whose writers were killed, or whose MayWrite was killed.
func MayWrite(path string) error {
	target := path
	if t, err := filepath.EvalSymlinks(path); err == nil {
		target = t
	}

	removeAbandoned(target)
	f, err := createTemp(target, 0o600)
	if err == nil {
		err = discard(f)
	}
	if err == nil {
		return nil
	}
	err, _ = cause(err)
	return fmt.Errorf("%s: folder %s: %w", path, filepath.Dir(target), err)
}

func discard(f *os.File) error {
	var err error
	if canLock { // before Close gives up the lock
		err = os.Remove(f.Name())
	}
	err = errors.Join(err, ignore(f.Close(), os.ErrClosed))
	if !canLock {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return ignore(err, fs.ErrNotExist)
}

// ignore returns err, or nil if it is known.
func ignore(err, known error) error {
	if errors.Is(err, known) {
		return nil
	}
	return err
}
