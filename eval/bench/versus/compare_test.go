package versus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// bijection is an odd multiplier.
func bijection(i uint64) uint64 { return (i + 1) * 0x9e3779b97f4a7c15 }

// small returns the Config of a comparison with a fake peer. The comparison takes a second.
func small(t *testing.T, fault string) Config {
	return Config{
		Keys: 2000, Rates: []float64{0.01, 0.001}, Builds: 2, Turns: 3, Asked: 3000, Absent: 20_000,
		Pairs: []Pair{
			{Ours: "standard", Language: "fake", Peer: "standard(fpr=0.01)", Told: "New(%g)"},
			{Ours: "fuse(width=8)", Language: "fake", Peer: "fuse(width=8)", Told: "New", Fixed: true},
			{Ours: "standard", Language: "other", Peer: "none"},
		},
		Ours:     self(t, "serve"),
		Programs: []Program{{Language: "fake", Command: self(t, "fake", fault)}},
		Key:      bijection, FirstAbsent: 1 << 40, TempDir: t.TempDir(),
	}
}

// TestCompare compares our filters with the same filters in another process.
func TestCompare(t *testing.T) {
	for _, fault := range []string{"none", "batches"} {
		c := small(t, fault)
		var last, all int
		c.Progress = func(_ string, done, of int) {
			if done < last || done > of {
				t.Errorf("%d steps of %d after %d", done, of, last)
			}
			last, all = done, of
		}
		got, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if last != all-1 || len(got) != len(Kinds)*3 {
			t.Errorf("step %d of %d, %d comparisons", last, all, len(got))
		}
		for i, x := range got {
			if x.Failed != "" || x.Kind != Kinds[i/3] || x.Rate != []float64{0.01, 0.001, 0}[i%3] {
				t.Errorf("%d: %v, rate %g, failed: %s", i, x.Kind, x.Rate, x.Failed)
			}
			for _, op := range []string{Build, Present, Absent, PresentBatch, AbsentBatch} {
				turns := map[bool]int{true: c.Builds, false: c.Turns}[op == Build]
				theirs := turns
				if fault == "none" && strings.HasSuffix(op, "batch") {
					theirs = 0
				}
				if len(x.Ours.Times[op]) != turns || len(x.Theirs.Times[op]) != theirs {
					t.Errorf("%d: %s: times %v and %v", i, op, x.Ours.Times[op], x.Theirs.Times[op])
				}
			}
			// The peer's filter has a rate of 1%, or is fuse, so in two of three comparisons it is the same filter as
			// ours.
			if same := x.Ours.Hits == x.Theirs.Hits && x.Ours.Bits == x.Theirs.Bits; same == (x.Rate == 0.001) {
				t.Errorf("%d: ours %+v, theirs %+v", i, x.Ours, x.Theirs)
			}
			if x.Ours.Trials != 20_000 || x.Ours.Lost+x.Theirs.Lost > 0 || x.Ours.Hits == 0 {
				t.Errorf("%d: ours %+v", i, x.Ours)
			}
		}
		if left, _ := os.ReadDir(c.TempDir); len(left) > 0 {
			t.Errorf("%v stayed behind", left)
		}
	}
}

// TestTime checks that a side queries the other keys before the measurement, and that the time is divided by the number
// of its own keys.
func TestTime(t *testing.T) {
	a := &asker{Side: &Side{Times: map[string][]float64{}}, positives: map[[2]int]uint64{}}
	in := &commands{replies: [][]uint64{{70, 0}, {50, 9}}} // ns and positives
	a.process = in
	if err := a.time(Present, "single", [2]int{10, 20}, [2]int{20, 30}); err != nil {
		t.Fatal(err)
	}
	if want := "ask single 20 30\nask single 10 20\n"; in.String() != want {
		t.Errorf("commands %q, want %q", in.String(), want)
	}
	if got := a.Times[Present]; !slices.Equal(got, []float64{5}) {
		t.Errorf("times %v, want 5 ns per key", got)
	}
}

// commands is a process that records its commands and returns fixed replies.
type commands struct {
	strings.Builder
	replies [][]uint64
}

func (c *commands) numbers(command string, _ ...string) (reply []uint64, err error) {
	c.WriteString(command + "\n")
	reply, c.replies = c.replies[0], c.replies[1:]
	return reply, nil
}

// TestFaults checks that each fault of a peer is reported with the name of the peer, and that the other peers continue.
func TestFaults(t *testing.T) {
	for fault, want := range map[string]string{
		"crashes": "fake: the program ended before it answered \"build standard(fpr=0.01) 0 2000 fpr=0.01 bits=",
		"leaves":  "without an error",
		"chats":   `fake: wrong protocol: answered "loading the keys" to "keys strings 25000`,
		"floods":  `fake: wrong protocol: answered "loading loading`,
		"silent":  `has bits="", want a whole number`,
		"newer":   `fake: speaks protocol "2", want 1`,
		"forgets": "fake, standard(fpr=0.01): 7 false negatives among its 2000 keys, of which it refused 0",
		"dreams":  "fake, standard(fpr=0.01): found more keys than it was asked for",
		"wavers":  "and now, asked by single queries, ",
		"frozen":  "took 0 ns of CPU time",
	} {
		t.Run(fault, func(t *testing.T) {
			c := small(t, fault)
			c.Pairs, c.Rates = c.Pairs[:1], []float64{0.01}
			if fault == "wavers" {
				c.Turns = 200
			}
			got, err := Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(Kinds) || !strings.Contains(got[0].Failed, want) || got[1].Failed == "" {
				t.Errorf("got %+v\nwant %s", got, want)
			}
			if fault == "crashes" && !strings.HasSuffix(got[0].Failed, "exit status 3:\n  thread panicked: no luck") {
				t.Errorf("does not quote the program: %s", got[0].Failed)
			}
		})
	}
	// A peer may lose as many keys as it reports as refused. A peer that fails does not stop the other comparisons.
	c := small(t, "refuses")
	c.Pairs = c.Pairs[:1]
	got, err := Run(t.Context(), c)
	if err != nil || got[0].Failed != "" || got[0].Theirs.Lost != 7 || got[0].Theirs.Refused != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	c = small(t, "none")
	c.Pairs[0].Peer = "nosuch"
	got, err = Run(t.Context(), c)
	if err != nil || !strings.Contains(got[0].Failed, `fake: "build nosuch 0 2000`) || got[2].Failed != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestOursFails checks that false negatives and a missing program of our side are also reported.
func TestOursFails(t *testing.T) {
	c := small(t, "none")
	c.Pairs, c.Ours = c.Pairs[:1], self(t, "fake", "forgets")
	got, err := Run(t.Context(), c)
	if err != nil || !strings.HasPrefix(got[0].Failed, "bloomery, standard(fpr=0.01): 7 false negatives") {
		t.Errorf("%+v, %v", got, err)
	}
	c.Ours = Command{filepath.Join(t.TempDir(), "nothing")}
	if got, err = Run(t.Context(), c); err != nil || !strings.Contains(got[0].Failed, "bloomery: ") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestCancel checks that no process or file remains if the context is cancelled while the peer works.
func TestCancel(t *testing.T) {
	c := small(t, "hangs")
	pidFile := filepath.Join(t.TempDir(), "pid")
	t.Setenv("FAKE_PID", pidFile)
	ctx, cancel := context.WithCancel(t.Context())
	c.Progress = func(what string, _, _ int) {
		if strings.Contains(what, "building") {
			time.AfterFunc(300*time.Millisecond, cancel) // by then the peer sleeps or builds
		}
	}
	if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(c.TempDir); len(left) > 0 {
		t.Errorf("%v stayed behind", left)
	}
	b, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%s", b)); err == nil {
		t.Errorf("process %s stayed behind", b)
	}
}

// TestKeys checks the file of keys: all present keys are distinct, the sample contains only present keys, and no absent
// key is among them.
func TestKeys(t *testing.T) {
	at := layoutOf(5000, 3000, 4000)
	dir := t.TempDir()
	for _, kind := range Kinds {
		if err := writeKeys(t.Context(), filepath.Join(dir, string(kind)), kind, at, bijection, 1<<40); err != nil {
			t.Fatal(err)
		}
	}
	read := map[Kind][]byte{}
	for _, kind := range Kinds {
		var err error
		if read[kind], err = readKeys(filepath.Join(dir, string(kind)), kind, at.end); err != nil {
			t.Fatal(err)
		}
	}
	arrays, texts, numbers := slices.Collect(slices.Chunk(read[Arrays], 16)), stringsIn(read[Strings]), integersIn(read[Integers])
	present, sampled := map[uint64]bool{}, map[uint64]bool{}
	for i, k := range numbers {
		if want := fmt.Sprintf("%016x", k); texts[i] != want || string(arrays[i]) != want {
			t.Fatalf("key %d is %s and %s, want %s", i, texts[i], arrays[i], want)
		}
		switch {
		case i < at.sample:
			present[k] = true
		case present[k] != (i < at.absent):
			t.Fatalf("key %d is present: %v", i, present[k])
		case i < at.absent:
			sampled[k] = true
		}
	}
	// 3000 draws from 5000 keys miss (1-1/5000)^3000 = 55% of the keys.
	if len(present) != 5000 || len(sampled) < 2000 || len(sampled) > 2500 {
		t.Errorf("%d distinct keys, %d in the sample", len(present), len(sampled))
	}
	if _, err := readKeys(filepath.Join(dir, "integers"), Strings, at.end); err == nil {
		t.Error("a file of integers is read as strings")
	}
}

// TestPairs checks that our specs and hash functions build, and that each language has pairs.
func TestPairs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	at := layoutOf(1000, 1, 1)
	if err := writeKeys(t.Context(), path, Strings, at, bijection, 1<<40); err != nil {
		t.Fatal(err)
	}
	s := server{}
	if _, err := s.answer(t.Context(), fmt.Sprintf("keys strings %d %s", at.end, path)); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range Pairs {
		seen[p.Language] = true
		spec, err := p.spec(0.01)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.answer(t.Context(), fmt.Sprintf("build %s 0 1000 hash=%d", spec, p.Hash)); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
		if strings.Contains(p.told(0.01), "%!") || p.Fixed == strings.Contains(spec, "fpr=") {
			t.Errorf("%s, %s", spec, p.told(0.01))
		}
	}
	for _, l := range Languages {
		if !seen[l] {
			t.Errorf("no pair has a peer in %s", l)
		}
	}
	if len(seen) != len(Languages) {
		t.Errorf("languages %v, want %v", seen, Languages)
	}
}

// TestServeErrors checks that the reply to a wrong command is an error, and that Serve continues.
func TestServeErrors(t *testing.T) {
	lines := []string{
		"", "helo", "ask single 0 1", "keys strings 1 nosuch", "keys letters 1 nosuch", "keys strings x nosuch",
		"build standard 0 1", "build standard",
	}
	var out strings.Builder
	if err := Serve(t.Context(), strings.NewReader(strings.Join(lines, "\n")+"\nhello\nquit\nhello\n"), &out); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(got) != len(lines)+1 || !strings.HasPrefix(got[len(lines)], "ok protocol=1") {
		t.Fatalf("got %q", got)
	}
	if i := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "ok") }); i != len(lines) {
		t.Errorf("%q gets %q", lines[i], got[i])
	}
}
