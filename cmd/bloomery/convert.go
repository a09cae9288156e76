package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/interop"
)

// ownFormat is the name of the Bloomery format among the formats.
const ownFormat interop.Format = "bloomery"

type convertFlags struct {
	from, to, output, redisKey string
	column                     columnFlags
}

func (a *app) convertCommand() *cobra.Command {
	var f convertFlags
	c := &cobra.Command{
		Use:   "convert [--from FORMAT] [--to FORMAT] [--column NAME] FILE -o FILE",
		Short: "Read and write the filter files of other systems",
		Long: `A converted filter gives the answers of its system. All commands read it.

  parquet          header and bitset of a split-block filter; with --column
                   the Parquet file
  guava            BloomFilter.writeTo of Guava (Java)
  spark            BloomFilter.writeTo of Apache Spark, versions 1 and 2
  dcso             filter of the program bloom of DCSO, CIRCL's hashlookup;
                   gzip data, too
  bits-and-blooms  WriteTo of github.com/bits-and-blooms/bloom/v3
  redisbloom       the data of all BF.SCANDUMPs of a key, concatenated
  xorfilter8 16 32 Save of github.com/FastFilter/xorfilter (Go)
  fastfilter8 16   binary_fuse8_serialize of FastFilter (C)
  xorf8 16 32      BinaryFuse8 of the Rust crate xorf, in bincode
  bloomery         our own files

Without --from the content decides, without --to the system of the filter. Build filters for another system with one of:

  --spec guava, bitsandblooms, dcso, redisbloom, spark
  --spec "blocked(layout=split)" --hash xxh64     for Parquet
  --spec "fuse(width=8)" --hash uint64            for FastFilter and xorf,
                                                  from keys of 8 bytes

Loading a --redis-key that exists loses keys: load under a new name, and rename it.`,
		Example: `  bloomery convert users.guava -o users.bloom
  bloomery build -o w.bloom --spec guava words.txt
  bloomery convert w.bloom -o words.guava
  bloomery convert keys.parquet --column name --row-group 0 -o column.bloom
  bloomery convert seen.bloom --redis-key seen.new -o seen.resp
  redis-cli --pipe < seen.resp && redis-cli RENAME seen.new seen`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.column.grouped = c.Flags().Changed("row-group")
			return a.convert(c.Context(), args[0], f)
		},
	}
	c.Flags().StringVar(&f.from, "from", "", "`FORMAT`: format to read")
	c.Flags().StringVar(&f.to, "to", "", "`FORMAT`: format to write")
	const redisHelp = "`KEY`: write BF.LOADCHUNK commands for this new key"
	c.Flags().StringVar(&f.redisKey, "redis-key", "", redisHelp)
	c.Flags().StringVar(&f.column.name, "column", "", "`NAME`: column of a Parquet file, nested names with dots")
	c.Flags().IntVar(&f.column.group, "row-group", 0, "`NUMBER`: row group of --column, from 0")
	parse(c, &f.column.form, "key-type", "`TYPE`: type of the keys, such as int32 for Guava's integerFunnel",
		func(flag, text string) (*filter.KeyForm, error) {
			form, err := filter.ParseKeyForm(text)
			return &form, err
		})
	outputFlag(c, &f.output)
	var names []string
	for _, format := range append(interop.Formats(), ownFormat) {
		names = append(names, string(format))
	}
	complete(c, "from", names...)
	complete(c, "to", names...)
	return c
}

func (a *app) convert(ctx context.Context, path string, f convertFlags) error {
	if err := a.stdoutFree(path); err != nil {
		return err
	}

	set, source, err := a.readAny(ctx, path, interop.Format(f.from), f.column)
	if err != nil {
		return err
	}
	if source == ownFormat && f.column.form != nil {
		return fmt.Errorf("%s: --key-type is for filters of other systems", path)
	}

	target, err := f.target(set, source)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := a.writeConverted(ctx, set, f, target); err != nil {
		return err
	}

	i, hash := set.Info(), set.Hasher().ID().String()
	counts := []interop.Format{ownFormat, interop.RedisBloom, interop.DCSO, interop.FastFilter8, interop.FastFilter16}
	about := "about "
	if slices.Contains(counts, source) {
		about = ""
	}
	return a.report(map[string]any{
		"from": source, "to": target, "spec": i.Spec, "hash": hash, "keys": i.Keys, "keys_estimated": about != "",
		"bits": i.Bits, "fill": i.Fill, "fpr_posterior": i.FPRPosterior,
	}, "%s: %s, hash %s, %s%d keys, false-positive rate %s",
		pathName(f.output), i.Spec, hash, about, i.Keys, stat.Percent(i.FPRPosterior))
}

// writeConverted writes a filter in the target format, after checking that it can be written there.
func (a *app) writeConverted(ctx context.Context, set *bloomery.Set, f convertFlags, target interop.Format) error {
	if target != ownFormat {
		if err := a.mayWriteForeign(f.output); err != nil {
			return err
		}
		return a.writeForeign(ctx, set, f, target)
	}
	if err := a.mayWrite(f.output); err != nil {
		return err
	}
	return a.save(ctx, set, f.output)
}

// target returns the output format for a set that was read in the source format.
func (f convertFlags) target(set *bloomery.Set, source interop.Format) (interop.Format, error) {
	to := interop.Format(f.to)
	switch {
	case f.redisKey != "" && to != "" && to != interop.RedisBloom:
		return "", fmt.Errorf("--redis-key is for --to %s", interop.RedisBloom)
	case f.redisKey != "":
		return interop.RedisBloom, nil
	case to != "":
		return to, nil
	case source != ownFormat:
		return ownFormat, nil
	}
	if own, ok := interop.FormatOf(set); ok {
		return own, nil
	}
	return "", fmt.Errorf("%s with hash %s: %w", set.Spec(), set.Hasher().ID(), errNoOther)
}

var errNoOther = errors.New("no other system has filters like it")

// mayWriteForeign returns an error if a filter of another system must not be written to path. Only empty files,
// Bloomery filters, filters of other systems, and outputs of WriteCommands are replaced.
func (a *app) mayWriteForeign(path string) error {
	if path == stdio {
		return a.mayWrite(path)
	}
	if f, st, err := untrusted.Open(path); err == nil {
		defer f.Close()
		if _, err := interop.Detect(f, st.Size()); err == nil || interop.HasCommands(f) {
			return container.MayWrite(path)
		}
	}
	return mayReplace(path)
}

// writeForeign writes a filter of another system to a file, or for "-" to standard output. For RedisBloom, if a key is
// given, it writes the commands that load it.
func (a *app) writeForeign(
	ctx context.Context, set *bloomery.Set, f convertFlags, to interop.Format,
) error {
	if !slices.Contains(interop.Formats(), to) {
		return fmt.Errorf("--to: %w and %s", interop.Write(io.Discard, set, to), ownFormat)
	}

	write := func(w io.Writer) (err error) {
		if f.redisKey != "" {
			err = interop.WriteCommands(w, set, f.redisKey)
		} else {
			err = interop.Write(w, set, to)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", pathName(f.output), err)
		}
		return err
	}
	if f.output == stdio {
		return write(a.stdout)
	}
	return container.WriteAtomic(ctx, f.output, write)
}
