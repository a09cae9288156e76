package versus

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/eval/lab/clock"
	"github.com/bloomery/bloomery/filter"
)

// Serve answers the commands of r about our sets to w until quit or the end of r. It uses one core (GOMAXPROCS is 1
// until it returns) and one thread, so that the CPU time of the process is the time of a build with its garbage
// collections, and the CPU time of the thread is the time of queries.
func Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := server{}
	for lines := bufio.NewScanner(r); lines.Scan() && lines.Text() != "quit"; {
		reply, err := s.answer(ctx, lines.Text())
		if err != nil {
			reply = "error " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		if _, err := fmt.Fprintln(w, reply); err != nil {
			return err
		}
	}
	return nil
}

// server holds the loaded keys and the last set that was built from them.
type server struct {
	keys loaded
	set  *bloomery.Set
}

// loaded are keys of one kind.
type loaded interface {
	count() int
	build(ctx context.Context, c bloomery.Config, from, to int) (*bloomery.Set, error)
	single(s *bloomery.Set, from, to int) (positives int)
	batch(s *bloomery.Set, from, to int) (positives int)
}

func (s *server) answer(ctx context.Context, line string) (string, error) {
	words := strings.Fields(line)
	switch {
	case len(words) == 1 && words[0] == "hello":
		return "ok protocol=1 runtime=" + runtime.Version(), nil
	case len(words) >= 4 && words[0] == "keys":
		count, err := strconv.Atoi(words[2])
		if err != nil {
			return "", err
		}
		return "ok", s.load(Kind(words[1]), strings.SplitN(line, " ", 4)[3], count)
	case len(words) >= 4 && words[0] == "build":
		from, to, err := s.span(words[2:4])
		if err != nil {
			return "", err
		}
		return s.build(ctx, words[1], words[4:], from, to)
	case len(words) == 4 && words[0] == "ask":
		from, to, err := s.span(words[2:])
		if err != nil {
			return "", err
		}
		return s.ask(words[1], from, to)
	}
	return "", fmt.Errorf("%q: want hello, keys, build, ask or quit", line)
}

func (s *server) load(kind Kind, path string, count int) error {
	s.keys, s.set = nil, nil
	if !slices.Contains(Kinds, kind) {
		return fmt.Errorf("%q: want strings, arrays or integers", string(kind))
	}
	file, err := readKeys(path, kind, count)
	if err != nil {
		return err
	}
	switch kind {
	case Strings:
		s.keys = keysOf[string]{stringsIn(file), askStrings}
	case Arrays:
		s.keys = keysOf[[]byte]{slices.Collect(slices.Chunk(file, kind.size())), askArrays}
	case Integers:
		s.keys = keysOf[uint64]{integersIn(file), askIntegers}
	}
	return nil
}

// span parses the range of keys of a command.
func (s *server) span(words []string) (from, to int, err error) {
	if s.keys == nil {
		return 0, 0, fmt.Errorf("no keys are loaded")
	}
	from, err = strconv.Atoi(words[0])
	if err == nil {
		to, err = strconv.Atoi(words[1])
	}
	if err == nil && (from < 0 || from > to || to > s.keys.count()) {
		err = fmt.Errorf("keys %d to %d: there are %d", from, to, s.keys.count())
	}
	return from, to, err
}

func (s *server) build(ctx context.Context, spec string, options []string, from, to int) (string, error) {
	c := bloomery.Config{Spec: spec, Keys: uint64(to - from), Building: bloomery.Building{Workers: 1}}
	for _, o := range options {
		if id, ok := strings.CutPrefix(o, "hash="); ok {
			n, err := strconv.ParseUint(id, 10, 16)
			if err != nil {
				return "", err
			}
			c.Hashing.ID = filter.HashID(n)
		}
	}
	s.set = nil
	runtime.GC()
	start := clock.ProcessTime()
	set, err := s.keys.build(ctx, c, from, to)
	took := clock.ProcessTime() - start
	if err != nil {
		return "", err
	}
	s.set = set
	runtime.GC() // ends a collection that the build has started
	return fmt.Sprintf("ok ns=%d bits=%d refused=0 batch=1", took.Nanoseconds(), set.Info().Bits), nil
}

func (s *server) ask(how string, from, to int) (string, error) {
	ask, ok := map[string]func(*bloomery.Set, int, int) int{"single": s.keys.single, "batch": s.keys.batch}[how]
	if !ok {
		return "", fmt.Errorf("%q: want single or batch", how)
	}
	if s.set == nil {
		return "", fmt.Errorf("no set is built")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no collection starts during the measurement
	start := clock.ThreadTime()
	positives := ask(s.set, from, to)
	took := clock.ThreadTime() - start
	return fmt.Sprintf("ok ns=%d positives=%d", took.Nanoseconds(), positives), nil
}
