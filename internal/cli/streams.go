package cli

import (
	"fmt"
	"io/fs"
	"os"
)

// Closed reports whether standard output was closed when the program began. Go then opens /dev/null in its place, for
// reading and writing, where > /dev/null of a shell opens it for writing. Some programs give their children /dev/null
// opened for both, which looks the same: call Closed only where discarded output does harm.
func Closed(stdout any) bool {
	f := fileOf(stdout)
	if f == nil {
		return false
	}
	st, err := f.Stat()
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(st, null) && readsToo(f)
}

// NotOutput returns an error if standard output goes to the file of an input: appended lines would be read again,
// without an end, and a filter would be damaged. The path "-" means stdin, and so does an empty list of inputs.
func NotOutput(stdout, stdin any, inputs ...string) error {
	if len(inputs) == 0 {
		inputs = []string{"-"}
	}

	for _, path := range inputs {
		if !isOutput(stdout, path, stdin) {
			continue
		}
		if path == "-" {
			path = "standard input"
		}
		return fmt.Errorf("%s is also where standard output goes; send the output to another file", path)
	}
	return nil
}

// isOutput reports whether an input is the regular file that standard output writes to.
func isOutput(stdout any, path string, stdin any) bool {
	var in fs.FileInfo
	out, err := statOf(stdout)
	if err != nil || !out.Mode().IsRegular() {
		return false
	}
	if path == "-" {
		in, err = statOf(stdin)
	} else {
		in, err = os.Stat(path)
	}
	return err == nil && os.SameFile(out, in)
}

// statOf returns the FileInfo of the file behind an input or output.
func statOf(file any) (fs.FileInfo, error) {
	f := fileOf(file)
	if f == nil {
		return nil, fs.ErrInvalid
	}
	return f.Stat()
}

// NoStdout returns an error if an output that must be a file or folder has the name of standard output. what is the
// reason, such as "a sharded set is a folder", and flag the flag or argument that names it.
func NoStdout(flag, what, path string) error {
	if path != "-" {
		return nil
	}
	return fmt.Errorf("%s -: %s and cannot be standard output; name a file or folder, ./- for one called -", flag, what)
}
