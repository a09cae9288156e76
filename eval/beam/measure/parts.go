package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
)

// The specs of growth, and the number of keys from which their time must grow linearly.
var grown = []struct {
	spec   string
	linear int
}{
	{"blocked(fpr=0.01)", 20_000_000},
	{"standard(fpr=0.01)", 20_000_000},
	{"partitioned(bits_per_key=8,effort=fast)", 5_000_000},
}

// table prints the header of a table of trials.
func table(title string) {
	fmt.Printf("## %s\n\n", title)
	fmt.Println("| spec | keys | shards | single s | beam s | bound s | beam CPU s | ns per key | peak single, beam MiB |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
}

// row runs a trial and prints its costs. The bound is the time of the single process + 0.5 s + 40 ns per key.
func (b *bench) row(t trial, keys int) (beam cost, err error) {
	single, beam, err := b.both(t)
	if err != nil {
		return beam, err
	}
	bound := single.wall + 0.5 + 40e-9*float64(keys)
	mark := ""
	if beam.wall > bound {
		mark = " **over**"
	}
	fmt.Printf("| %s | %.3gM | %d | %.2f | %.2f%s | %.2f | %.2f | %.0f | %.0f, %.0f |\n",
		t.spec, float64(keys)/1e6, t.shards, single.wall, beam.wall, mark, bound, beam.cpu,
		1e9*beam.wall/float64(keys), single.peak, beam.peak)
	return beam, nil
}

// growth compares the programs at all sizes, all files byte by byte.
func (b *bench) growth() error {
	table("Growth: Prism in process")
	return b.grow(nil)
}

func (b *bench) grow(beamArgs []string) error {
	for _, g := range grown {
		var first float64 // seconds per key
		from := 0
		for _, n := range b.sizes {
			input, err := b.text(n)
			if err != nil {
				return err
			}
			c, err := b.row(trial{input, g.spec, 16, "512MiB", beamArgs}, n)
			if err != nil {
				return err
			}
			switch {
			case n < g.linear:
			case from == 0:
				from, first = n, c.wall/float64(n)
			default:
				fmt.Printf("| | %.3gM | | | %.2fx linear from %.3gM | | | | |\n", float64(n)/1e6, c.wall/float64(n)/first,
					float64(from)/1e6)
			}
		}
	}
	n := b.sizes[len(b.sizes)-1]
	input, err := b.text(n)
	if err != nil {
		return err
	}
	if _, err := b.row(trial{input, grown[2].spec, 64, "160MiB", beamArgs}, n); err != nil {
		return err
	}
	fmt.Println()
	return nil
}

// families compares the bytes of all families at 1M keys, and of three from gzip at the largest size.
func (b *bench) families() error {
	table("The same bytes: eight families; gzip")
	input, err := b.text(1_000_000)
	if err != nil {
		return err
	}
	for _, spec := range []string{
		"blocked(fpr=0.01)", "standard(fpr=0.01)", "counting(fpr=0.01)", "partitioned(bits_per_key=8,effort=fast)",
		"blockpartitioned(bits_per_key=8,effort=fast)", "twochoice(bits_per_key=16)", "fuse", "rankindexed(fpr=0.01)",
	} {
		if _, err := b.row(trial{input, spec, 16, "512MiB", nil}, 1_000_000); err != nil {
			return err
		}
	}
	n := b.sizes[len(b.sizes)-1]
	if input, err = b.zipped(n, 20); err != nil {
		return err
	}
	for _, g := range grown {
		if _, err := b.row(trial{input, g.spec, 16, "512MiB", nil}, n); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

// server compares the programs, with a Prism job server in a separate process.
func (b *bench) server() error {
	port, err := freePort()
	if err != nil {
		return err
	}
	prism := exec.CommandContext(b.ctx, b.path("prism"), "-serve_http=false", fmt.Sprintf("-job_port=%d", port))
	if prism.Stderr, err = os.Create(b.path("prism.log")); err != nil {
		return err
	}
	if err := prism.Start(); err != nil {
		return err
	}
	defer func() {
		_ = prism.Process.Kill()
		_ = prism.Wait()
	}()
	endpoint := fmt.Sprintf("localhost:%d", port)
	if err := listens(endpoint); err != nil {
		return err
	}
	args := []string{"--runner", "universal", "--endpoint", endpoint}
	table("Growth: a separate Prism job server")
	if err := b.grow(args); err != nil {
		return err
	}
	const files, each = 5000, 200
	table("5,000 files of 200 keys, a separate Prism job server")
	input, err := b.small(files, each)
	if err != nil {
		return err
	}
	_, err = b.row(trial{input, grown[0].spec, 16, "512MiB", args}, files*each)
	fmt.Println()
	return err
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
