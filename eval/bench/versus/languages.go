package versus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/eval/mavenjars"
)

// Program is the built program of the peers in one language.
type Program struct {
	Language  string
	Command   Command
	Without   []Kind            // kinds of keys that the language does not have
	Toolchain string            // its compiler or runtime, with the version
	Flags     string            // of its build or start, beside those in its project file
	Versions  map[string]string // of the libraries
}

// Languages are the languages of the peers, in the order of Pairs.
var Languages = []string{"rust", "java"}

// A LackError says what this machine lacks to run the peers of a language.
type LackError struct{ What string }

func (e LackError) Error() string { return e.What }

// Prepare builds the program of a language in its folder below dir, the folder bench. It writes what it does to w. The
// error is a LackError if the machine has no compiler of the language.
func Prepare(ctx context.Context, language, dir string, w io.Writer) (Program, error) {
	folder := filepath.Join(dir, language)
	prepare, ok := map[string]func(context.Context, string, io.Writer) (Program, error){
		"rust": prepareRust, "java": prepareJava,
	}[language]
	if !ok {
		return Program{}, fmt.Errorf("peers in %q: want %s", language, strings.Join(Languages, " or "))
	}
	if _, err := os.Stat(folder); err != nil {
		return Program{}, fmt.Errorf("%w; run in the folder bench of the repository", err)
	}
	p, err := prepare(ctx, folder, w)
	if ctx.Err() != nil {
		return p, ctx.Err()
	}
	p.Language = language
	return p, err
}

// nativeFlags makes Rust use all instructions of this processor, such as AES in ahash. Our side finds them at run time.
const nativeFlags = "-C target-cpu=native"

func prepareRust(ctx context.Context, folder string, w io.Writer) (p Program, err error) {
	for _, tool := range []string{"cargo", "rustc"} {
		if _, err := exec.LookPath(tool); err != nil {
			return p, LackError{"peers in Rust need cargo; there is no " + tool + " in PATH"}
		}
	}
	flags, set := os.LookupEnv("RUSTFLAGS")
	if !set {
		flags = nativeFlags
	}
	p.Flags = "RUSTFLAGS=" + flags
	c := exec.CommandContext(ctx, "cargo", "build", "--release", "--locked")
	c.Env = append(os.Environ(), p.Flags)
	if err := build(c, folder, w, w, "crates"); err != nil {
		return p, err
	}
	out, err := exec.CommandContext(ctx, "rustc", "--version").Output()
	if err != nil {
		return p, fmt.Errorf("rustc --version: %w", err)
	}
	p.Toolchain = string(bytes.TrimSpace(out))
	target := os.Getenv("CARGO_TARGET_DIR")
	if target == "" {
		target = filepath.Join(folder, "target")
	}
	program, err := filepath.Abs(filepath.Join(target, "release", "bloomery-peers"))
	if err != nil {
		return p, err
	}
	p.Command = Command{Args: []string{program}}
	p.Versions, err = pins(filepath.Join(folder, "Cargo.lock"), `name = "([^"]+)"\nversion = "([^"]+)"`)
	return p, err
}

// javaFlags are the flags of the virtual machine: no garbage collection on other threads, and most of the memory for
// keys.
var javaFlags = []string{"-XX:+UseSerialGC", "-XX:MaxRAMPercentage=60"}

func prepareJava(ctx context.Context, folder string, w io.Writer) (p Program, err error) {
	if lacks := mavenjars.Lacking("the peer in Java", 17, 0); lacks != "" {
		return p, LackError{lacks}
	}
	c := exec.CommandContext(ctx, "mvn", "-q", "-B", "-Dstyle.color=never", "process-classes")
	if err := build(c, folder, w, io.Discard, "jars"); err != nil { // it prints control characters without a terminal
		return p, err
	}
	target, err := filepath.Abs(filepath.Join(folder, "target"))
	if err != nil {
		return p, err
	}
	p.Flags = strings.Join(javaFlags, " ")
	p.Without = []Kind{Arrays} // its strings are arrays
	path := filepath.Join(target, "classes") + string(os.PathListSeparator) + filepath.Join(target, "lib", "*")
	program := []string{"-cp", path, "bloomery.Peer"}
	p.Command = Command{Args: slices.Concat([]string{mavenjars.Java()}, javaFlags, program)}
	p.Versions, err = pins(filepath.Join(folder, "pom.xml"), `<artifactId>([^<]+)</artifactId>\s*<version>([^<]+)`)
	if err != nil {
		return p, err
	}
	p.Toolchain, err = greeted(ctx, p.Command)
	return p, err
}

// greeted starts a program, ends it, and returns the name of its runtime.
func greeted(ctx context.Context, c Command) (string, error) {
	process, runtime, err := start(ctx, filepath.Base(c.Args[0]), c)
	if err != nil {
		return "", err
	}
	process.close()
	return runtime, nil
}

// build runs a compiler in a folder, and says so to note. What the compiler prints goes to w, its end into the error.
func build(c *exec.Cmd, folder string, note, w io.Writer, loads string) error {
	command := strings.Join(c.Args, " ")
	fmt.Fprintf(note, "%s: %s; the first time it loads %s and takes a minute\n", folder, command, loads)
	says := &tail{}
	c.Dir, c.Stdout, c.Stderr = folder, io.MultiWriter(w, says), io.MultiWriter(w, says)
	c.WaitDelay = patience
	group(c)
	err := c.Run()
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s: %w%s", folder, command, err, says.quote())
}

// pins returns the versions that a project file names.
func pins(path, pattern string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(b, -1) {
		versions[string(m[1])] = string(m[2])
	}
	if len(versions) == 0 {
		return nil, errors.New(path + ": names no versions")
	}
	return versions, nil
}
