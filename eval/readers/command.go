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

// goCommand is the reader that all others are compared with: the command bloomery with check, count and get.
type goCommand struct {
	path       string // of the program
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

// answer asks the command, and the library for the keys that the command does not take. The library answers the other
// keys too: both must agree.
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
	// Keys in the damaged shard were for the library only, or all were.
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

// ask answers the keys with these numbers by the command.
func (g *goCommand) ask(ctx context.Context, s *subject, records []byte, keys []int) (refused string, err error) {
	safeFirst(s.keys, keys)
	var input []byte
	for _, i := range keys {
		input = append(append(input, s.keys[i].bytes...), 0)
	}
	if err := os.WriteFile(g.keysFile, input, 0o600); err != nil {
		return "", err
	}
	for _, c := range []struct {
		name string
		do   bool
		read func(records []byte, keys []int, out []byte) error
	}{
		{"exact check", s.exact && !s.partitioned, s.present}, {"check", !s.exact, s.present},
		{"count", s.counts, s.counted}, {"get", s.values, s.valued},
	} {
		if !c.do {
			continue
		}
		out, refused, err := g.run(ctx, s, c.name)
		if err != nil || refused != "" {
			return refused, err
		}
		if err := c.read(records, keys, out); err != nil {
			return "", err
		}
	}
	return "", nil
}

// safeFirst moves a key to the front that the command does not take for compressed input or a byte order mark.
func safeFirst(all []key, numbers []int) {
	for j, i := range numbers {
		if b := all[i].bytes; len(b) == 0 || '0' <= b[0] && b[0] <= '9' || 'a' <= b[0] && b[0] <= 'z' {
			numbers[0], numbers[j] = numbers[j], numbers[0]
			return
		}
	}
}

// run runs a subcommand and returns what it printed. Exit code 2 means that the file was refused.
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

// present reads the output of check: the keys that are present, in order.
func (s *subject) present(records []byte, keys []int, out []byte) error {
	printed := items(out)
	for _, i := range keys {
		if len(printed) > 0 && bytes.Equal(printed[0], s.keys[i].bytes) {
			records[recordSize*i] = 1
			printed = printed[1:]
		}
	}
	if len(printed) > 0 {
		return fmt.Errorf("check printed %q, which is not the next key", printed[0])
	}
	return nil
}

// counted reads the output of count: for each key the number, a tab and the key.
func (s *subject) counted(records []byte, keys []int, out []byte) error {
	printed := items(out)
	if len(printed) != len(keys) {
		return fmt.Errorf("count printed %d keys of %d", len(printed), len(keys))
	}
	for j, i := range keys {
		number, text, ok := bytes.Cut(printed[j], []byte("\t"))
		n, err := strconv.ParseUint(strings.TrimPrefix(string(number), ">="), 10, 64)
		if err != nil || !ok || !bytes.Equal(text, s.keys[i].bytes) {
			return fmt.Errorf("count printed %q for %s", printed[j], s.keys[i])
		}
		binary.LittleEndian.PutUint64(records[recordSize*i+1:], n)
	}
	return nil
}

// valued reads the output of get: each present key, a tab and its value.
func (s *subject) valued(records []byte, keys []int, out []byte) error {
	printed := items(out)
	for _, i := range keys {
		if len(printed) == 0 {
			break
		}
		tab := bytes.LastIndexByte(printed[0], '\t')
		if tab < 0 || !bytes.Equal(printed[0][:tab], s.keys[i].bytes) {
			continue
		}
		value, err := strconv.ParseUint(string(printed[0][tab+1:]), 10, 64)
		if err != nil {
			return fmt.Errorf("get printed %q", printed[0])
		}
		records[recordSize*i+9] = 1
		binary.LittleEndian.PutUint64(records[recordSize*i+10:], value)
		printed = printed[1:]
	}
	if len(printed) > 0 {
		return fmt.Errorf("get printed %q, which is not the next key", printed[0])
	}
	return nil
}
