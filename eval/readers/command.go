package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// goCommand is the reader with which all others are compared: the command bloomery with check, count and get.
type goCommand struct {
	path       string // path of the program
	secretFile string
	keysFile   string
}

// newGoCommand builds the command.
func newGoCommand(ctx context.Context, dir string) (*goCommand, error) {
	g := &goCommand{filepath.Join(dir, "bloomery"), filepath.Join(dir, "secret"), filepath.Join(dir, "command.keys")}
	build := exec.CommandContext(ctx, "go", "build", "-o", g.path, "./cmd/bloomery")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the command: %w: %s", err, out)
	}
	return g, nil
}

func (g *goCommand) name() string { return "go" }
func (g *goCommand) close() error { return nil }

// answer queries the command, and the library for the keys that the command does not accept. The library also answers
// the other keys, and both must agree.
func (g *goCommand) answer(ctx context.Context, s *subject, _ string) (reply, error) {
	if s.secret != "-" {
		if err := os.WriteFile(g.secretFile, []byte(s.secret+"\n"), 0o600); err != nil {
			return reply{}, err
		}
	}
	library, libraryErr := s.askLibrary()
	if errors.Is(libraryErr, errPanic) {
		return reply{}, libraryErr
	}
	records := make([]byte, recordSize*len(s.keys))
	var keys []int
	for i, k := range s.keys {
		if k.byCommand() && !s.partitioned {
			keys = append(keys, i)
		}
	}
	refused, err := g.ask(ctx, s, records, keys)
	// Only the library was queried for keys in the damaged shard, or for all keys.
	if refused == "" && libraryErr != nil && (s.plan.shards > 0 || s.partitioned) {
		refused = libraryErr.Error()
	}
	switch {
	case err != nil:
		return reply{}, err
	case (libraryErr != nil) != (refused != ""):
		return reply{}, fmt.Errorf("the command: %q, the library: %v", refused, libraryErr)
	case refused != "":
		return reply{refused: refused}, nil
	}
	for i, k := range s.keys {
		want, got := library[recordSize*i:][:recordSize], records[recordSize*i:][:recordSize]
		if !k.byCommand() || s.partitioned {
			copy(got, want)
		} else if string(want) != string(got) {
			return reply{}, fmt.Errorf("%s: the command: %s, the library: %s", k, recordText(got), recordText(want))
		}
	}
	return reply{records: records}, nil
}

// ask queries the command for the keys with the given numbers.
func (g *goCommand) ask(ctx context.Context, s *subject, records []byte, keys []int) (refused string, err error) {
	safeFirst(s.keys, keys)
	var input []byte
	for _, i := range keys {
		input = append(append(input, s.keys[i].bytes...), 0)
	}
	if err := os.WriteFile(g.keysFile, input, 0o600); err != nil {
		return "", err
	}
	le := binary.LittleEndian
	for _, c := range []struct {
		name string
		do   bool
		all  bool // the subcommand prints a line for every key
		// split splits a line, and keep stores its number in a record.
		split func(line []byte) (key, number []byte)
		keep  func(record []byte, n uint64)
	}{
		{"exact check", s.exact && !s.partitioned, false, splitKey, keepPresent},
		{"check", !s.exact, false, splitKey, keepPresent},
		{"count", s.counts, true, splitCount, func(b []byte, n uint64) { le.PutUint64(b[1:], n) }},
		{"get", s.values, false, splitValue, func(b []byte, n uint64) { b[9] = 1; le.PutUint64(b[10:], n) }},
	} {
		if !c.do {
			continue
		}
		out, refused, err := g.run(ctx, s, c.name)
		if err != nil || refused != "" {
			return refused, err
		}
		printed := items(out)
		if c.all && len(printed) != len(keys) {
			return "", fmt.Errorf("%s printed %d keys of %d", c.name, len(printed), len(keys))
		}
		for _, i := range keys { // the command prints keys in their order
			if len(printed) == 0 {
				break
			}
			name, number := c.split(printed[0])
			if !bytes.Equal(name, s.keys[i].bytes) {
				continue
			}
			n, err := strconv.ParseUint(string(number), 10, 64)
			if err != nil {
				return "", fmt.Errorf("%s printed %q", c.name, printed[0])
			}
			c.keep(records[recordSize*i:], n)
			printed = printed[1:]
		}
		if len(printed) > 0 {
			return "", fmt.Errorf("%s printed %q, which is not the next key", c.name, printed[0])
		}
	}
	return "", nil
}

// splitKey splits a line of check: a key that is present.
func splitKey(line []byte) (key, number []byte) { return line, []byte("1") }

func keepPresent(record []byte, _ uint64) { record[0] = 1 }

// splitCount splits a line of count: the number, a tab and the key.
func splitCount(line []byte) (key, number []byte) {
	number, key, _ = bytes.Cut(line, []byte("\t"))
	return key, bytes.TrimPrefix(number, []byte(">="))
}

// splitValue splits a line of get: a present key, a tab and its value.
func splitValue(line []byte) (key, number []byte) {
	tab := bytes.LastIndexByte(line, '\t')
	return line[:max(tab, 0)], line[tab+1:]
}

// safeFirst moves a key to the front that the command cannot mistake for compressed input or a byte order mark.
func safeFirst(all []key, numbers []int) {
	for j, i := range numbers {
		if b := all[i].bytes; len(b) == 0 || '0' <= b[0] && b[0] <= '9' || 'a' <= b[0] && b[0] <= 'z' {
			numbers[0], numbers[j] = numbers[j], numbers[0]
			return
		}
	}
}

// run runs a subcommand and returns its output. Exit code 2 means that the file was refused.
func (g *goCommand) run(ctx context.Context, s *subject, name string) (out []byte, refused string, err error) {
	args := append(strings.Fields(name), "-q", "-0", "--keep-empty")
	if s.secret != "-" {
		args = append(args, "--secret-file", g.secretFile)
	}
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, g.path, append(args, s.path, g.keysFile)...)
	c.Stdout, c.Stderr = &stdout, &stderr
	err = c.Run()
	var exit *exec.ExitError
	text := strings.TrimSpace(stderr.String())
	switch {
	case err == nil || errors.As(err, &exit) && exit.ExitCode() == 1:
		return stdout.Bytes(), "", nil
	case exit != nil && exit.ExitCode() == 2 && !strings.Contains(text, "goroutine "): // a panic has this code too
		if text == "" {
			text = "exit code 2"
		}
		return nil, text, nil
	}
	return nil, "", fmt.Errorf("bloomery %s: %w: %s", name, err, text)
}

// items splits output at the ends of keys.
func items(out []byte) [][]byte {
	if len(out) == 0 {
		return nil
	}
	return bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
}
