package interop_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/interop"
)

// chain returns a chain of three links whose keys are the numbers from first to last in decimal.
func chain(t *testing.T, first, last int) *bloomery.Set {
	t.Helper()
	set := must(bloomery.New(bloomery.Config{Spec: "redisbloom(capacity=200,fpr=0.01)"}))
	for i := first; i <= last; i++ {
		check(t, set.AddString(fmt.Sprint(i)))
	}
	return set
}

// call sends one command; see client.
type call = func(args ...any) (any, error)

// load is LoadRedis over a client.
func load(set *bloomery.Set, fresh, key string, c call) error {
	return interop.LoadRedis(set, fresh, key, func(args ...any) error {
		_, err := c(args...)
		return err
	})
}

// TestLoadRedis loads a filter in place of another one. Whichever command fails, the old filter must be unchanged, and
// no part of the new one may remain.
func TestLoadRedis(t *testing.T) {
	old, fresh := chain(t, 1, 900), chain(t, 1, 950)
	for refuse := range 5 { // none, or the header or one of the three links
		s, c := start(t)
		check(t, load(old, "live.new", "live", c))
		s.loads, s.refuse = 0, refuse
		err := load(fresh, "live.new", "live", c)
		want := old
		if refuse == 0 {
			want = fresh
		}
		if (err == nil) != (refuse == 0) || err != nil && !strings.Contains(err.Error(), "OOM") {
			t.Errorf("command %d is refused: %v", refuse, err)
		}
		if dump(t, c, "live") != string(write(t, want, interop.RedisBloom)) {
			t.Errorf("command %d is refused: the key has another filter", refuse)
		}
		if len(s.keys) != 1 {
			t.Errorf("command %d is refused: half a filter remains", refuse)
		}
	}
}

// TestLoadRedisRefuses checks that an existing key is not deleted, that the old filter remains if RENAME fails, and
// that nothing is sent for a filter of another system.
func TestLoadRedisRefuses(t *testing.T) {
	old, fresh := chain(t, 1, 900), chain(t, 951, 1900)
	s, c := start(t)
	check(t, load(old, "x", "other", c))
	if err := load(fresh, "other", "live", c); err == nil || !strings.Contains(err.Error(), "bad data") {
		t.Errorf("over a key that exists: %v", err)
	}
	if dump(t, c, "other") != string(write(t, old, interop.RedisBloom)) || len(s.keys) != 1 {
		t.Error("a load over a key that exists has changed it")
	}
	broken := errors.New("CROSSSLOT Keys in request don't hash to the same slot")
	err := load(fresh, "new", "live", func(args ...any) (any, error) {
		if args[0] == "RENAME" {
			return nil, broken
		}
		return c(args...)
	})
	if !errors.Is(err, broken) || len(s.keys) != 1 {
		t.Errorf("RENAME fails: %v", err)
	}
	err = load(readGolden(t, "guava-64", interop.Guava), "new", "live", func(...any) (any, error) {
		t.Error("a command is sent")
		return nil, nil
	})
	if !errors.Is(err, interop.ErrFormat) {
		t.Errorf("a filter of another system: %v", err)
	}
}

// commandsOf returns the commands that WriteCommands writes. If broken is not negative, it is the number of the command
// that gets an iterator beyond the filter.
func commandsOf(t *testing.T, set *bloomery.Set, key string, broken int) (all [][]any) {
	t.Helper()
	var b bytes.Buffer
	check(t, interop.WriteCommands(&b, set, key))
	for r := bufio.NewReader(&b); ; {
		words, err := command(r)
		if err != nil {
			return all
		}
		if len(all) == broken {
			words[2] = "1000000"
		}
		var args []any
		for _, w := range words {
			args = append(args, w)
		}
		all = append(all, args)
	}
}

// TestLoadedOver shows why a filter must not be loaded over one in use: Redis refuses the header, but loads the chunks,
// and the filter then lacks keys.
func TestLoadedOver(t *testing.T) {
	for name, port := range servers {
		t.Run(name, func(t *testing.T) {
			_, c := dial(t, port(t))
			old := chain(t, 1, 900)
			check(t, load(old, "live.new", "live", c))
			refused := 0
			for _, args := range commandsOf(t, chain(t, 951, 1900), "live", -1) {
				if _, err := c(args...); err != nil {
					refused++
				}
			}
			now := must(interop.Read(strings.NewReader(dump(t, c, "live")), interop.RedisBloom, 1<<20))
			lost := 0
			for i := 1; i <= 900; i++ {
				if !now.ContainsString(fmt.Sprint(i)) {
					lost++
				}
			}
			if t.Logf("%d commands refused, %d keys lost", refused, lost); refused == 0 || lost == 0 {
				t.Error("docs/guides/interop.md warns of what does not happen")
			}
		})
	}
}

// TestRecipe runs the shell line of docs/guides/interop.md with the real redis-cli. If a middle chunk fails, the old
// filter must remain.
func TestRecipe(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("NOT RUN: no redis-cli in PATH; it is in redis-tools of Debian")
	}
	for name, port := range servers {
		t.Run(name, func(t *testing.T) { recipe(t, cli, port(t)) })
	}
}

func recipe(t *testing.T, cli, address string) {
	port, c := dial(t, address)
	old, fresh := chain(t, 1, 900), chain(t, 1, 950)
	check(t, load(old, "seen.new", "seen", c))
	file := filepath.Join(t.TempDir(), "seen.resp")
	for _, broken := range []int{2, -1} {
		var b strings.Builder
		for _, args := range commandsOf(t, fresh, "seen.new", broken) {
			b.WriteString(encoded(args))
		}
		check(t, os.WriteFile(file, []byte(b.String()), 0o600))
		const line = `"$0" -p "$1" --pipe < "$2" && "$0" -p "$1" RENAME seen.new seen`
		out, err := exec.CommandContext(t.Context(), "sh", "-c", line, cli, port, file).CombinedOutput()
		if (err == nil) != (broken < 0) {
			t.Errorf("command %d fails: %v: %s", broken, err, out)
		}
		want := old
		if broken < 0 {
			want = fresh
		}
		if dump(t, c, "seen") != string(write(t, want, interop.RedisBloom)) {
			t.Errorf("command %d fails: the key has another filter: %s", broken, out)
		}
		must(c("DEL", "seen.new"))
	}
}

// servers maps the name of a server to a function that starts it and returns its port.
var servers = map[string]func(*testing.T) string{"stub": stubPort, "redis": redisPort}

func stubPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("NOT RUN: no TCP here: %v", err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s := &redisStub{keys: map[string]*stubChain{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return portOf(l)
}

func portOf(l net.Listener) string { return fmt.Sprint(l.Addr().(*net.TCPAddr).Port) }

// redisPort starts a redis-server with the module that REDISBLOOM_MODULE names.
func redisPort(t *testing.T) string {
	module := os.Getenv("REDISBLOOM_MODULE")
	server, err := exec.LookPath("redis-server")
	if module == "" || err != nil {
		t.Skip("NOT RUN: needs redis-server in PATH, and in REDISBLOOM_MODULE the path of redisbloom.so")
	}
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	port := portOf(l)
	_ = l.Close()
	cmd := exec.Command(server, "--bind", "127.0.0.1", "--port", port, "--save", "", "--dir", t.TempDir(),
		"--loadmodule", module)
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return port
}

// dial connects to a server that may still be starting. It returns the port and a client.
func dial(t *testing.T, port string) (string, call) {
	t.Helper()
	var conn net.Conn
	var err error
	for range 1000 {
		if conn, err = net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			t.Cleanup(func() { _ = conn.Close() })
			return port, client(conn)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal(err)
	return "", nil
}
