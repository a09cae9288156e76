// Package child runs the programs that the comparisons of eval measure or query. It builds programs in Rust and Java,
// and communicates with a program that answers each line with a line.
package child

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// patience is how long a program may take to end after its standard input was closed.
const patience = 10 * time.Second

// Command returns the command of a program and its arguments. When ctx ends, the program is killed; on Unix, so are all
// processes that it started.
func Command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.WaitDelay = patience
	group(c)
	return c
}

// Process is a running program that answers lines. It is not safe for concurrent use.
type Process struct {
	name  string // name for errors, such as rust
	ctx   context.Context
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	says  Tail
	ended bool
}

// Start starts a program. When ctx ends, the program is killed; on Unix, so are all processes that it started.
func Start(ctx context.Context, name string, args ...string) (*Process, error) {
	p := &Process{name: name, ctx: ctx, cmd: Command(ctx, args...)}
	p.cmd.Stderr = &p.says

	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReaderSize(out, 1<<16)

	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// RefusedError is the error of a line that the program refused.
type RefusedError string

func (e RefusedError) Error() string { return string(e) }

// Ask sends a line and returns the rest of the reply after "ok". A reply that begins with "error" is a RefusedError.
func (p *Process) Ask(line string) (string, error) {
	reply, err := p.Call(line)
	if err != nil {
		return "", err
	}
	word, rest, _ := strings.Cut(reply, " ")
	switch word {
	case "ok":
		return strings.TrimSpace(rest), nil
	case "error":
		return "", RefusedError(fmt.Sprintf("%s: %q failed: %s%s", p.name, line, rest, p.says.Quote()))
	}
	return "", p.Wrong(line, reply)
}

// Call sends a line and returns the reply. After an error other than the end of the context, the process has ended or
// is killed.
func (p *Process) Call(line string) (string, error) {
	if err := p.ctx.Err(); err != nil {
		return "", context.Cause(p.ctx)
	}
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		return "", p.died(line)
	}
	reply, err := p.out.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", p.Wrong(line, string(reply[:40]))
	}
	if err != nil {
		return "", p.died(line)
	}
	return string(bytes.TrimSpace(reply)), nil
}

// Wrong kills the process and returns an error that says that a reply is invalid.
func (p *Process) Wrong(line, reply string) error {
	p.Kill()
	return fmt.Errorf("%s: wrong protocol: answered %.80q to %q", p.name, reply, line)
}

// died returns an error that says how the process ended, with the last bytes of its standard error.
func (p *Process) died(line string) error {
	err := p.wait()
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	how := "without an error"
	if err != nil {
		how = err.Error()
	}
	return fmt.Errorf("%s: the program ended before it answered %q: %s%s", p.name, line, how, p.says.Quote())
}

// Kill kills the process; on Unix, also all processes that it started.
func (p *Process) Kill() { _ = p.cmd.Cancel() }

// Close ends the program. It returns nil if the program has already ended, or was killed because its context ended.
func (p *Process) Close() error {
	if p.ended {
		return nil
	}
	if err := p.wait(); err != nil && p.ctx.Err() == nil {
		return fmt.Errorf("%s at its end: %w%s", p.name, err, p.says.Quote())
	}
	return nil
}

func (p *Process) wait() error {
	p.ended = true
	_ = p.in.Close()
	defer time.AfterFunc(patience, p.Kill).Stop()
	return p.cmd.Wait()
}

// Tail keeps the last bytes that were written to it. It is safe for concurrent use.
type Tail struct {
	mu   sync.Mutex
	text []byte
}

// tailBytes suffices for a report of AddressSanitizer.
const tailBytes = 8000

func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(b), nil
}

// Quote returns a colon and the bytes as an indented block, or "" if there are none.
func (t *Tail) Quote() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	if text == "" {
		return ""
	}
	return ":\n  " + strings.ReplaceAll(text, "\n", "\n  ")
}
