package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// lines returns the file of a list.
func lines(rows []string) []byte { return []byte(strings.Join(rows, "\n") + "\n") }

// exactRows returns the rows of a universe of 4,000 keys in two partitions, 400 of them members.
func exactRows() (members, universe []string) {
	for i := range 4000 {
		row := fmt.Sprintf("ca%d,%06d", i%2, i)
		if universe = append(universe, row); i%20 < 2 {
			members = append(members, row)
		}
	}
	return members, universe
}

// TestExactUpdateShrunk checks that exact update refuses truncated lists with an error that gives both counts, and that
// --shrink allows them. A build that replaces an older file is not checked.
func TestExactUpdateShrunk(t *testing.T) {
	dir := t.TempDir()
	members, universe := exactRows()
	csv := []string{"--input-format", "csv", "--column", "2", "--partition-column", "1"}
	for _, partitioned := range []bool{false, true} {
		base := filepath.Join(dir, fmt.Sprint(partitioned, ".exact"))
		command := func(name string, members, universe []string, args ...string) (code int, stderr string) {
			t.Helper()
			for file, rows := range map[string][]string{"members": members, "universe": universe} {
				mustWrite(t, filepath.Join(dir, file), lines(rows))
			}
			args = append([]string{"exact", name, "-o", base, "--members", filepath.Join(dir, "members"),
				"--universe", filepath.Join(dir, "universe")}, args...)
			if partitioned {
				args = append(args, csv...)
			}
			var e bytes.Buffer
			code = run(t.Context(), args, strings.NewReader(""), io.Discard, &e)
			return code, e.String()
		}
		if code, text := command("build", members, universe); code != exitOK {
			t.Fatal(text)
		}
		old := mustRead(t, base)
		for _, c := range []struct {
			members, universe []string
			flags             []string
			want              string // text of the error, or empty
		}{
			{members[:300], universe, nil, "members: 300, and 400 before: 100 are lost, and at most 10% may be"},
			{members[:300], universe, []string{"--shrink=20%"}, "members: 300, and 400 before"},
			{nil, universe, []string{"--shrink=99%"}, "members: 0, and 400 before"},
			{members, universe[:3999], nil, "keys of the universe: 3999, and 4000 before"},
			{members[:380], universe[:3800], []string{"--shrink=4%"}, "keys of the universe: 3800, and 4000 before"},
			{members[:380], universe[:3800], []string{"--shrink=5%"}, ""},
			{members[:300], universe, []string{"--shrink=25%"}, ""},
			{members[:360], universe, nil, ""},
			{nil, nil, []string{"--shrink"}, ""},
		} {
			args := append([]string{"--base", base}, c.flags...)
			code, text := command("update", c.members, c.universe, args...)
			now := mustRead(t, base)
			if c.want == "" {
				if code != exitOK || bytes.Equal(now, old) {
					t.Errorf("%d members of %d %q: exit code %d, %s", len(c.members), len(c.universe), c.flags, code, text)
				}
			} else if code != exitError || !strings.Contains(text, c.want) || !strings.Contains(text, "--shrink") ||
				!bytes.Equal(now, old) {
				t.Errorf("%d members of %d %q: exit code %d, %s", len(c.members), len(c.universe), c.flags, code, text)
			}
			mustWrite(t, base, old)
		}
		if code, text := command("build", members[:10], universe[:3000]); code != exitOK {
			t.Errorf("a build over the old file: exit code %d, %s", code, text)
		}
	}
}

// TestExactCutInput checks that a compressed list that is truncated at any place is an error, and that nothing is
// written.
func TestExactCutInput(t *testing.T) {
	dir := t.TempDir()
	members, universe := exactRows()
	write := func(name string, b []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		mustWrite(t, path, b)
		return path
	}
	all := lines(universe)
	some := write("members", lines(members))
	plain := write("universe", all)
	base, out := filepath.Join(dir, "base.exact"), filepath.Join(dir, "out.exact")
	args := []string{"exact", "build", "-q", "-o", base, "--members", some, "--universe", plain}
	mustRun(t, "", args...)
	for name, compress := range map[string]func(w io.Writer) io.WriteCloser{
		"gz": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"zst": func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w)
			must(t, err)
			return z
		},
	} {
		var b bytes.Buffer
		w := compress(&b)
		if _, err := w.Write(all); err != nil {
			t.Fatal(err)
		}
		must(t, w.Close())
		cuts := []int{1, 2, 3, 5, 9, 10, b.Len() / 3, b.Len() / 2, b.Len() - 9, b.Len() - 8, b.Len() - 4, b.Len() - 1}
		for _, n := range append(cuts, b.Len()) {
			cut := write("cut."+name, b.Bytes()[:n])
			for _, args := range [][]string{
				{"build", "--members", some, "--universe", cut},
				{"update", "--shrink", "--base", base, "--members", some, "--universe", cut},
				{"update", "--shrink", "--base", base, "--members", cut, "--universe", plain},
			} {
				code, _ := runOn(t, "", append([]string{"exact", "-q", "-o", out}, args...)...)
				_, err := os.Stat(out)
				if whole := n == b.Len(); whole != (code == exitOK) || whole != (err == nil) {
					t.Errorf("%s cut to %d of %d bytes, exact %s: exit code %d, %v", name, n, b.Len(), args[0], code, err)
				}
				_ = os.Remove(out)
			}
		}
	}
}
