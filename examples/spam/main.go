// Command spam is a mail filter by sender: it delivers a mail if the address of its sender is in a set of valid
// addresses. The set is a filter of 8 bits per address: all valid mail passes, and about one spam mail in 46.
//
//	printf 'ada@example.org\nben@example.org\n' > /tmp/valid.txt
//	printf 'ada@example.org\tLunch?\neve@example.com\tPills!\n' | go -C examples run ./spam -valid /tmp/valid.txt
//
// It prints the mails that pass, and counts on stderr. A mail is a line that begins with an address and a tab. Without
// -valid the program makes up addresses and mails, and prints only the counts:
//
//	go -C examples run ./spam                                   # a million valid addresses: 1 MB, 2.2% of spam passes
//	go -C examples run ./spam -spec 'ribbon(r=8)'               # as many bytes, 0.4%, but no address can be added
//	go -C examples run ./spam -addresses 100_000_000            # 100 MB
//
// The numbers are from B. Saha's slides: 10^9 addresses of 20 bytes do not fit into 1 GB of memory, the filter does.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"strconv"

	"github.com/bloomery/bloomery"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "spam:", err)
		os.Exit(1)
	}
}

// run filters the mails of in and writes the mails that pass to out. It prints the counts to log.
func run(ctx context.Context, args []string, in io.Reader, out, log io.Writer) error {
	flags := flag.NewFlagSet("spam", flag.ContinueOnError)
	flags.SetOutput(log)
	valid := flags.String("valid", "", "`file` of valid addresses, one per line")
	addresses := flags.Uint64("addresses", 1_000_000, "number of valid addresses, and of spam mails, without -valid")
	spec := flags.String("spec", "standard(bits_per_key=8)", "`spec` of the filter")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *addresses == 0 {
		return errors.New("usage: spam [-valid FILE | -addresses N] [-spec SPEC] < MAILS")
	}

	if *valid == "" {
		set, err := bloomery.Build(ctx, madeUp("valid", *addresses), bloomery.Config{Spec: *spec, Keys: *addresses})
		if err != nil {
			return err
		}
		describe(log, set)
		if err := deliver(ctx, set, "valid", *addresses, log); err != nil {
			return err
		}
		return deliver(ctx, set, "spam", *addresses, log)
	}

	file, err := os.Open(*valid)
	if err != nil {
		return err
	}
	defer file.Close()
	set, err := bloomery.BuildFrom(ctx, bloomery.Lines(file), bloomery.Config{Spec: *spec})
	if err != nil {
		return err
	}
	describe(log, set)
	return filter(set, in, out, log)
}

// describe prints the size of the set and the rate that its fill predicts.
func describe(log io.Writer, set *bloomery.Set) {
	info := set.Info()
	fmt.Fprintf(log, "%d addresses in %d bytes, %.2f bits per address, %s; %.2f%% of the spam will pass\n", info.Keys,
		info.Bits/8, float64(info.Bits)/float64(info.Keys), info.Spec, 100*info.FPRPosterior)
}

// filter copies the lines of in whose address is in the set to out.
func filter(set *bloomery.Set, in io.Reader, out, log io.Writer) error {
	mails, passed := 0, 0
	w := bufio.NewWriter(out)
	for mail, err := range bloomery.Lines(in) {
		if err != nil {
			return err
		}
		address, _, _ := bytes.Cut(mail, []byte{'\t'})
		if mails++; set.Contains(address) {
			passed++
			fmt.Fprintf(w, "%s\n", mail)
		}
	}
	fmt.Fprintf(log, "%d of %d mails delivered\n", passed, mails)
	return w.Flush()
}

// madeUp yields n distinct addresses of about 20 bytes. Addresses of different kinds differ. Each is valid until the
// next one.
func madeUp(kind string, n uint64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var buf []byte
		for i := range n {
			buf = append(buf[:0], kind...)
			buf = strconv.AppendUint(buf, i, 10)
			if buf = append(buf, "@mail.example"...); !yield(buf) {
				return
			}
		}
	}
}

// deliver counts the made-up senders of a kind whose mail passes.
func deliver(ctx context.Context, set *bloomery.Set, kind string, n uint64, log io.Writer) error {
	passed, seen := uint64(0), uint64(0)
	for address := range madeUp(kind, n) {
		if seen++; seen%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if set.Contains(address) {
			passed++
		}
	}
	fmt.Fprintf(log, "%s: %d of %d mails delivered, %.3f%%\n", kind, passed, n, 100*float64(passed)/float64(n))
	return nil
}
