//go:build unix

package otel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
)

// killEnv is set for the processes that TestKilled starts: the number of the round, a space and the folder.
const killEnv = "BLOOMERY_TEST_DEDUP"

// roundKeys is the number of keys that each round adds.
const roundKeys = 2000

// killedConfig has a state of two files that are saved all the time.
func killedConfig(dir string) *Config {
	c := testConfig(idKey)
	c.Keys, c.State, c.SaveInterval = shardKeys+1, filepath.Join(dir, "state"), 2*time.Millisecond
	return c
}

// TestKilled kills a process with the processor at random moments, and starts it again. Each process sends all keys so
// far, some of them twice, and repeats what is refused. The next consumer appends the ids that it accepts to a file, and
// refuses a quarter of the batches. No new record may be lost: in the end the file has every id, and at any time every id
// of the state. Repeats are possible only since the last save: no id that the state has when a process starts may be
// appended by this process. The false-positive rate is so low that a false positive would be an error.
func TestKilled(t *testing.T) {
	if text := os.Getenv(killEnv); text != "" {
		number, dir, _ := strings.Cut(text, " ")
		round, err := strconv.Atoi(number)
		check(t, err)
		sendAll(t, round, dir)
		return
	}

	rounds := 8
	if full {
		rounds = 100
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	var killed, repeated, known int
	accepted := map[string]bool{}
	for round := range rounds + 1 {
		last := round == rounds
		before := remembers(t, dir)
		at := int64(0)
		if st, err := os.Stat(out); err == nil {
			at = st.Size()
		}
		if runSender(t, round, dir, last) {
			killed++
		}

		b, err := os.ReadFile(out)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b[at:])) {
			id, whole := strings.CutSuffix(line, "\n")
			if !whole {
				continue // the process was killed while it wrote, so the id was not accepted
			}
			if before(id) {
				t.Fatalf("round %d: %s passed again, though the state had it at the start", round, id)
			}
			if accepted[id] {
				repeated++
			}
			accepted[id] = true
		}
		if len(b) > 0 && b[len(b)-1] != '\n' { // else the next id would be appended to a part of an id
			check(t, os.WriteFile(out, append(b, '\n'), 0o600))
		}

		after := remembers(t, dir)
		for _, id := range numbered(0, (round+1)*roundKeys) {
			if after(id) {
				known++
			}
			if !accepted[id] && (last || after(id)) {
				t.Fatalf("round %d: %s is lost: the state has it: %v", round, id, after(id))
			}
			if last && !after(id) {
				t.Fatalf("%s is not in the state of a process that ended", id)
			}
		}
	}
	t.Logf("%d of %d processes were killed; %d keys passed, and %d times one passed again; the states of all rounds had %d",
		killed, rounds, len(accepted), repeated, known)
	if killed < rounds/4 || known == 0 {
		t.Errorf("only %d kills; %d ids in states", killed, known)
	}
}

// remembers returns a function that reports whether the state has an id.
func remembers(t *testing.T, dir string) func(id string) bool {
	t.Helper()
	c := killedConfig(dir)
	m, err := c.openMemory(t.Context(), nil)
	check(t, err)
	key, err := newKeyReader(c.Key)
	check(t, err)
	return func(id string) bool {
		h := key.hasher.SumString(id)
		return m.shardOf(h).Contains(h)
	}
}

// runSender starts a process and, unless it is the last one, kills it at a random moment. It reports whether the process
// was killed before it had ended.
func runSender(t *testing.T, round int, dir string, last bool) (killed bool) {
	t.Helper()
	var says strings.Builder
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), fmt.Sprint(killEnv, "=", round, " ", dir))
	cmd.Stdout, cmd.Stderr = &says, &says
	check(t, cmd.Start())
	if !last {
		time.Sleep(20*time.Millisecond + rand.N(150*time.Millisecond))
		_ = cmd.Process.Signal(syscall.SIGKILL)
	}
	err := cmd.Wait()
	killed = !cmd.ProcessState.Exited()
	if err != nil && !killed || last && killed {
		t.Fatalf("round %d: %v: %s", round, err, &says)
	}
	return killed
}

// sendAll is the process.
func sendAll(t *testing.T, round int, dir string) {
	out, err := os.OpenFile(filepath.Join(dir, "out"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	check(t, err)
	next := &recorder{fail: func(ids []string) error {
		if rand.IntN(4) == 0 {
			return errRefused
		}
		_, err := out.WriteString(strings.Join(ids, "\n") + "\n")
		return err
	}}
	p := newTestLogs(t, killedConfig(dir), next)
	check(t, p.Start(t.Context(), componenttest.NewNopHost()))

	ids := numbered(0, (round+1)*roundKeys)
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for len(ids) > 0 {
		n := min(50, len(ids))
		batch := append(ids[:n:n], ids[rand.IntN(len(ids))])
		for p.ConsumeLogs(t.Context(), logsOf(batch...)) != nil {
		}
		ids = ids[n:]
	}
	check(t, p.Shutdown(t.Context()))
}
