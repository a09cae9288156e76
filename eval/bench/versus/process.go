package versus

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Command is how to start a program.
type Command struct {
	Args []string // the program and its arguments
	Env  []string // added to the environment
}

// patience is how long a program may take to end after its standard input was closed.
const patience = 5 * time.Second

// process is a running program that answers commands. It is not safe for concurrent use.
type process struct {
	name  string // for errors, such as rust
	ctx   context.Context
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	says  *tail
	ended bool
}

// start starts a program and greets it. Cancelling ctx kills the program.
func start(ctx context.Context, name string, c Command) (p *process, runtime string, err error) {
	p = &process{name: name, ctx: ctx, says: &tail{}}
	p.cmd = exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	p.cmd.Env = append(os.Environ(), c.Env...)
	p.cmd.Stderr = p.says
	p.cmd.WaitDelay = patience
	group(p.cmd)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	p.out = bufio.NewReaderSize(out, 1<<16)
	if err := p.cmd.Start(); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	hello, err := p.call("hello")
	if err == nil && hello["protocol"] != "1" {
		err = fmt.Errorf("%s: speaks protocol %q, want 1; build it again", name, hello["protocol"])
	}
	if err != nil {
		p.close()
		return nil, "", err
	}
	return p, hello["runtime"], nil
}

// fields has the fields of a reply.
type fields map[string]string

// call sends a command and returns the fields of the reply. After an error of the connection the process has ended.
func (p *process) call(command string) (fields, error) {
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(p.in, command+"\n"); err != nil {
		return nil, p.died(command)
	}
	line, err := p.out.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, p.wrong(command, line[:40])
	}
	if err != nil {
		return nil, p.died(command)
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
	switch word {
	case "error":
		return nil, fmt.Errorf("%s: %q failed: %s", p.name, command, rest)
	case "ok":
	default:
		return nil, p.wrong(command, line)
	}
	reply := fields{}
	for _, f := range strings.Fields(rest) {
		name, value, ok := strings.Cut(f, "=")
		if !ok {
			return nil, p.wrong(command, line)
		}
		reply[name] = value
	}
	return reply, nil
}

// numbers returns the named fields of the reply to a command, whole numbers that are not negative.
func (p *process) numbers(command string, names ...string) ([]uint64, error) {
	reply, err := p.call(command)
	if err != nil {
		return nil, err
	}
	all := make([]uint64, len(names))
	for i, name := range names {
		if all[i], err = strconv.ParseUint(reply[name], 10, 64); err != nil {
			return nil, fmt.Errorf("%s: wrong protocol: the reply to %q has %s=%q, want a whole number",
				p.name, command, name, reply[name])
		}
	}
	return all, nil
}

// wrong kills the process and says that a reply is none.
func (p *process) wrong(command string, line []byte) error {
	_ = p.cmd.Cancel()
	return fmt.Errorf("%s: wrong protocol: answered %.80q to %q, want a line that starts with ok or error",
		p.name, bytes.TrimSpace(line), command)
}

// died says how the process ended, with the end of what it wrote to its standard error.
func (p *process) died(command string) error {
	err := p.wait()
	if p.ctx.Err() != nil {
		return p.ctx.Err()
	}
	how := "without an error"
	if err != nil {
		how = err.Error()
	}
	return fmt.Errorf("%s: the program ended before it answered %q: %s%s", p.name, command, how, p.says.quote())
}

func (p *process) wait() error {
	p.ended = true
	p.in.Close()
	defer time.AfterFunc(patience, func() { _ = p.cmd.Cancel() }).Stop()
	return p.cmd.Wait()
}

// close ends the process.
func (p *process) close() {
	if !p.ended {
		_, _ = io.WriteString(p.in, "quit\n")
		_ = p.wait()
	}
}

// tail keeps the last bytes that were written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 2000

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(b), nil
}

// quote returns the text in an indented block after a colon, or "" if there is none.
func (t *tail) quote() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	if text == "" {
		return ""
	}
	return ":\n  " + strings.ReplaceAll(text, "\n", "\n  ")
}
