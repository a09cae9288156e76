package interop_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// redisStub answers the commands of a load as Redis 7.0.15 with RedisBloom 2.6.28 answers them: the texts of the errors
// were recorded there. Like RedisBloom, it loads a chunk into an existing filter.
type redisStub struct {
	mu     sync.Mutex
	keys   map[string]*stubChain
	refuse int // number of the BF.LOADCHUNK that is refused for lack of memory, from 1; 0: none
	loads  int // number of BF.LOADCHUNK commands
}

// stubChain is a filter in the stub: the bytes of its links, one after the other.
type stubChain struct {
	header string
	words  []byte
	ends   []int // ends of the links in words
}

// chainOf returns the empty filter of a header, or nil if the header is wrong.
func chainOf(header string) *stubChain {
	if len(header) < 20 || len(header) != 20+53*int(binary.LittleEndian.Uint32([]byte(header[8:]))) {
		return nil
	}
	c := &stubChain{header: header}
	end := 0
	for h := header[20:]; h != ""; h = h[53:] {
		end += int(binary.LittleEndian.Uint64([]byte(h)))
		c.ends = append(c.ends, end)
	}
	c.words = make([]byte, end)
	return c
}

// load performs a BF.LOADCHUNK with an iterator above 1. It returns the error of RedisBloom, or "".
func (c *stubChain) load(at int, data string) string {
	end := at - 1
	if at < 1 || end < len(data) {
		return "ERR received bad data"
	}
	for _, last := range c.ends {
		switch {
		case end-len(data) >= last:
			continue
		case end > last:
			return "ERR invalid chunk - Too big for current filter"
		}
		copy(c.words[end-len(data):], data)
		return ""
	}
	return "ERR invalid offset - no link found"
}

// dump performs BF.SCANDUMP, which returns the header, then the links, then nothing.
func (c *stubChain) dump(at int) (next int, data string) {
	if at == 0 {
		return 1, c.header
	}
	for _, end := range c.ends {
		if at-1 < end {
			return end + 1, string(c.words[at-1 : end])
		}
	}
	return 0, ""
}

// answer returns the reply to a command, in the Redis protocol.
func (s *redisStub) answer(args []string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch name := strings.ToUpper(args[0]); {
	case name == "BF.LOADCHUNK" && len(args) == 4:
		if s.loads++; s.loads == s.refuse {
			return "-OOM command not allowed when used memory > 'maxmemory'.\r\n"
		}
		at, err := strconv.Atoi(args[2])
		c := s.keys[args[1]]
		refusal := ""
		switch {
		case err != nil:
			refusal = "ERR Second argument must be numeric"
		case c == nil && at != 1:
			refusal = "ERR not found"
		case c == nil:
			if c = chainOf(args[3]); c == nil {
				refusal = "ERR received bad data"
			} else {
				s.keys[args[1]] = c
			}
		default:
			refusal = c.load(at, args[3])
		}
		if refusal != "" {
			return "-" + refusal + "\r\n"
		}
		return "+OK\r\n"
	case name == "BF.SCANDUMP" && len(args) == 3:
		at, err := strconv.Atoi(args[2])
		c := s.keys[args[1]]
		if c == nil || err != nil {
			return "-ERR not found\r\n"
		}
		next, data := c.dump(at)
		return fmt.Sprintf("*2\r\n:%d\r\n$%d\r\n%s\r\n", next, len(data), data)
	case name == "RENAME" && len(args) == 3:
		if s.keys[args[1]] == nil {
			return "-ERR no such key\r\n"
		}
		s.keys[args[2]] = s.keys[args[1]]
		delete(s.keys, args[1])
		return "+OK\r\n"
	case name == "DEL" && len(args) == 2:
		n := len(s.keys)
		delete(s.keys, args[1])
		return fmt.Sprintf(":%d\r\n", n-len(s.keys))
	case name == "ECHO" && len(args) == 2: // the last command of redis-cli --pipe
		return fmt.Sprintf("$%d\r\n%s\r\n", len(args[1]), args[1])
	}
	return fmt.Sprintf("-ERR unknown command '%s', with args beginning with: \r\n", args[0])
}

// serve answers the commands of one connection until it ends.
func (s *redisStub) serve(c io.ReadWriteCloser) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		args, err := command(r)
		if err != nil {
			return
		}
		if _, err := io.WriteString(c, s.answer(args)); err != nil {
			return
		}
	}
}

// command reads a command: an array of bulk strings. redis-cli --pipe sends an empty line before its last command.
func command(r *bufio.Reader) (args []string, err error) {
	if b, err := r.Peek(2); err == nil && string(b) == "\r\n" {
		_, _ = r.Discard(2)
	}
	n, err := number(r, '*')
	if err != nil || n < 1 || n > 10 {
		return nil, errors.Join(err, fmt.Errorf("%d words", n))
	}
	for range n {
		size, err := number(r, '$')
		if err != nil || size < 0 || size > 64<<20 {
			return nil, errors.Join(err, fmt.Errorf("a word of %d bytes", size))
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		args = append(args, string(b[:size]))
	}
	return args, nil
}

// number reads a line that consists of the byte kind and a number.
func number(r *bufio.Reader, kind byte) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, fmt.Errorf("a line %q, want %q first", line, kind)
	}
	return strconv.Atoi(strings.TrimRight(line[1:], "\r\n"))
}

// client returns a function that sends one command over a connection and returns the reply: a string, an int or a
// slice of replies. The error is an error of the connection or an error that Redis returns.
func client(c io.ReadWriter) func(args ...any) (any, error) {
	r := bufio.NewReader(c)
	return func(args ...any) (any, error) {
		if _, err := io.WriteString(c, encoded(args)); err != nil {
			return nil, err
		}
		return reply(r)
	}
}

// encoded returns a command in the Redis protocol.
func encoded(args []any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		word := fmt.Sprint(a)
		if data, ok := a.([]byte); ok {
			word = string(data)
		}
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	return b.String()
}

func reply(r *bufio.Reader) (any, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, rest := line[0], strings.TrimRight(line[1:], "\r\n")
	switch kind {
	case '-':
		return nil, errors.New(rest)
	case '+':
		return rest, nil
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n < 0 || n > 64<<20 {
		return nil, errors.Join(err, fmt.Errorf("reply %q", line))
	}
	switch kind {
	case '$':
		b := make([]byte, n+2)
		_, err := io.ReadFull(r, b)
		return string(b[:n]), err
	case '*':
		var all []any
		for range n {
			one, err := reply(r)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		return all, nil
	}
	return n, nil
}

// dump returns the file of the filter under a key: the data of all BF.SCANDUMPs.
func dump(t *testing.T, call func(args ...any) (any, error), key string) string {
	t.Helper()
	var file strings.Builder
	for at := 0; ; {
		r := must(call("BF.SCANDUMP", key, at))
		pair := r.([]any)
		if at = pair[0].(int); at == 0 {
			return file.String()
		}
		file.WriteString(pair[1].(string))
	}
}

// start returns a stub and a client of it.
func start(t *testing.T) (*redisStub, func(args ...any) (any, error)) {
	s := &redisStub{keys: map[string]*stubChain{}}
	ours, theirs := net.Pipe()
	go s.serve(theirs)
	t.Cleanup(func() { _ = ours.Close() })
	return s, client(ours)
}
