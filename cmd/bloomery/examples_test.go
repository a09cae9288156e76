//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// exampleInputs are the input files of the examples, by name. An example that names another file fails.
var exampleInputs = map[string]func(t *testing.T) []byte{
	"blocklist.txt": withKey(keyList(0, 1000), "yopmail.com"), "visitors.txt": keyList(500, 1500), "new-entries.txt": keyList(2000, 2050),
	"allowed.txt": keyList(3000, 5000), "monday.txt": keyList(0, 600), "tuesday.txt": keyList(400, 1000),
	"words.txt": keyList(0, 800), "keys.txt": keyList(0, 500), "large.txt": keyList(0, 20_000), "log.txt": keyList(0, 300),
	"names.txt": keyList(200, 400), "sessions.txt": keyList(0, 400), "ended.txt": keyList(0, 40),
	"addresses.txt":    keyList(0, 30),
	"disposable.txt":   func(*testing.T) []byte { return []byte("0-mail.com\nyopmail.com\n") },
	"revoked-1.txt.gz": zipped(keyList(0, 300)), "revoked-2.txt.gz": zipped(keyList(300, 700)), "huge.gz": zipped(keyList(0, 5000)),
	"all.txt.zst": func(t *testing.T) []byte {
		w, err := zstd.NewWriter(nil)
		must(t, err)
		return w.EncodeAll(keyList(0, 1200)(t), nil)
	},
	"users.csv": func(*testing.T) []byte {
		return []byte("name,email\nAda,ada@example.org\nAlan,alan@example.org\n")
	},
	"events.csv": func(*testing.T) []byte {
		return []byte("id,at\n7,2026-01-01T00:00:00Z\n7,2026-01-02T00:00:00Z\n")
	},
	"log.jsonl": func(*testing.T) []byte {
		return []byte(`{"user":{"id":7},"level":"info"}` + "\n" + `{"user":{"id":7}}` + "\n")
	},
	"routes.tsv":    func(*testing.T) []byte { return []byte("key-1\t3\nkey-2\t200\n") },
	"addresses.tsv": func(*testing.T) []byte { return []byte("192.0.2.1\t49\n192.0.2.2\t33\n") },
	"changes.tsv":   func(*testing.T) []byte { return []byte("key-2\t7\n") },
	"issued.txt":    keyList(0, 3000), "revoked.txt": keyList(100, 200), "serials.txt": keyList(150, 300),
	"bots.txt": keyList(0, 50), "seen.gz": zipped(keyList(0, 5000)), "issued.csv": issued(0, 1000),
	"revoked.csv": issued(10, 30), "seen.csv": issued(20, 60),
	"users.guava": golden("guava-64.bin"), "keys.parquet": golden("pyarrow.parquet"),
	"base.clubcard": revocations("cache/base.clubcard"), "delta.clubcard": revocations("cache/delta.clubcard"),
	"index.bin": revocations("cache/index.bin"), "valid.pem": revocations("valid.pem"),
}

// withKey returns a list with one more key.
func withKey(list func(*testing.T) []byte, key string) func(*testing.T) []byte {
	return func(t *testing.T) []byte { return append(list(t), key+"\n"...) }
}

// issued returns rows of issuers and serial numbers.
func issued(from, to int) func(*testing.T) []byte {
	return func(*testing.T) []byte {
		lines := []byte("issuer,serial\n")
		for i := from; i < to; i++ {
			lines = fmt.Appendf(lines, "CA %d,%08x\n", i%3, i*i)
		}
		return lines
	}
}

// golden returns a file that another system wrote.
func golden(name string) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		b := mustRead(t, filepath.Join("..", "..", "interop", "testdata", name))
		return b
	}
}

// revocations returns a file of the tests of interop/clubcard.
func revocations(name string) func(*testing.T) []byte { return golden("../clubcard/testdata/" + name) }

// exampleSetup maps a command to the lines to run before its examples, if the examples do not build their filters
// themselves.
var exampleSetup = map[string]string{
	"bloomery check": "bloomery build -o blocked.bloom blocklist.txt" +
		" && bloomery build -o known.bloom keys.txt && bloomery build -o disposable.bloom disposable.txt" +
		" && find . -type f -print0 | bloomery build -0 -o files.bloom",
	"bloomery verify": "bloomery build -o blocked.bloom blocklist.txt",
	"bloomery info": "bloomery build -o monday.bloom monday.txt" +
		" && bloomery build -o tuesday.bloom tuesday.txt && bloomery build -o blocked.bloom blocklist.txt",
	"bloomery get":         "bloomery build -o routes.bloom --value-bits 8 keys.txt",
	"bloomery convert":     "bloomery build -o seen.bloom --spec redisbloom log.txt",
	"bloomery shard range": shardSetup,
	"bloomery shard build": shardSetup + " && bloomery shard range large.set --all",
	"bloomery shard finish": shardSetup +
		" && bloomery shard range large.set --all && bloomery shard build large.set --all",
	"bloomery shard status": shardSetup +
		" && bloomery shard range large.set --all && bloomery shard build large.set --all",
	"bloomery patch": "bloomery build -o monday.bloom --spec rankindexed --capacity 140k monday.txt" +
		" && bloomery build -o tuesday.bloom --spec rankindexed --capacity 140k tuesday.txt" +
		" && bloomery diff monday.bloom tuesday.bloom -o tuesday.delta" +
		" && cp monday.bloom blocked.bloom && cp tuesday.delta today.delta",
	"bloomery follow": "bloomery build -o list.bloom blocklist.txt" +
		" && bloomery publish published list.bloom && rm list.bloom" +
		" && bloomery keygen -o list.key",
	"bloomery publish": "bloomery build -o blocked.bloom blocklist.txt && bloomery keygen -o release.key",
	"bloomery exact check": "bloomery exact build -o revoked.exact --members revoked.txt --universe issued.txt" +
		" && echo example.com > listed && bloomery exact build -o blocked.exact --members listed --universe listed" +
		" && bloomery exact build -o parts.exact --members revoked.csv --universe issued.csv" + issuedColumns,
	"bloomery exact verify": "bloomery exact build -o revoked.exact --members revoked.txt --universe issued.txt" +
		" && bloomery exact build -o parts.exact --members revoked.csv --universe issued.csv" + issuedColumns,
	"bloomery clubcard":       clubcardSetup,
	"bloomery clubcard check": clubcardSetup,
	"bloomery exact info":     "bloomery exact build -o revoked.exact --members revoked.txt --universe issued.txt",
	"bloomery exact update":   "bloomery exact build -o monday.exact --members revoked.txt --universe issued.txt",
	"bloomery trim":           "bloomery build -o sessions.bloom --needs remove sessions.txt",
}

// issuedColumns are flags for the columns of issued.
const issuedColumns = " --input-format csv --column serial --partition-column issuer"

// clubcardSetup makes a folder of Clubcards.
const clubcardSetup = "mkdir cache && cp base.clubcard delta.clubcard index.bin cache"

// shardSetup makes a plan with two ranges.
const shardSetup = "bloomery shard plan -o large.set --shards 16 --spec blocked --range-bytes 64Ki large.txt"

// longExamples run too long for a test. They must still be running after 0.4 s, without an error, and end when they are
// interrupted.
var longExamples = []string{
	"bloomery optimize list.bloom --keys blocklist.txt --keys new-entries.txt --budget 5m -o better.bloom",
	"bloomery demo --json", // "bloomery demo" runs completely
	"bloomery follow https://example.org/list -o list.bloom --key list.key.pub",
	"bloomery follow https://example.org/list -o list.bloom --key list.key.pub --exec touch --exec-arg changed",
}

// TestExamples runs every example of every help text as it is printed, in a shell, in a folder with the input files.
// Each must exit with code 0.
func TestExamples(t *testing.T) {
	bin, inputs := exampleBin(t), map[string][]byte{}
	for name, content := range exampleInputs {
		inputs[name] = content(t)
	}
	commands := allCommands((&app{}).rootCommand())
	var all strings.Builder
	for path, c := range commands {
		if c.Runnable() && c.Example == "" && c.Name() != "help" {
			t.Errorf("%s has no example", path)
		}
		if c.Example == "" {
			continue
		}
		fmt.Fprintln(&all, exampleSetup[path], strings.Join(exampleLines(c.Example), "\n"))
		t.Run(strings.ReplaceAll(path, " ", "_"), func(t *testing.T) {
			t.Parallel()
			runExamples(t, bin, inputs, exampleSetup[path], c.Example)
		})
	}
	for name := range exampleInputs {
		if !strings.Contains(all.String(), name) && !strings.HasPrefix(name, "revoked-") {
			t.Errorf("no example reads %s", name)
		}
	}
	for path := range exampleSetup {
		if commands[path] == nil {
			t.Errorf("no command %s", path)
		}
	}
	for _, line := range longExamples {
		if !strings.Contains(all.String(), line) {
			t.Errorf("no longer an example: %s", line)
		}
	}
}

// exampleLines returns the lines of examples. A line that ends in a backslash continues on the next line.
func exampleLines(examples string) []string {
	return strings.Split(strings.ReplaceAll(examples, " \\\n    ", " "), "\n")
}

func runExamples(t *testing.T, bin string, inputs map[string][]byte, setup, examples string) {
	dir := t.TempDir()
	for name, content := range inputs {
		mustWrite(t, filepath.Join(dir, name), content)
	}
	if setup != "" {
		runExample(t, bin, dir, setup)
	}
	for _, line := range exampleLines(examples) {
		if !strings.HasPrefix(line, "  ") || strings.TrimSpace(line) == "" {
			t.Errorf("%q: an example is a line that begins with two spaces", line)
		}
		runExample(t, bin, dir, strings.TrimSpace(line))
	}
}

// exampleTools are the programs of the system that examples may run.
var exampleTools = []string{"sh", "cat", "cp", "find", "gzip", "mkdir", "rm", "touch", "zcat"}

// redisCLI replaces redis-cli in the examples. It accepts the commands of a filter and the RENAME after them. It does
// not connect to a server.
const redisCLI = `#!/bin/sh
test "$*" = "RENAME seen.new seen" && exit
test "$*" = --pipe || { echo "arguments $*" >&2; exit 1; }
IFS= read -r first
case $first in '*'[0-9]*) exec cat >/dev/null ;; esac
echo "no command of Redis: $first" >&2
exit 1
`

// exampleBin returns the only folder of $PATH for the examples. It contains bloomery, exampleTools and redisCLI, so
// that an example cannot run other programs of this machine, which could connect to a server. TestMain has put bloomery
// into $PATH.
func exampleBin(t *testing.T) string {
	bin := t.TempDir()
	for _, name := range append([]string{"bloomery"}, exampleTools...) {
		path, err := exec.LookPath(name)
		must(t, err)
		must(t, os.Symlink(path, filepath.Join(bin, name)))
	}
	must(t, os.WriteFile(filepath.Join(bin, "redis-cli"), []byte(redisCLI), 0o700))
	return bin
}

// runExample runs a line.
func runExample(t *testing.T, bin, dir, line string) {
	long, wait := slices.Contains(longExamples, line), time.Duration(0)
	if long {
		wait = 400 * time.Millisecond
	}
	out, err := runLine(t, bin, dir, line, wait)
	for long && err != nil && !strings.Contains(out, "interrupted") && wait < 20*time.Second {
		wait *= 4 // on a slow machine the program may not have started after 0.4 s
		out, err = runLine(t, bin, dir, line, wait)
	}
	if long && err != nil && strings.Contains(out, "interrupted") {
		return
	}
	if err != nil || strings.Contains(out, "bloomery: warning") {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// shell returns a shell that runs a line in dir with the programs in bin, and is killed with all it started when ctx
// ends.
func shell(ctx context.Context, t *testing.T, bin, dir, line string) *exec.Cmd {
	c := exec.CommandContext(ctx, filepath.Join(bin, "sh"), "-c", line)
	c.Dir = dir
	c.Env = []string{"PATH=" + bin, "HOME=" + dir, "TMPDIR=" + t.TempDir()}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

// runLine runs a line and returns its output. If interrupt is not 0, runLine interrupts the line after this time.
func runLine(t *testing.T, bin, dir, line string, interrupt time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := shell(ctx, t, bin, dir, line)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	must(t, c.Start())
	if interrupt > 0 {
		defer time.AfterFunc(interrupt, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGINT) }).Stop()
	}
	err := c.Wait()
	return out.String(), err
}
