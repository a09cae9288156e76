package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
)

// reply is what a reader says of a file.
type reply struct {
	refused string // why the file was refused, or ""
	// records has recordSize bytes for each key, see record. It is empty if the file was refused.
	records []byte
}

// recordSize is the size of the answer to a key: has (1 byte), the count (8), whether there is a value (1), the value
// (8). Numbers are little endian, 0 if the filter does not have them.
const recordSize = 18

// reader answers keys from a file. It is for one goroutine.
type reader interface {
	name() string
	// answer returns the reply for the keys of a file of records. An error means that the reader itself failed.
	answer(ctx context.Context, s *subject, keysPath string) (reply, error)
	close() error
}

// driver is a reader that is a program. It reads lines FILE, SECRET, KEYS and OUT, separated by tabs, answers the keys
// of the file KEYS, writes the records to OUT and prints a line: "ok", or "refused" and why.
type driver struct {
	label   string
	command []string
	out     string // the file of records
	process *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
	errors  *bytes.Buffer
}

// patience is the longest time that a driver may take for a file.
const patience = 3 * time.Minute

func newDriver(label, dir string, command ...string) *driver {
	return &driver{label: label, command: command, out: filepath.Join(dir, label+".out")}
}

func (d *driver) name() string { return d.label }

// start starts the program, unless it runs.
func (d *driver) start() (err error) {
	if d.process != nil {
		return nil
	}
	p := exec.Command(d.command[0], d.command[1:]...)
	d.errors = new(bytes.Buffer)
	p.Stderr = d.errors
	if d.input, err = p.StdinPipe(); err != nil {
		return err
	}
	output, err := p.StdoutPipe()
	if err != nil {
		return err
	}
	d.output = bufio.NewReader(output)
	if err := p.Start(); err != nil {
		return fmt.Errorf("%s: %w", d.label, err)
	}
	d.process = p
	return nil
}

func (d *driver) answer(ctx context.Context, s *subject, keysPath string) (reply, error) {
	if err := d.start(); err != nil {
		return reply{}, err
	}
	if err := os.Remove(d.out); err != nil && !os.IsNotExist(err) {
		return reply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	process := d.process.Process
	stop := context.AfterFunc(ctx, func() { _ = process.Kill() })
	defer stop()
	_, err := fmt.Fprintf(d.input, "%s\t%s\t%s\t%s\n", s.path, s.secret, keysPath, d.out)
	line := ""
	if err == nil {
		line, err = d.output.ReadString('\n')
	}
	if err != nil {
		return reply{}, d.failed(ctx, err)
	}
	line = strings.TrimSuffix(line, "\n")
	switch {
	case line == "ok":
		b, err := os.ReadFile(d.out)
		return reply{records: b}, err
	case strings.HasPrefix(line, "refused"):
		return reply{refused: strings.TrimSpace(strings.TrimPrefix(line, "refused")) + " (refused)"}, nil
	}
	return reply{}, fmt.Errorf("%s: printed %q", d.label, line)
}

// failed ends the program and returns an error with what it printed.
func (d *driver) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	wait := d.close()
	text := d.errors.String()
	if len(text) > 3000 {
		text = text[:3000]
	}
	return fmt.Errorf("%s: %w: %v: %s", d.label, err, wait, text)
}

func (d *driver) close() error {
	if d.process == nil {
		return nil
	}
	_ = d.input.Close()
	kill := time.AfterFunc(10*time.Second, func() { _ = d.process.Process.Kill() })
	defer kill.Stop()
	_, _ = io.Copy(io.Discard, d.output)
	err := d.process.Wait()
	d.process = nil
	return err
}

// newDrivers returns the readers of the options. The C driver is compiled with these arguments.
func newDrivers(ctx context.Context, o options, dir string, cArgs []string) (all []reader, err error) {
	for _, name := range o.readers {
		var d *driver
		switch name {
		case "c":
			d, err = newC(ctx, o.cc, dir, cArgs)
		case "python":
			d, err = newPython(ctx, o.python, dir)
		default:
			d, err = newJS(name, dir)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// newJS returns the driver of the JavaScript package, "plain" or "wasm".
func newJS(form, dir string) (*driver, error) {
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
	return newDriver(form, dir, node, "--max-old-space-size=2048", script, "--"+form), nil
}

// newC compiles and returns the driver of the C header.
func newC(ctx context.Context, cc, dir string, args []string) (*driver, error) {
	if _, err := exec.LookPath(cc); err != nil {
		return nil, fmt.Errorf("%w: install a C compiler, such as gcc, or name one with --cc", err)
	}
	program := filepath.Join(dir, "answers")
	source := filepath.Join("..", "..", "c", "test", "answers.c")
	args = append([]string{"-std=gnu11", "-o", program, source}, args...)
	if out, err := exec.CommandContext(ctx, cc, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s %q: %w: %s", cc, args, err, out)
	}
	return newDriver("c", dir, program), nil
}

// newPython returns the driver of the Python package, which the interpreter must have.
func newPython(ctx context.Context, interpreter, dir string) (*driver, error) {
	if out, err := exec.CommandContext(ctx, interpreter, "-c", "import bloomery").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s: install the package, with pip install ../../python, or name an interpreter that "+
			"has it with --python", interpreter, err, out)
	}
	return newDriver("python", dir, interpreter, filepath.Join("..", "..", "python", "tests", "answers.py")), nil
}

// errPanic means that the library failed otherwise than by an error.
var errPanic = errors.New("panic in the library")

// askLibrary answers the keys by the Go library in this process. The error says that the file was refused, or that a
// query failed, as in a damaged shard.
func (s *subject) askLibrary() (records []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
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
