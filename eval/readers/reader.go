package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/eval/child"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
)

// reply is the reply of a reader about a file.
type reply struct {
	refused string // why the file was refused, or ""
	// records holds recordSize bytes for each key, see record. It is empty if the file was refused.
	records []byte
}

// recordSize is the size of the answer to a key: has (1 byte), the count (8), whether there is a value (1), the value
// (8). Numbers are little endian, and 0 if the filter does not store them.
const recordSize = 18

// reader answers queries of a file. It is not safe for concurrent use.
type reader interface {
	name() string
	// answer returns the reply for the keys of a file of records. An error means that the reader itself failed.
	answer(ctx context.Context, s *subject, keysPath string) (reply, error)
	close() error
}

// driver is a reader that is a program. It reads lines of FILE, SECRET, KEYS and OUT, separated by tabs. It answers the
// keys in the file KEYS, writes the records to OUT and prints a line: "ok", or "refused" and the reason.
type driver struct {
	ctx     context.Context // context of the trial
	label   string
	command []string
	out     string         // the file of records
	process *child.Process // nil unless it runs
}

// patience is the longest time that a driver may take for a file.
const patience = 3 * time.Minute

func (d *driver) name() string { return d.label }

func (d *driver) answer(_ context.Context, s *subject, keysPath string) (r reply, err error) {
	if d.process == nil {
		if d.process, err = child.Start(d.ctx, d.label, d.command...); err != nil {
			return r, err
		}
	}
	if err := os.Remove(d.out); err != nil && !os.IsNotExist(err) {
		return r, err
	}
	defer time.AfterFunc(patience, d.process.Kill).Stop()
	command := fmt.Sprintf("%s\t%s\t%s\t%s", s.path, s.secret, keysPath, d.out)
	line, err := d.process.Call(command)
	if err != nil {
		_ = d.close()
		return r, err
	}
	why, refused := strings.CutPrefix(line, "refused")
	switch {
	case refused:
		return reply{refused: strings.TrimSpace(why) + " (refused)"}, nil
	case line == "ok":
		r.records, err = os.ReadFile(d.out)
		return r, err
	}
	return r, errors.Join(d.process.Wrong(command, line), d.close())
}

func (d *driver) close() (err error) {
	if d.process != nil {
		err = d.process.Close()
		d.process = nil
	}
	return err
}

// newDrivers returns the readers of the options. The C driver is compiled with these arguments.
func newDrivers(ctx context.Context, o options, dir string, cArgs []string) (all []reader, err error) {
	for _, name := range o.readers {
		d := &driver{ctx: ctx, label: name, out: filepath.Join(dir, name+".out")}
		switch name {
		case "c":
			d.command, err = cCommand(ctx, o.cc, dir, cArgs)
		case "python":
			d.command, err = pythonCommand(ctx, o.python)
		default:
			d.command, err = jsCommand(name)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// jsCommand returns the command of the JavaScript package, "plain" or "wasm".
func jsCommand(form string) ([]string, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("%w: install Node.js 20 or newer", err)
	}
	script := filepath.Join("..", "..", "js", "test", "answers.mjs")
	for _, path := range []string{script, filepath.Join("..", "..", "js", "dist", "index.js")} {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("%w: build the package first, with npm ci && npm run build in js", err)
		}
	}
	return []string{node, "--max-old-space-size=2048", script, "--" + form}, nil
}

// cCommand compiles and returns the command of the C header.
func cCommand(ctx context.Context, cc, dir string, args []string) ([]string, error) {
	if _, err := exec.LookPath(cc); err != nil {
		return nil, fmt.Errorf("%w: install a C compiler, such as gcc, or name one with --cc", err)
	}
	program := filepath.Join(dir, "answers")
	source := filepath.Join("..", "..", "c", "test", "answers.c")
	args = append([]string{"-std=gnu11", "-o", program, source}, args...)
	if out, err := exec.CommandContext(ctx, cc, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s %q: %w: %s", cc, args, err, out)
	}
	return []string{program}, nil
}

// pythonCommand returns the command of the Python package, which must be installed for the interpreter.
func pythonCommand(ctx context.Context, interpreter string) ([]string, error) {
	if out, err := exec.CommandContext(ctx, interpreter, "-c", "import bloomery_filters").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s: install the package, with pip install ../../python, or name an interpreter that "+
			"has it with --python", interpreter, err, out)
	}
	return []string{interpreter, filepath.Join("..", "..", "python", "tests", "answers.py")}, nil
}

// errPanic means that the library panicked.
var errPanic = errors.New("panic in the library")

// recovered turns a panic into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", errPanic, p)
	}
}

// askLibrary answers the keys by the Go library in this process. The error says that the file was refused, or that a
// query failed, as in a damaged shard.
func (s *subject) askLibrary() (records []byte, err error) {
	defer recovered(&err)
	secret, err := s.secretBytes()
	if err != nil {
		return nil, err
	}
	if s.exact {
		return s.askExact(secret)
	}
	set, err := bloomery.Open(context.Background(), s.path, bloomery.WithSecret(secret))
	if err != nil {
		return nil, err
	}
	defer set.Close()
	le := binary.LittleEndian
	records = make([]byte, recordSize*len(s.keys))
	for i, k := range s.keys {
		b := records[recordSize*i:][:recordSize]
		if set.Contains(k.bytes) {
			b[0] = 1
		}
		if s.counts {
			n, _, err := set.Count(k.bytes)
			if err != nil {
				return nil, err
			}
			le.PutUint64(b[1:], n)
		}
		if s.values {
			value, ok, err := set.Get(k.bytes)
			if err != nil {
				return nil, err
			}
			if ok {
				b[9] = 1
				le.PutUint64(b[10:], value)
			}
		}
	}
	return records, set.Err()
}

// askExact is askLibrary for an exact set.
func (s *subject) askExact(secret *filter.Secret) (records []byte, err error) {
	set, err := exact.Open(context.Background(), s.path, exact.WithSecret(secret))
	if err != nil {
		return nil, err
	}
	records = make([]byte, recordSize*len(s.keys))
	for i, k := range s.keys {
		if partition, name := k.apart(); set.Contains(name, partition) {
			records[recordSize*i] = 1
		}
	}
	return records, nil
}
