package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/cmd/bloomery/domains"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

// children maps the name of a process, used instead of "bloomery", to a function that runs the command in a special
// way. The functions receive the arguments of the command, and return only if they fail.
var children = map[string]func(args []string) error{}

// child returns a process for an entry of children. The process ends with the test.
func child(t *testing.T, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Args = append([]string{name}, args...)
	return cmd
}

// become replaces this process by the command.
func become(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, append([]string{"bloomery"}, args...), os.Environ())
}

func runOn(t *testing.T, stdin string, args ...string) (code int, stdout string) {
	var out bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(stdin), &out, io.Discard)
	return code, out.String()
}

// mustRun is runOn for a command that must end with exit code 0.
func mustRun(t *testing.T, stdin string, args ...string) {
	t.Helper()
	var stderr bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(stdin), io.Discard, &stderr); code != exitOK {
		t.Fatalf("%q: exit code %d, %s", args, code, stderr.String())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

func mustWrite[T string | []byte](t *testing.T, path string, content T) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(content), 0o600))
}

// treeOf returns the kind and content of every file below dir.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		name = workFolder.ReplaceAllString(name, "work")
		tree[name] = e.Type().String()
		if e.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			tree[name] += fmt.Sprintf(" %d bytes %x", len(b), sha256.Sum256(b))
		}
		return nil
	})
	must(t, err)
	return tree
}

// workFolder is the folder of an unfinished build, whose name is random.
var workFolder = regexp.MustCompile(`work-[0-9a-f]{32}`)

// allCommands returns a command and all below it, by the words that call them.
func allCommands(c *cobra.Command) map[string]*cobra.Command {
	all := map[string]*cobra.Command{c.CommandPath(): c}
	for _, sub := range c.Commands() {
		maps.Copy(all, allCommands(sub))
	}
	return all
}

// TestMain runs tests, the command for scripts and program, or one of children. A child must not reach testscript.Main,
// which makes a temporary folder and removes it after the tests.
func TestMain(m *testing.M) {
	if run := children[os.Args[0]]; run != nil {
		fmt.Fprintln(os.Stderr, run(os.Args[1:]))
		os.Exit(exitError)
	}
	if filepath.Base(os.Args[0]) != "bloomery" {
		debug.SetGCPercent(400) // tests that run commands in this process have small heaps, and collected them all the time
	}
	testscript.Main(m, map[string]func(){"bloomery": main})
}

// domainFiles are the lists of the scripts, by name.
var domainFiles = sync.OnceValue(func() map[string][]byte {
	files := map[string][]byte{}
	for name, list := range map[string][]string{"disposable.txt": domains.Disposable(), "ordinary.txt": domains.Ordinary()} {
		files[name] = []byte(strings.Join(list, "\n") + "\n")
	}
	return files
})

// TestScripts runs testdata/script. $SITE is the address of a server without files.
func TestScripts(t *testing.T) {
	site := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(site.Close)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, Setup: func(e *testscript.Env) error {
		for name, list := range domainFiles() {
			if err := os.WriteFile(e.WorkDir+"/"+name, list, 0o666); err != nil {
				return err
			}
		}
		clubcards, err := filepath.Abs("../../interop/clubcard/testdata")
		if err != nil {
			return err
		}
		e.Setenv("CLUBCARDS", clubcards)
		windows, err := filepath.Abs("../../window/testdata")
		if err != nil {
			return err
		}
		e.Setenv("WINDOWS", windows)
		foreign, err := filepath.Abs("../../interop/testdata")
		if err != nil {
			return err
		}
		e.Setenv("FOREIGN", foreign)
		e.Setenv("SITE", site.Listener.Addr().String())
		for name, content := range binaryFiles {
			if err := os.WriteFile(e.WorkDir+"/"+name, []byte(content), 0o600); err != nil {
				return err
			}
		}
		return nil
	}})
}

func TestParseCount(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "12": 12, "10M": 10_000_000, " 64Ki": 65536, "1.5k": 1500, "18446744073709551615": 1<<64 - 1} {
		if got, err := parseCount("--keys", text); err != nil || got != want {
			t.Errorf("parseCount(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "1.5", "NaN", "1e99", "10X", "iM", "99999999T", "10B", "64KiB"} {
		if got, err := parseCount("--keys", text); err == nil {
			t.Errorf("parseCount(%q) = %d", text, got)
		}
	}
	for text, want := range map[string]uint64{"12": 12, "64KiB": 65536, "64Ki": 65536, "2GB": 2_000_000_000, "10B": 10} {
		if got, err := parseBytes("--bytes", text); err != nil || got != want {
			t.Errorf("parseBytes(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "B", "1BB", "1.5B"} {
		if got, err := parseBytes("--bytes", text); err == nil {
			t.Errorf("parseBytes(%q) = %d", text, got)
		}
	}
}

// TestInterrupted interrupts a build before it starts, and checks that no file remains.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	keys := dir + "/keys"
	mustWrite(t, keys, "a\nb\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := run(ctx, []string{"build", "-o", dir + "/out", keys}, nil, os.Stdout, os.Stderr); code != exitError {
		t.Errorf("exit code %d", code)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// TestInterruptedSteps interrupts commands that work in steps and read no input.
func TestInterruptedSteps(t *testing.T) {
	for _, args := range [][]string{{"plan", "--keys", "1M"}, {"demo"}, {"demo", "--json"}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var stdout, stderr strings.Builder
		if code := run(ctx, args, nil, &stdout, &stderr); code != exitError || stdout.Len() > 0 || !strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("%v: exit code %d, %q, %q", args, code, stdout.String(), stderr.String())
		}
	}
}

// TestInterruptedConvert interrupts a conversion before it starts, and a conversion that waits for a pipe. No file may
// remain.
func TestInterruptedConvert(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "keys.guava")
	mustWrite(t, source, "\x01\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01")
	own := filepath.Join(dir, "keys.bloom")
	if code := run(t.Context(), []string{"convert", "-q", source, "-o", own}, nil, os.Stdout, os.Stderr); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	convert := func(ctx context.Context, from, path, to string) {
		t.Helper()
		var stderr strings.Builder
		code := run(ctx, []string{"convert", "--from", from, "--to", to, path, "-o", filepath.Join(dir, "out")}, nil, os.Stdout, &stderr)
		if code != exitError || !strings.Contains(stderr.String(), "interrupted; nothing was left behind") {
			t.Errorf("exit code %d, %q", code, stderr.String())
		}
		if names, _ := os.ReadDir(dir); len(names) != 2 {
			t.Errorf("left behind: %v", names)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	convert(ctx, "guava", source, "guava")
	convert(ctx, "guava", source, "bloomery")
	convert(ctx, "bloomery", own, "guava")
	convert(ctx, "bloomery", own, "bloomery")

	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	defer w.Close()
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if runtime.GOOS != "linux" {
		t.Skip("no file that names a pipe and can be closed while it is read")
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	cause, stop := context.WithCancel(t.Context())
	context.AfterFunc(ctx, stop)
	convert(cause, "guava", path, "bloomery")
}

// TestConvertAdvice checks the errors and hints for files that convert refuses.
func TestConvertAdvice(t *testing.T) {
	const guava = "\x01\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01"
	redis := mustRead(t, "../../interop/testdata/redisbloom.bin")
	redis[12] = 1 // the options: hashes of 32 bits
	path := filepath.Join(t.TempDir(), "file")
	for _, c := range []struct{ from, file, says, hint string }{
		{"guava", guava[:13], "end of the file, whose header tells of more at byte 13", "copy it again"},
		{"guava", guava[:3], "end of the input at byte 3", "copy it again"},
		{"guava", guava + "x", "there are bytes behind the guava filter", "its first 14 bytes: head -c 14"},
		{"guava", "PAR1 and more", "strategy 80", "bloomery convert --help"},
		{"", guava + "x", "not of this format or any other known one", "--from FORMAT tells what is wrong"},
		{"", string(redis), "redisbloom: options 0x1, hashes of 32 bits, an older form", "let the other system make a new one"},
		{"redisbloom", string(redis), "options 0x1, hashes of 32 bits, an older form", "let the other system make a new one"},
	} {
		mustWrite(t, path, c.file)
		var stderr strings.Builder
		args := []string{"convert", path, "-o", path + ".bloom"}
		if c.from != "" {
			args = append(args, "--from", c.from)
		}
		code := run(t.Context(), args, nil, os.Stdout, &stderr)
		if says, hint, _ := strings.Cut(stderr.String(), "\n"); code != exitError || !strings.Contains(says, c.says) || !strings.Contains(hint, c.hint) {
			t.Errorf("%q from %q: exit code %d, %s", c.file, c.from, code, stderr.String())
		}
	}
}

// TestSecondSignal interrupts a process that cannot end by itself, since no process reads its output.
func TestSecondSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no interrupt that one process can send another")
	}
	path := filepath.Join(t.TempDir(), "f.bloom")
	mustRun(t, "a\n", "build", "-o", path)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Args = []string{"bloomery", "check", "-v", path}
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	go func() { _, _ = in.Write([]byte(strings.Repeat("another key\n", 1<<20))) }()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	go func() {
		for ctx.Err() == nil {
			time.Sleep(100 * time.Millisecond) // by then the pipe is full
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}()
	if err := cmd.Wait(); err == nil || ctx.Err() != nil {
		t.Errorf("two interrupts do not end it: %v", err)
	}
}

// TestSignal sends a real signal to a process that reads keys from a pipe that is never closed.
func TestSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no interrupt that one process can send another")
	}
	for s, code := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Args = []string{"bloomery", "build", "-o", filepath.Join(dir, "out.bloom")}
		var stderr strings.Builder
		cmd.Stderr = &stderr
		in, err := cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		// This exceeds the capacity of a pipe, so the process has begun to read when Write returns.
		if _, err := in.Write([]byte(strings.Repeat("a key\n", 200_000))); err != nil {
			t.Fatal(err)
		}
		must(t, cmd.Process.Signal(s))
		err = cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != code || !strings.Contains(stderr.String(), "nothing was left behind") {
			t.Errorf("%v: %v, %q", s, err, stderr.String())
		}
		if names, _ := os.ReadDir(dir); len(names) != 0 {
			t.Errorf("%v: left behind: %v", s, names)
		}
	}
}

// full is a writer on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestFullOutput writes standard output, including help, to a full disk.
func TestFullOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	mustRun(t, "a\n", "build", "-o", path, "--spec", "rankindexed")
	for _, args := range [][]string{
		{}, {"--help"}, {"help", "build"}, {"build", "--help"}, {"completion", "zsh"}, {"version"},
		{"info", path}, {"info", "--json", path}, {"check", path}, {"count", path}, {"plan", "--keys", "1000"},
		{"plan", "--keys", "1000", "--fpr", "0"},
	} {
		var stderr strings.Builder
		code := run(t.Context(), args, strings.NewReader("a\n"), full{}, &stderr)
		if code != exitError || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%q: exit code %d, %q", args, code, stderr.String())
		}
	}
}

// TestHint checks that the advice for damaged filter files is not given for other truncated files, such as captures and
// keys.
func TestHint(t *testing.T) {
	root := (&app{}).rootCommand()
	if got := hint(root, fmt.Errorf("keys.gz: %w", io.ErrUnexpectedEOF)); got != "" {
		t.Errorf("for keys that end too early: %s", got)
	}
	for _, err := range []error{io.ErrUnexpectedEOF, filter.ErrChecksum, filter.ErrCorrupt} {
		broken := fmt.Errorf("a.bloom: %w", &container.FormatError{What: "section", Err: err})
		if got := hint(root, broken); !strings.Contains(got, "damaged") {
			t.Errorf("for a filter with %v: %q", err, got)
		}
	}
}
