//go:build unix && !race

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/internal/filtertest"
)

func init() {
	children["hostile"] = func(args []string) error {
		const most = 3 << 30 // the Go runtime reserves much address space that it does not use
		if err := setAddressSpace(most); err != nil {
			return err
		}
		return become(args)
	}
}

// hostile returns the command as a process with a small address space.
func hostile(t *testing.T, dir string, args ...string) *exec.Cmd {
	cmd := child(t, "hostile", args...)
	cmd.Dir = dir
	return cmd
}

// hostileArgs lists commands. @ marks an argument that a command reads or replaces. & marks an argument that may be a
// pipe, for whose writer the command waits.
var hostileArgs = []string{
	"add @ keys", "add f.bloom &", "remove @ keys", "remove f.bloom &", "put @ keys", "put v.bloom &",
	"build -o out.bloom &", "build -o @ keys", "build -o out.bloom --like & keys",
	"build -o out.bloom --spec ribbon --allow & keys",
	"check & keys", "check f.bloom &", "check --secret-file & f.bloom keys", "add --secret-file & f.bloom keys",
	"count & keys", "get & keys", "info &", "estimate &", "estimate f.bloom &", "trim & -o out.bloom",
	"convert @ -o out.bloom", "convert & --from bloomery --to guava -o out", "convert & --from guava -o out.bloom",
	"convert c.bloom --to guava -o @",
	"diff & g.bloom -o out.delta", "diff f.bloom & -o out.delta", "diff f.bloom g.bloom -o @",
	"patch & d.delta -o out.bloom", "patch f.bloom & -o out.bloom", "patch f.bloom d.delta -o @",
	"merge -o out.bloom f.bloom &", "intersect -o out.bloom & f.bloom",
	"optimize @ --keys keys", "optimize o.bloom --keys &",
	"verify & --members keys", "verify f.bloom --members &",
	"clubcard info &", "clubcard check cache &", "clubcard check & chain.pem",
	"exact build -o out.exact --members & --universe keys", "exact build -o out.exact --members keys --universe &",
	"exact info &", "exact check & keys", "exact check e.exact &", "exact verify & --members keys --universe keys",
	"exact update -o out.exact --base & --members keys --universe keys",
	"publish --unsigned -o out @", "shard status @",
	"keygen -o @",
}

// hostileFiles makes the files that the commands name.
func hostileFiles(t *testing.T) (dir string) {
	dir = t.TempDir()
	for name, text := range map[string]string{
		"keys": "a\nb\nc\n", "keys2": "b\nc\nd\n", "values": "a\t1\nb\t2\n", "secret": "00112233445566778899aabbccddeeff\n",
	} {
		mustWrite(t, filepath.Join(dir, name), text)
	}
	clubcards, err := filepath.Abs("../../interop/clubcard/testdata")
	must(t, err)
	err = errors.Join(
		os.Symlink(filepath.Join(clubcards, "cache"), filepath.Join(dir, "cache")),
		os.Symlink(filepath.Join(clubcards, "valid.pem"), filepath.Join(dir, "chain.pem")),
		os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	if err != nil {
		t.Skip(err)
	}
	sparse, err := os.Create(filepath.Join(dir, "sparse"))
	if err == nil {
		err = errors.Join(sparse.Truncate(1<<40), sparse.Close()) // takes no disk
	}
	if err != nil {
		t.Skip("no sparse files here: ", err)
	}
	for _, line := range []string{
		"build -o f.bloom --spec rankindexed --capacity 100 keys", "build -o g.bloom --like f.bloom keys2",
		"build -o s.bloom --spec standard(m=1000,k=3) keys", "build -o t.bloom --spec standard(m=1000,k=3) keys2",
		"build -o c.bloom --spec guava keys", "build -o k.bloom --spec standard --secret-file secret keys",
		"build -o o.bloom --spec partitioned keys",
		"build -o v.bloom --spec rankindexed(capacity=10,value_bits=4) values",
		"diff f.bloom g.bloom -o d.delta",
		"exact build -o e.exact --members keys2 --universe keys2",
	} {
		cmd := program("", strings.Fields(line)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v, %s", line, err, out)
		}
	}
	return dir
}

// TestHostileArguments runs commands with a device, a folder, a pipe without a writer and a file of 1 TiB instead of
// their files. They must fail at once and use little memory. Commands that read pipes must wait for the writer, and end
// when interrupted. A run tests a third of the commands and files.
func TestHostileArguments(t *testing.T) {
	dir, runs := hostileFiles(t), filtertest.Third(t, *long)
	var wg sync.WaitGroup
	next := make(chan func())
	for range 3 {
		wg.Go(func() {
			for f := range next {
				f()
			}
		})
	}
	for i, line := range hostileArgs {
		pipe := fmt.Sprint("pipe", i)
		must(t, syscall.Mkfifo(filepath.Join(dir, pipe), 0o600))
		for _, file := range []string{"/dev/zero", "folder", "sparse", pipe} {
			if !runs() {
				continue
			}
			args := strings.Fields(strings.NewReplacer("@", file, "&", file).Replace(line))
			next <- func() { refusedHostile(t, dir, args, file == pipe && strings.Contains(line, "&")) }
		}
	}
	close(next)
	wg.Wait()
}

// refusedHostile runs a command that must end with an error. If waits is true, it is interrupted.
func refusedHostile(t *testing.T, dir string, args []string, waits bool) {
	var out bytes.Buffer
	cmd := hostile(t, dir, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	var timer *time.Timer
	slow := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	if waits {
		timer = time.AfterFunc(200*time.Millisecond, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
		defer timer.Stop()
	}
	err := cmd.Wait()
	text := out.String()
	switch {
	case !slow.Stop():
		t.Errorf("%q does not end", args)
	case err == nil:
		t.Errorf("%q: no error", args)
	case !waits && (cmd.ProcessState.ExitCode() != exitError || !strings.Contains(text, "bloomery: ")):
		t.Errorf("%q: %v, %s", args, err, text)
	case strings.Contains(text, "goroutine ") || strings.Contains(text, "panic"):
		t.Errorf("%q: %s", args, text)
	}
}

// TestFilesFromPipes checks that every input that may come from a pipe can be read from one, as with the shell's
// <(command).
func TestFilesFromPipes(t *testing.T) {
	dir := hostileFiles(t)
	for i, line := range []string{
		"check &f.bloom keys", "check f.bloom &keys", "check --secret-file &secret k.bloom keys", "info &f.bloom",
		"estimate s.bloom &t.bloom", "verify f.bloom --members &keys", "trim &f.bloom -o x.bloom",
		"merge -o m.bloom s.bloom &t.bloom", "build -o l.bloom --like &f.bloom keys2",
		"convert &f.bloom --from bloomery -o w.bloom --to bloomery",
		"diff &f.bloom g.bloom -o p.delta", "diff f.bloom &g.bloom -o p.delta",
		"patch &f.bloom d.delta -o n.bloom", "patch f.bloom &d.delta -o n.bloom",
	} {
		args := strings.Fields(line)
		var pipe, file string
		for j, a := range args {
			if name, ok := strings.CutPrefix(a, "&"); ok {
				pipe, file = filepath.Join(dir, fmt.Sprintf("pipe%d", i)), filepath.Join(dir, name)
				args[j] = pipe
			}
		}
		content, err := os.ReadFile(file)
		if err == nil {
			err = syscall.Mkfifo(pipe, 0o600)
		}
		must(t, err)
		cmd := hostile(t, dir, args...)
		written := make(chan error, 1)
		go func() { written <- os.WriteFile(pipe, content, 0o600) }()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v, %s", line, err, out)
			if f, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil { // ends the writer
				_ = f.Close()
			}
			continue
		}
		if err := <-written; err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}
