package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// client is a connection to a Redis server. It is not safe for concurrent use.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
}

func newClient(conn net.Conn) *client {
	return &client{conn, bufio.NewReaderSize(conn, 1<<16), bufio.NewWriterSize(conn, 1<<16)}
}

// do sends a command and returns the reply: a string, an int64, nil, or a list of replies.
func (c *client) do(command ...string) (any, error) {
	fmt.Fprintf(c.out, "*%d\r\n", len(command))
	for _, word := range command {
		fmt.Fprintf(c.out, "$%d\r\n%s\r\n", len(word), word)
	}
	if err := c.out.Flush(); err != nil {
		return nil, err
	}
	reply, err := c.reply()
	if err != nil {
		err = fmt.Errorf("%s: %w", command[0], err)
	}
	return reply, err
}

// reply reads one reply. A reply that is or contains an error is returned as an error.
func (c *client) reply() (any, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return nil, errors.New("an empty reply")
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+':
		return rest, nil
	case '-':
		return nil, errors.New(rest)
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return nil, err
	}
	switch {
	case kind == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case kind == '$':
		b := make([]byte, n+2)
		_, err := io.ReadFull(c.in, b)
		return string(b[:n]), err
	case kind == '*':
		list := make([]any, n)
		for i := range list {
			if list[i], err = c.reply(); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return nil, fmt.Errorf("a reply %q", line)
}
