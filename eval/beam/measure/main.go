// Command measure compares bloomery-beam with `bloomery build --shards` on this machine and prints tables in Markdown:
// times, peak memory, and whether the folders have the same bytes. It builds both programs, makes the keys from a fixed
// seed, runs the programs in turn and reports medians.
//
// In eval/beam:
//
//	go run ./measure                      growth: 1M to 50M keys, three families
//	go run ./measure --part families      the same bytes for every family, 1M keys, and for three from gzip
//	go run ./measure --part server        growth against a separate Prism job server, and 5,000 small files
//	go run ./measure --part scale         keys made as they are read: one process, Prism in process and, with
//	                                      --cluster flink or spark, two machines of a cluster on this one
//	go run ./measure --part all           all except scale
//
// Nothing else should run at the same time. It needs 3 GB of disk space for 50M keys; part scale needs 18 bytes per
// key.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// bench is the state of the program.
type bench struct {
	ctx    context.Context
	self   string // path of this program
	dir    string // folder of programs, keys and sets
	rounds int
	sizes  []int

	// of part scale
	cluster, specs string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if is, err := child(ctx, os.Args[1:]); is {
		if err != nil {
			fmt.Fprintln(os.Stderr, "measure:", err)
			os.Exit(1)
		}
		return
	}
	part := flag.String("part", "growth", "growth, families, server, scale, or all: these but scale")
	sizes := flag.String("keys", "1M,5M,20M,50M", "numbers of keys")
	rounds := flag.Int("rounds", 3, "runs of each program")
	dir := flag.String("dir", "", "folder for keys and sets; it keeps the keys (default a temporary one)")
	b := &bench{ctx: ctx}
	flag.StringVar(&b.cluster, "cluster", "", "scale: also run the jobs on a cluster: flink or spark")
	flag.StringVar(&b.specs, "specs", "blocked(fpr=0.01)", "scale: specs, separated by semicolons")
	flag.Parse()
	b.dir, b.rounds = *dir, *rounds
	if err := b.run(*part, *sizes); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func (b *bench) run(part, sizes string) (err error) {
	for s := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(strings.Replace(s, "M", "000000", 1))
		if err != nil || n < 1 {
			return fmt.Errorf("--keys %q: want numbers such as 5M", sizes)
		}
		b.sizes = append(b.sizes, n)
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir == "" {
		if b.dir, err = os.MkdirTemp("", "bloomery-measure-"); err != nil {
			return err
		}
		defer os.RemoveAll(b.dir)
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	fmt.Printf("%s, %s/%s, %d processors\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if err := b.programs(part == "scale"); err != nil {
		return err
	}
	parts := map[string][]func() error{
		"growth": {b.growth}, "families": {b.families}, "server": {b.server}, "scale": {b.scale},
		"all": {b.growth, b.families, b.server},
	}
	steps, ok := parts[part]
	if !ok {
		return fmt.Errorf("--part %q: want growth, families, server, scale or all", part)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// programs builds the programs, or only bloomery. The current folder must be in the module.
func (b *bench) programs(only bool) error {
	root, err := exec.CommandContext(b.ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/bloomery/bloomery").Output()
	if err != nil {
		return fmt.Errorf("run it in the module eval/beam: %w", err)
	}
	for _, p := range []struct{ name, dir, pkg string }{
		{"bloomery", strings.TrimSpace(string(root)), "./cmd/bloomery"},
		{"bloomery-beam", ".", "github.com/bloomery/bloomery/beam/cmd/bloomery-beam"},
		{"prism", ".", "github.com/apache/beam/sdks/v2/go/cmd/prism"},
	} {
		if only && p.name != "bloomery" {
			continue
		}
		c := exec.CommandContext(b.ctx, "go", "-C", p.dir, "build", "-o", b.path(p.name), p.pkg)
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("building %s: %w", p.name, err)
		}
	}
	return nil
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }
