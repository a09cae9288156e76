package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
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
