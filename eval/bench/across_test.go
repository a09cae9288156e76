package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/eval/bench/versus"
)

// TestMain runs the program as our side of a comparison if its arguments say so, else the tests.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == serveCommand {
		if err := versus.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// acrossFake returns the options of a comparison with a peer that is a second process of our side.
func acrossFake(t *testing.T, args ...string) (options, []Program) {
	o, err := parse(append([]string{"--keys", "2k", "--quick", "--peers", "rust,java"}, args...), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.compare.Ours = versus.Command{self, serveCommand}
	o.compare.Programs = []versus.Program{{Language: "rust", Command: o.compare.Ours}}
	o.compare.Pairs = []versus.Pair{
		{Ours: "standard", Language: "rust", Peer: "blocked(fpr=0.01)", Library: "lib", Told: "new(%g)"},
		{Ours: "fuse(width=8)", Language: "rust", Peer: "fuse(width=8)", Library: "lib", Told: "new8", Fixed: true},
	}
	return o, []Program{
		{Language: "rust", Toolchain: "rustc 1", Flags: "-O", Versions: map[string]string{"lib": "1.2.3"}},
		{Language: "java", NotRun: "there is no mvn in PATH"},
	}
}

// TestAcross checks that the JSON, the tables and the page contain all comparisons, and name the programs that were not
// run.
func TestAcross(t *testing.T) {
	dir := t.TempDir()
	o, programs := acrossFake(t, "--out", dir, "--json")
	var out, says bytes.Buffer
	if err := o.acrossAll(t.Context(), programs, &out, &says); err != nil {
		t.Fatal(err)
	}
	var r Across
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 3*3 || r.Turns != 3 || r.Builds != 1 || len(r.FPRs) != 2 {
		t.Fatalf("%d rows, %d turns, %d builds, rates %v", len(r.Rows), r.Turns, r.Builds, r.FPRs)
	}
	for _, a := range r.Rows {
		for _, op := range operations {
			if s := a.Ratios[op]; s.N == 0 || s.Median <= 0 || a.Peer.Times[op].N != s.N {
				t.Errorf("%s, %s: %+v", a.name(), op, s)
			}
		}
		if a.Ours.Trials != 200_000 || a.Ours.Hits == 0 || a.Bits <= 0 || a.Ours.BitsPerKey < 8 {
			t.Errorf("%+v", a)
		}
	}
	var table bytes.Buffer
	r.writeText(&table)
	page, err := os.ReadFile(filepath.Join(dir, "peers-2k.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{table.String(), string(page)} {
		for _, want := range []string{
			"standard / blocked(fpr=0.01)", "fuse(width=8) / fuse(width=8)", "lib 1.2.3", "new(rate)", "rustc 1, -O",
			"NOT RUN: java: there is no mvn in PATH", "16-byte strings, target rate 0.1%", "fingerprints' width",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	}
	index, err := os.ReadFile(filepath.Join(dir, "README.md"))
	for _, want := range []string{"| 2k | rust | ", "(peers-2k.md)"} {
		if err != nil || !strings.Contains(string(index), want) {
			t.Errorf("the index does not have %q: %v\n%s", want, err, index)
		}
	}
}

// TestAcrossFails checks that the table shows a failed comparison, and that the run returns an error after the last
// comparison.
func TestAcrossFails(t *testing.T) {
	o, programs := acrossFake(t, "--out", "")
	o.compare.Pairs[0].Peer = "nosuch"
	var out bytes.Buffer
	err := o.acrossAll(t.Context(), programs, &out, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "2k keys, standard / nosuch, 16-byte strings: rust: ") {
		t.Errorf("got %v", err)
	}
	if text := out.String(); strings.Count(text, "FAILED: rust: ") != 6 || !strings.Contains(text, "fuse(width=8)  ") {
		t.Errorf("the table is\n%s", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.acrossAll(ctx, programs, io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	o.memory = 1000
	err = o.acrossAll(t.Context(), programs, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "--memory") {
		t.Errorf("got %v", err)
	}
}

// TestNotRun checks that each language whose compiler is missing is reported.
func TestNotRun(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	var says bytes.Buffer
	err := run(t.Context(), []string{"--peers", "rust,java", "--keys", "2k", "--quick"}, io.Discard, &says)
	for _, want := range []string{"NOT RUN: rust: ", "NOT RUN: java: "} {
		if err == nil || !strings.Contains(says.String(), want) {
			t.Errorf("got %v after\n%s", err, says.String())
		}
	}
}

// TestIndex checks that writeIndex would not change the committed index.
func TestIndex(t *testing.T) {
	const committed = "../../docs/measured"
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(committed)); err != nil {
		t.Fatal(err)
	}
	if err := writeIndex(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(committed, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "README.md")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%s", err, got)
	}
}
