package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// The trials run the command under bad conditions: killed, on a full disk, by many processes at once, on damaged files.
// -long runs them at the full length for a release.
var long = flag.Bool("long", false, "trials of damaged files, kills and races at full length: some minutes")

// trialKeys returns n lines.
func trialKeys(what string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s-%d\n", what, i)
	}
	return b.String()
}

// victim is a filter file to damage.
type victim struct {
	name   string
	file   []byte
	secret bool
}

// victims returns a file of every family, and of the forms that have additional sections.
func victims(t *testing.T, dir, secret string) (all []victim) {
	t.Helper()
	specs := []string{"rankindexed(capacity=500,value_bits=4)", "rankindexed(capacity=500,counting=1,growth=2)",
		"blocked(layout=split)", "fuse(width=13)"}
	for i, spec := range append(specs, families.Names()...) {
		path := filepath.Join(dir, "whole.bloom")
		args := []string{"-q", "build", "-o", path, "--spec", spec}
		if f, err := families.ByName(spec); err == nil && !f.Foreign() && i%2 == 0 {
			args = append(args, "--secret-file", secret)
		}
		mustRun(t, trialKeys("key", 300), args...)
		v := victim{name: spec, secret: len(args) > 6}
		var err error
		if v.file, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
		if slices.Contains(families.With(family.CanTrim), strings.SplitN(spec, "(", 2)[0]) {
			args := []string{"-q", "trim", path}
			if v.secret {
				args = append(args, "--secret-file", secret)
			}
			mustRun(t, "", args...)
			v.name += " trimmed"
			if v.file, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
	}
	return all
}

// damage returns a damaged copy of a file and describes the damage. If mended is true, the checksum of the header was
// corrected, so that the header may be a valid different one.
func damage(r *rand.Rand, file, other []byte) (what string, bad []byte, mended bool) {
	bad = bytes.Clone(file)
	switch r.IntN(7) {
	case 0:
		n := r.IntN(len(bad))
		return fmt.Sprintf("cut at %d", n), bad[:n], false
	case 1:
		i := r.IntN(len(bad))
		bad[i] ^= 1 << r.IntN(8)
		return fmt.Sprintf("byte %d flipped", i), bad, false
	case 2:
		i, n := r.IntN(len(bad)), 1+r.IntN(64)
		for j := i; j < min(i+n, len(bad)); j++ {
			bad[j] = byte(r.Uint32())
		}
		return fmt.Sprintf("bytes %d to %d random", i, i+n), bad, false
	case 3:
		n := r.IntN(min(len(file), len(other)))
		return fmt.Sprintf("the first %d bytes of another file", n), append(bytes.Clone(other[:n]), file[n:]...), false
	case 4:
		return "bytes behind", append(bad, other...), false
	case 5:
		i, n := r.IntN(len(bad)), r.IntN(1+len(bad)/2)
		for j := i; j < min(i+n, len(bad)); j++ {
			bad[j] = 0
		}
		return fmt.Sprintf("bytes %d to %d are 0", i, i+n), bad, false
	}
	i := 8 + r.IntN(52)
	if r.IntN(2) == 0 {
		i = 64 + r.IntN(min(96, len(bad)-64))
	}
	bad[i] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(r.Uint32())}[r.IntN(6)]
	return fmt.Sprintf("byte %d is %#x, with the right checksum", i, bad[i]), mend(bad), true
}

// mend corrects the checksum of the header of a file, if the length in the header is valid.
func mend(file []byte) []byte {
	le, table := binary.LittleEndian, crc32.MakeTable(crc32.Castagnoli)
	end := 64 + 24*int(file[14]) + int(min(le.Uint32(file[56:]), 1<<20))
	if end <= len(file) {
		le.PutUint32(file[60:], crc32.Update(crc32.Checksum(file[:60], table), table, file[64:end]))
	}
	return file
}

// TestTrialDamage runs the commands on damaged files of every family. They must exit with code 2 or give the answers of
// the undamaged file, without a crash or a large allocation. A file with a corrected checksum of the header may be a
// valid file with other answers.
func TestTrialDamage(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	mustWrite(t, secret, strings.Repeat("ab", 16))
	all := victims(t, dir, secret)
	rounds := 2
	if *long {
		rounds = 80
	}
	path, out := filepath.Join(dir, "bad.bloom"), filepath.Join(dir, "out.bloom")
	commands := [][]string{{"check", path}, {"info", path}, {"add", path}, {"remove", path},
		{"merge", "-o", out, path, filepath.Join(dir, "copy.bloom")}, {"verify", path, "--members", filepath.Join(dir, "keys")}, {"trim", "-o", out, path}, {"count", path}, {"get", path}}
	keys := trialKeys("key", 20) + trialKeys("other", 20)
	mustWrite(t, filepath.Join(dir, "keys"), trialKeys("key", 300))
	const seed = 15
	r := rand.New(rand.NewPCG(seed, 1))
	files, errors := 0, 0
	for i, v := range all {
		command := func(file []byte, args []string) (code int, stdout, stderr string) {
			for _, p := range []string{path, filepath.Join(dir, "copy.bloom")} {
				mustWrite(t, p, file)
			}
			_ = os.Remove(out)
			if v.secret {
				args = append([]string{"--secret-file", secret}, args...)
			}
			var o, e bytes.Buffer
			code = run(t.Context(), args, strings.NewReader(keys), &o, &e)
			return code, o.String(), e.String()
		}
		said := map[string]string{} // exit code and stdout by command
		for _, args := range commands {
			code, stdout, _ := command(v.file, args)
			said[args[0]] = fmt.Sprint(code, stdout)
		}
		for range rounds {
			what, bad, mended := damage(r, v.file, all[(i+1+r.IntN(len(all)-1))%len(all)].file)
			files++
			for _, args := range commands {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				code, stdout, stderr := command(bad, args)
				runtime.ReadMemStats(&after)
				if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 64 {
					t.Errorf("%s of %s, %s (seed %d): allocated %d MiB", args[0], v.name, what, seed, took)
				}
				switch {
				case code == exitError:
					errors++
					if !strings.Contains(stderr, "bloomery") {
						t.Errorf("%s of %s, %s (seed %d): no message: %q", args[0], v.name, what, seed, stderr)
					}
				case !mended && fmt.Sprint(code, stdout) != said[args[0]]:
					t.Errorf("%s of %s, %s (seed %d): exit code %d, other answers:\n%s", args[0], v.name, what, seed, code, stdout)
				}
			}
		}
	}
	t.Logf("%d damaged files, %d commands, %d of them errors", files, files*len(commands), errors)
}
