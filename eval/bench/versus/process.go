package versus

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/eval/child"
)

// Command is a program and its arguments.
type Command []string

// process is a running program that answers commands. It is not safe for concurrent use.
type process struct{ *child.Process }

// start starts a program and sends it the command hello. Cancelling ctx kills the program.
func start(ctx context.Context, name string, c Command) (p process, runtime string, err error) {
	if p.Process, err = child.Start(ctx, name, c...); err != nil {
		return p, "", err
	}
	hello, err := p.call("hello")
	if err == nil && hello["protocol"] != "1" {
		err = fmt.Errorf("%s: speaks protocol %q, want 1; build it again", name, hello["protocol"])
	}
	if err != nil {
		p.close()
		return p, "", err
	}
	return p, hello["runtime"], nil
}

// call sends a command and returns the fields of the reply. After an error of the connection the process has ended.
func (p process) call(command string) (map[string]string, error) {
	reply, err := p.Ask(command)
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for _, f := range strings.Fields(reply) {
		name, value, ok := strings.Cut(f, "=")
		if !ok {
			return nil, p.Wrong(command, reply)
		}
		fields[name] = value
	}
	return fields, nil
}

// numbers returns the named fields of the reply to a command, whole numbers that are not negative.
func (p process) numbers(command string, names ...string) ([]uint64, error) {
	reply, err := p.call(command)
	if err != nil {
		return nil, err
	}
	all := make([]uint64, len(names))
	for i, name := range names {
		if all[i], err = strconv.ParseUint(reply[name], 10, 64); err != nil {
			return nil, fmt.Errorf("wrong protocol: the reply to %q has %s=%q, want a whole number",
				command, name, reply[name])
		}
	}
	return all, nil
}

// close ends the process, if it was started.
func (p process) close() {
	if p.Process != nil {
		_ = p.Close()
	}
}
