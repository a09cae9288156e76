package child

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/eval/mavenjars"
)

// LackError names what the machine lacks to build a program.
type LackError string

func (e LackError) Error() string { return string(e) }

// Run runs a tool in a folder, such as a compiler, and says so to note. What the tool prints goes to w, its end into the
// error.
func Run(c *exec.Cmd, folder string, note, w io.Writer) error {
	command := strings.Join(c.Args, " ")
	fmt.Fprintf(note, "%s: %s; the first time it fetches packages\n", folder, command)
	says := &Tail{}
	c.Dir, c.Stdout, c.Stderr = folder, io.MultiWriter(w, says), io.MultiWriter(w, says)
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %s: %w%s", folder, command, err, says.Quote())
	}
	return nil
}

// Cargo builds the project in Rust in a folder and returns the path of its program of this name. env is added to the
// environment. The error is a LackError without cargo.
func Cargo(ctx context.Context, folder, name string, note, w io.Writer, env ...string) (string, error) {
	for _, tool := range []string{"cargo", "rustc"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", LackError("it needs cargo; there is no " + tool + " in PATH")
		}
	}
	c := Command(ctx, "cargo", "build", "--release", "--locked", "--target-dir", "target")
	c.Env = append(os.Environ(), env...)
	if err := Run(c, folder, note, w); err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(folder, "target", "release", name+Exe()))
}

// Maven compiles the project in Java in a folder and returns the command line that runs a class with flags of the virtual
// machine. The error is a LackError without Java 17 or Maven.
func Maven(ctx context.Context, folder, class string, note io.Writer, flags ...string) ([]string, error) {
	if lacks := mavenjars.Lacking("it", 17, 0); lacks != "" {
		return nil, LackError(lacks)
	}
	target, err := filepath.Abs(filepath.Join(folder, "target"))
	if err != nil {
		return nil, err
	}
	c := Command(ctx, "mvn", "-q", "-B", "-Dstyle.color=never", "process-classes")
	if err := Run(c, folder, note, io.Discard); err != nil { // it prints control characters without a terminal
		return nil, err
	}
	path := filepath.Join(target, "classes") + string(os.PathListSeparator) + filepath.Join(target, "lib", "*")
	return slices.Concat([]string{mavenjars.Java()}, flags, []string{"-cp", path, class}), nil
}

// Exe is the end of the name of a program.
func Exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}
