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

// Run runs a tool, such as a compiler, in a folder and reports this to note. It copies the output of the tool to w. An
// error contains the end of the output.
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

// Cargo builds the Rust project in a folder and returns the path of its program with the given name. env is added to
// the environment. The error is a LackError if cargo is missing.
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

// Maven compiles the Java project in a folder and returns the command line that runs a class with flags of the virtual
// machine. The error is a LackError if Java 17 or Maven is missing.
func Maven(ctx context.Context, folder, class string, note io.Writer, flags ...string) ([]string, error) {
	if lacks := mavenjars.Lacking("it", 17, 0); lacks != "" {
		return nil, LackError(lacks)
	}
	target, err := filepath.Abs(filepath.Join(folder, "target"))
	if err != nil {
		return nil, err
	}
	c := Command(ctx, "mvn", "-q", "-B", "-Dstyle.color=never", "process-classes")
	if err := Run(c, folder, note, io.Discard); err != nil { // Maven prints control characters even without a terminal
		return nil, err
	}
	path := filepath.Join(target, "classes") + string(os.PathListSeparator) + filepath.Join(target, "lib", "*")
	return slices.Concat([]string{mavenjars.Java()}, flags, []string{"-cp", path, class}), nil
}

// Exe returns the extension of the file name of a program.
func Exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}
