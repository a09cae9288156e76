package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/keyio"
)

func (a *app) exactCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "exact",
		Short: "Sets without errors, such as the revoked among issued certificates",
		Long: `An exact set answers without error for the keys of a universe known at the build, such as all issued
certificates. It takes 12.1, 8.6 or 5.14 bits per member if 0.1%, 1% or 10% of the universe are members. For
other keys the answer means nothing.`,
		Example: `  bloomery exact build -o revoked.exact \
    --members revoked.txt --universe issued.txt
  bloomery exact check revoked.exact serials.txt
  bloomery exact verify revoked.exact \
    --members revoked.txt --universe issued.txt`,
	}
	c.AddCommand(a.exactBuildCommand(), a.exactCheckCommand(), a.exactVerifyCommand(), a.exactInfoCommand(),
		a.exactUpdateCommand())
	return c
}

func (f *inputFlags) partitionFlag(c *cobra.Command) {
	f.secondFlag = "partition-column"
	c.Flags().StringVar(&f.second, "partition-column", "", "`NAME`: column of the partition, or its number")
}

// exactFlags are the flags of exact build, update and verify.
type exactFlags struct {
	in                inputFlags
	members, universe []string
	memory            int64 // in bytes
	tempDir           string
	output            string  // for build and update
	base              string  // for update: the file to update
	shrink            float64 // for update: the share of the keys that may be lost, 0 for the default
}

// register adds the flags that all three commands have.
func (f *exactFlags) register(c *cobra.Command) {
	f.in.register(c)
	f.in.partitionFlag(c)
	c.Flags().StringArrayVar(&f.members, "members", nil, "`LIST`: the members; repeatable")
	c.Flags().StringArrayVar(&f.universe, "universe", nil, "`LIST`: all keys, with the members; repeatable")
	_ = c.MarkFlagRequired("members")
	_ = c.MarkFlagRequired("universe")
	f.memory = 2 << 30
	memoryFlags(c, &f.memory, &f.tempDir, "2GiB")
}

// check returns an error if standard input is needed twice, or a file cannot be read.
func (f *exactFlags) check() error {
	stdin := 0
	for _, path := range slices.Concat(f.members, f.universe) {
		if path == stdio {
			stdin++
		} else if _, err := keyio.Open([]string{path}, keyio.Options{}); err != nil {
			return err
		}
	}
	if stdin > 1 {
		return errors.New("--members - and --universe -: standard input can be read only once; name a file")
	}
	return nil
}

// readLists passes the keys of both lists to functions. partitions is empty if the flags name no column for them.
func (a *app) readLists(
	ctx context.Context, f *exactFlags, verb string, members, universe func(keys [][]byte, partitions ...[]byte) error,
) error {
	list := func(name string, paths []string, add func(keys [][]byte, partitions ...[]byte) error) error {
		return a.pass(ctx, f.in, paths, verb+name, func(b *keyio.Batch) error {
			return add(b.Keys, b.Second...)
		}, nil)
	}
	if err := list("members", f.members, members); err != nil {
		return err
	}
	return list("universe", f.universe, universe)
}

// openExact opens an exact set, or reads a pipe or for "-" standard input. A pipe may have at most
// exact.DefaultMaxBytes.
func (a *app) openExact(path string) (*exact.Set, error) {
	secret, err := a.secret()
	if err != nil {
		return nil, err
	}

	set, err := openOrRead(a, path, func() (*exact.Set, error) {
		return exact.Open(context.Background(), path, exact.WithSecret(secret))
	}, func(r io.Reader) (*exact.Set, error) {
		most := uint64(exact.DefaultMaxBytes)
		if f, ok := r.(*os.File); ok {
			if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
				most = max(most, uint64(st.Size()))
			}
		}
		return exact.Read(r, exact.WithMaxBytes(most), exact.WithSecret(secret))
	})
	return set, notExact(err)
}

// notExact adds a hint to the error of a file that is neither an exact set nor a filter.
func notExact(err error) error {
	if errors.Is(err, filter.ErrMagic) && !errors.Is(err, exact.ErrFilter) && !errors.Is(err, container.ErrWindow) {
		return cli.Advise(err, "Give a file that bloomery exact build wrote; lists of keys come after it.")
	}
	return err
}

// warnNoUniverse warns if a set was built without any key: probably a list is missing.
func (a *app) warnNoUniverse(universe uint64) {
	if universe == 0 {
		a.warn("there was no key in the universe; the set holds nothing")
	}
}

func (a *app) mayWriteExact(path string) error {
	if path == stdio {
		return a.mayWriteStdout()
	}
	return mayReplaceIf(path, "exact set", container.HasExactMagic)
}

// fitsPartitions returns an error if the flags give partitions and the set has none, or vice versa.
func (f *inputFlags) fitsPartitions(set *exact.Set, path string) error {
	switch partitioned := set.Info().Partitions > 0; {
	case partitioned && len(f.keys) > 0:
		return cli.Advise(fmt.Errorf("%s has partitions, and -e gives keys without a partition", path), fmt.Sprintf(
			"echo KEY,PARTITION | bloomery exact check %s --input-format csv --partition-column 2", path))
	case partitioned && f.second == "":
		return fmt.Errorf("%s has partitions: give their column, --input-format csv --partition-column NAME", path)
	case !partitioned && f.second != "":
		return fmt.Errorf("%s has no partitions; leave out --partition-column %s", path, f.second)
	}
	return nil
}
