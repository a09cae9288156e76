package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/bloomery/bloomery/eval/child"
	"github.com/bloomery/bloomery/interop"
)

// redis is a peer that is a Redis server with RedisBloom. It stores the filter of build under the name of its file, and
// loads filters of other files under their names.
type redis struct {
	*client
	ctx context.Context
	cmd *exec.Cmd
	is  string
}

// startRedis starts a server with a module and with a socket in a folder. When ctx ends, the server is killed.
func startRedis(ctx context.Context, server, module, dir string) (r *redis, err error) {
	socket := filepath.Join(dir, "redis.sock")
	r = &redis{ctx: ctx, cmd: child.Command(ctx, server, "--port", "0", "--unixsocket", socket,
		"--save", "", "--appendonly", "no", "--dir", dir, "--loadmodule", module)}
	var says child.Tail
	r.cmd.Stdout, r.cmd.Stderr = &says, &says
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	var conn net.Conn
	for start := time.Now(); conn == nil; time.Sleep(20 * time.Millisecond) {
		if conn, err = net.Dial("unix", socket); err != nil && (ctx.Err() != nil || time.Since(start) > patienceEnd) {
			_ = r.cmd.Cancel()
			_ = r.cmd.Wait()
			return nil, fmt.Errorf("redis-server: %w%s", err, says.Quote())
		}
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	r.client = newClient(conn)
	if r.is, err = r.about(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// about returns the versions of the server and the module.
func (r *redis) about() (string, error) {
	info, err := r.do("INFO", "server")
	if err != nil {
		return "", err
	}
	_, version, _ := bytes.Cut([]byte(fmt.Sprint(info)), []byte("redis_version:"))
	version, _, _ = bytes.Cut(version, []byte("\r"))
	modules, err := r.do("MODULE", "LIST")
	if err != nil {
		return "", err
	}
	module, _ := modules.([]any)
	for _, m := range module {
		fields, _ := m.([]any)
		if i := slices.Index(fields, any("ver")); i >= 0 && i+1 < len(fields) && slices.Contains(fields, any("bf")) {
			n, _ := fields[i+1].(int64)
			return fmt.Sprintf("Redis %s, RedisBloom %d.%d.%d", version, n/10000, n/100%100, n%100), nil
		}
	}
	return "", fmt.Errorf("no module bf: %v", modules)
}

func (r *redis) version() string { return r.is }

func (r *redis) Close() error {
	_ = r.conn.Close()
	_ = r.cmd.Cancel()
	_ = r.cmd.Wait()
	return nil
}

func (r *redis) build(c testCase, keys, out string) ([]part, error) {
	if _, err := r.do("DEL", out); err != nil {
		return nil, err
	}
	_, err := r.do("BF.RESERVE", out, c.rateText(), strconv.Itoa(capacity(c)), "EXPANSION", "2")
	if err != nil {
		return nil, err
	}
	if _, err := r.each("BF.MADD", out, keys); err != nil {
		return nil, err
	}
	return []part{{0, -1, -1}}, r.dump(out, out)
}

func (r *redis) ask(c testCase, file, keys, answers string) error {
	has, err := r.do("EXISTS", file)
	if err == nil && has != any(int64(1)) {
		err = r.load(file)
	}
	if err != nil {
		return err
	}
	replies, err := r.each("BF.MEXISTS", file, keys)
	if err != nil {
		return err
	}
	bits := make([]byte, (len(replies)+7)/8)
	for i, yes := range replies {
		if yes {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return os.WriteFile(answers, bits, 0o600)
}

// again writes a filter that ask has loaded, and removes it from the server.
func (r *redis) again(_ testCase, file, out string) error {
	if err := r.dump(file, out); err != nil {
		return err
	}
	_, err := r.do("DEL", file)
	return err
}

// batch is the number of keys of a command.
const batch = 1000

// each sends a command about a filter for all keys of a file, and returns the replies.
func (r *redis) each(command, name, path string) (replies []bool, err error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for len(file) > 0 {
		words := []string{command, name}
		for len(file) > 0 && len(words) < batch {
			n := 4 + int(binary.LittleEndian.Uint32(file))
			words, file = append(words, string(file[4:n])), file[n:]
		}
		reply, err := r.do(words...)
		if err != nil {
			return nil, err
		}
		list, ok := reply.([]any)
		if !ok || len(list) != len(words)-2 {
			return nil, fmt.Errorf("%s: %d replies about %d keys", command, len(list), len(words)-2)
		}
		for _, one := range list {
			replies = append(replies, one == any(int64(1)))
		}
	}
	return replies, nil
}

// dump writes the data of all replies of BF.SCANDUMP to a file.
func (r *redis) dump(name, out string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	for at := int64(0); err == nil; {
		var reply any
		reply, err = r.do("BF.SCANDUMP", name, strconv.FormatInt(at, 10))
		list, _ := reply.([]any)
		if err != nil || len(list) != 2 {
			err = errors.Join(err, fmt.Errorf("BF.SCANDUMP: %d values", len(list)))
			break
		}
		at, _ = list[0].(int64)
		data, _ := list[1].(string)
		if at == 0 {
			break
		}
		_, err = io.WriteString(f, data)
	}
	return errors.Join(err, f.Close())
}

// load loads a file in the chunks of package interop.
func (r *redis) load(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	set, err := interop.Read(bytes.NewReader(b), interop.RedisBloom, uint64(len(b)))
	if err != nil {
		return err
	}
	chunks, err := interop.Chunks(set)
	if err != nil {
		return err
	}
	for at, data := range chunks {
		if _, err := r.do("BF.LOADCHUNK", file, strconv.FormatInt(at, 10), string(data)); err != nil {
			return err
		}
	}
	return nil
}
