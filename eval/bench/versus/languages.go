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

	"github.com/bloomery/bloomery/eval/child"
)

// Program is the built program of the peers in one language.
type Program struct {
	Language  string
	Command   Command
	Without   []Kind            // kinds of keys that the language does not have
	Toolchain string            // its compiler or runtime, with the version
	Flags     string            // flags of its build or start, in addition to the flags in its project file
	Versions  map[string]string // versions of the libraries
}

// Languages are the languages of the peers, in the order of Pairs.
var Languages = []string{"rust", "java"}

// Prepare builds the program of a language in its folder below dir, the folder bench. It writes its progress to w. The
// error is a child.LackError if the machine has no compiler of the language.
func Prepare(ctx context.Context, language, dir string, w io.Writer) (Program, error) {
	folder := filepath.Join(dir, language)
	if !slices.Contains(Languages, language) {
		return Program{}, fmt.Errorf("peers in %q: want %s", language, strings.Join(Languages, " or "))
	}
	if _, err := os.Stat(folder); err != nil {
		return Program{}, fmt.Errorf("%w; run in the folder bench of the repository", err)
	}
	prepare := prepareRust
	if language == "java" {
		prepare = prepareJava
	}
	p, err := prepare(ctx, folder, w)
	if ctx.Err() != nil {
		return p, ctx.Err()
	}
	p.Language = language
	return p, err
}

// nativeFlags makes Rust use all instructions of this processor, such as AES in ahash. Our side detects them at run
// time.
const nativeFlags = "-C target-cpu=native"

func prepareRust(ctx context.Context, folder string, w io.Writer) (p Program, err error) {
	flags, set := os.LookupEnv("RUSTFLAGS")
	if !set {
		flags = nativeFlags
	}
	p.Flags = "RUSTFLAGS=" + flags
	program, err := child.Cargo(ctx, folder, "bloomery-peers", w, w, p.Flags)
	if err != nil {
		return p, err
	}
	out, err := exec.CommandContext(ctx, "rustc", "--version").Output()
	if err != nil {
		return p, fmt.Errorf("rustc --version: %w", err)
	}
	p.Toolchain = string(bytes.TrimSpace(out))
	p.Command = Command{program}
	p.Versions, err = pins(filepath.Join(folder, "Cargo.lock"), `name = "([^"]+)"\nversion = "([^"]+)"`)
	return p, err
}

// javaFlags are the flags of the virtual machine: no garbage collection on other threads, and most of the memory for
// keys.
var javaFlags = []string{"-XX:+UseSerialGC", "-XX:MaxRAMPercentage=60"}

func prepareJava(ctx context.Context, folder string, w io.Writer) (p Program, err error) {
	p.Flags = strings.Join(javaFlags, " ")
	p.Without = []Kind{Arrays} // its strings are arrays
	if p.Command, err = child.Maven(ctx, folder, "bloomery.Peer", w, javaFlags...); err != nil {
		return p, err
	}
	p.Versions, err = pins(filepath.Join(folder, "pom.xml"), `<artifactId>([^<]+)</artifactId>\s*<version>([^<]+)`)
	if err != nil {
		return p, err
	}
	p.Toolchain, err = greeted(ctx, p.Command)
	return p, err
}

// greeted starts a program, ends it, and returns the name of its runtime.
func greeted(ctx context.Context, c Command) (string, error) {
	process, runtime, err := start(ctx, filepath.Base(c[0]), c)
	if err != nil {
		return "", err
	}
	process.close()
	return runtime, nil
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
