package versus

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bloomery/bloomery/eval/child"
	"github.com/bloomery/bloomery/internal/stat"
)

var long = flag.Bool("long", false, "also build and run the peers in Rust and Java")

// TestReal builds the peers and compares with few keys. The filter of Parquet must have the same size and the same
// false positives as ours, the filter of Guava about the same size. Peers with a target rate must have about this rate.
func TestReal(t *testing.T) {
	if !*long {
		t.Skip("needs cargo and Maven, and downloads; run it with -long")
	}
	for _, language := range Languages {
		t.Run(language, func(t *testing.T) {
			program, err := Prepare(t.Context(), language, "..", t.Output())
			var lack child.LackError
			if errors.As(err, &lack) {
				t.Skip("NOT RUN: " + lack.Error())
			}
			if err != nil {
				t.Fatal(err)
			}
			c := small(t, "none")
			c.Keys, c.Asked, c.Absent, c.Pairs, c.Programs = 50_000, 50_000, 200_000, Pairs, []Program{program}
			got, err := Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range got {
				checkReal(t, program, x)
			}
		})
	}
}

func checkReal(t *testing.T, program Program, x Comparison) {
	name := x.Name() + ", " + x.Kind.String()
	if x.Failed != "" {
		t.Errorf("%s: %s", name, x.Failed)
		return
	}
	ours, theirs := x.Ours, x.Theirs
	if x.Peer == "sbbf-rs-safe" && (ours.Bits != theirs.Bits || ours.Hits != theirs.Hits) {
		t.Errorf("%s: one filter, but %d and %d bits, %d and %d false positives",
			name, ours.Bits, theirs.Bits, ours.Hits, theirs.Hits)
	}
	if ratio := float64(ours.Bits) / float64(theirs.Bits); x.Peer == "guava" && (ratio < 0.99 || ratio > 1.01) {
		t.Errorf("%s: %d and %d bits", name, ours.Bits, theirs.Bits)
	}
	// One correct filter in 10^9 deviates more. cuckoofilter compares 8 bits in up to 8 places, which gives 3% if the
	// filter is full.
	rate := max(x.Rate, map[string]float64{"xorf-8": 1.0 / 256, "xorf-16": 1.0 / 65536, "cuckoofilter": 0.04}[x.Peer])
	if stat.UpperTail(theirs.Hits, theirs.Trials, 1.1*rate) < 1e-9 {
		t.Errorf("%s: %d false positives among %d, want a rate of %g", name, theirs.Hits, theirs.Trials, rate)
	}
	if bits := float64(theirs.Bits) / 50_000; bits < 5 || bits > 40 {
		t.Errorf("%s: %.1f bits per key", name, bits)
	}
	for _, op := range []string{Build, Present, Absent} {
		if len(ours.Times[op]) == 0 || len(theirs.Times[op]) == 0 {
			t.Errorf("%s: %s was not measured", name, op)
		}
	}
	if program.Versions[x.Library] == "" || program.Toolchain == "" {
		t.Errorf("%s: version %q of %s, toolchain %q", name, program.Versions[x.Library], x.Library, program.Toolchain)
	}
}

// TestLack checks that a machine without compilers gets a LackError, and a wrong folder or language another error.
func TestLack(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	for _, language := range Languages {
		var lack child.LackError
		if _, err := Prepare(t.Context(), language, "..", t.Output()); !errors.As(err, &lack) {
			t.Errorf("%s: %v", language, err)
		}
	}
	for _, args := range [][2]string{{"rust", t.TempDir()}, {"cobol", ".."}} {
		var lack child.LackError
		if _, err := Prepare(t.Context(), args[0], args[1], t.Output()); err == nil || errors.As(err, &lack) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestBuildFails checks that the error of a build quotes the compiler.
func TestBuildFails(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: the compiler of this test is a shell script")
	}
	bin, dir := t.TempDir(), t.TempDir()
	for _, tool := range []string{"cargo", "rustc"} {
		script := "#!/bin/sh\necho error: no route to the registry >&2\nexit 101\n"
		if err := os.WriteFile(filepath.Join(bin, tool), []byte(script), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "rust"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	_, err := Prepare(t.Context(), "rust", dir, t.Output())
	want := filepath.Join(dir, "rust") +
		": cargo build --release --locked --target-dir target: exit status 101:\n  error: no route to the registry"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
