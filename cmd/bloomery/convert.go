package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
)

// ownFormat is the name of our own files among the formats.
const ownFormat interop.Format = "bloomery"

func (a *app) convertCommand() *cobra.Command {
	var from, to, output, redisKey string
	c := &cobra.Command{
		Use:   "convert [--from FORMAT] [--to FORMAT] FILE -o FILE",
		Short: "Read and write the filter files of other systems",
		Long: `Make a filter file of one that another system wrote, or the other way round, byte for byte. What was converted keeps the
hash function of its system and answers every key as it does there; check, verify, info, add and, but for redisbloom, merge work
on it as on any other.

  parquet          split-block filter of a Parquet column chunk: Thrift header and bitset
  guava            BloomFilter.writeTo of Guava, both strategies
  bits-and-blooms  WriteTo of github.com/bits-and-blooms/bloom/v3
  redisbloom       the data of all BF.SCANDUMPs of a key, one after the other
  bloomery         a file of ours

With --redis-key a redisbloom filter is written as the BF.LOADCHUNK commands that make it in a Redis, for redis-cli --pipe.
Without --from the format is recognised by content; without --to it is bloomery, and for files of ours that of the filter's system.
Only filters of the same bits and hash function can be written for another system. These are built with
  bloomery build --family guava | bitsandblooms | redisbloom
  bloomery build --family "blocked(layout=split)" --hash xxh64       for Parquet
RedisBloom alone stores how many keys there are; of others the number is estimated.`,
		Example: `  bloomery convert users.guava -o users.bloom
  bloomery check users.bloom candidates.txt
  bloomery build -o words.bloom --family "guava(fpr=0.001)" words.txt
  bloomery convert words.bloom -o words.guava
  bloomery convert --from parquet column.bin -o column.bloom
  bloomery convert seen.bloom --redis-key seen -o seen.resp && redis-cli --pipe < seen.resp`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("redis-key") && redisKey == "" { // an unset variable must not write another form
				return errors.New("--redis-key: name a key")
			}
			set, source, err := a.readAny(c.Context(), args[0], interop.Format(from))
			if err != nil {
				return err
			}
			target := interop.Format(to)
			if redisKey != "" {
				if target != "" && target != interop.RedisBloom {
					return fmt.Errorf("--redis-key is for --to %s", interop.RedisBloom)
				}
				target = interop.RedisBloom
			}
			if target == "" {
				target = ownFormat
				if own, ok := interop.FormatOf(set); ok && source == ownFormat {
					target = own
				} else if source == ownFormat {
					return fmt.Errorf("%s: %s with hash %s: %w", args[0], filter.SpecOf(set.Filter()), set.Hasher().ID(), errNoOther)
				}
			}
			if target == ownFormat {
				if err := mayReplace(output); err != nil {
					return err
				}
				err = set.Save(c.Context(), output)
			} else {
				if err := mayReplaceForeign(output); err != nil {
					return err
				}
				err = a.writeForeign(c.Context(), output, set, target, redisKey)
			}
			if err != nil {
				return err
			}
			return a.converted(output, set, source, target)
		},
	}
	c.Flags().StringVar(&from, "from", "", "format of the file to read")
	c.Flags().StringVar(&to, "to", "", "format of the file to write")
	c.Flags().StringVar(&redisKey, "redis-key", "", "write commands that load the filter under this key")
	c.Flags().StringVarP(&output, "output", "o", "", "file to write")
	var names []string
	for _, f := range append(interop.Formats(), ownFormat) {
		names = append(names, string(f))
	}
	for _, flag := range []string{"from", "to"} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	}
	return c
}

// errNoOther says that no other system has such filters.
var errNoOther = errors.New("no other system has filters like it")

// readAny reads a filter of that format, or of the one that it looks like if none is named.
func (a *app) readAny(ctx context.Context, path string, from interop.Format) (*bloomery.Set, interop.Format, error) {
	if from != "" && from != ownFormat && !slices.Contains(interop.Formats(), from) {
		_, err := interop.Read(nil, from, 0) // says which there are
		return nil, "", fmt.Errorf("--from: %w and %s", err, ownFormat)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	limit := uint64(math.MaxInt64)
	switch {
	case st.IsDir():
		return nil, "", fmt.Errorf("%s is a folder; name a file in it", path)
	case st.Mode().IsRegular():
		limit = uint64(st.Size())
	case from == "":
		return nil, "", fmt.Errorf("%s is not a regular file, whose format could be recognised; name it with --from", path)
	}
	if from == "" {
		if from, err = recognise(f, limit); err != nil {
			return nil, "", refusal(path, f, "", err)
		}
	}
	if from == ownFormat {
		set, err := a.load(path)
		return set, from, err
	}
	defer context.AfterFunc(ctx, func() { _ = f.Close() })() // a pipe may give nothing for ever
	in := &counted{r: f}
	set, err := interop.Read(in, from, limit)
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if err != nil {
		if errors.Is(err, filter.ErrTooLarge) && st.Mode().IsRegular() {
			err = &container.FormatError{Offset: limit, What: "end of the file, whose header tells of more", Err: io.ErrUnexpectedEOF}
		}
		return nil, "", refusal(path, f, from, err)
	}
	if n, _ := io.ReadFull(f, make([]byte, 1)); n > 0 {
		return nil, "", &advised{fmt.Errorf("%s: there are bytes behind the %s filter: %w", path, from, container.ErrCorrupt),
			fmt.Sprintf("If it is whole, give it alone, its first %d bytes: head -c %d", in.n, in.n)}
	}
	return set, from, nil
}

// counted counts the bytes that are read.
type counted struct {
	r io.Reader
	n uint64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += uint64(n)
	return n, err
}

// refusal says what to do about a file that is not read, of that format or of none that was recognised.
func refusal(path string, f io.ReaderAt, from interop.Format, err error) error {
	named := fmt.Errorf("%s: %w", path, err)
	var start [4]byte
	switch _, _ = f.ReadAt(start[:], 0); {
	case string(start[:]) == "PAR1" && (from == "" || from == interop.Parquet):
		return &advised{fmt.Errorf("%s is a whole Parquet file: %w", path, err),
			"Cut the filter of a column chunk out of it, bloom_filter_length bytes from bloom_filter_offset on, as its metadata has them:\n" +
				"  tail -c +$((OFFSET+1)) FILE | head -c LENGTH"}
	case errors.Is(err, interop.ErrForm):
		return &advised{named, "Filters of that form cannot be converted: let the other system make a new one of the keys, in today's form."}
	case from == "":
		return &advised{named, "If you know who wrote it, --from FORMAT tells what is wrong with it; bloomery convert --help says which there are."}
	}
	return named
}

// recognise returns the format of a file of that size.
func recognise(f *os.File, size uint64) (interop.Format, error) {
	if container.HasMagic(io.NewSectionReader(f, 0, int64(size))) {
		return ownFormat, nil
	}
	return interop.Detect(f, int64(size))
}

// mayReplaceForeign says why no filter of another system can be written to path: only files that are such filters or commands
// that load one, empty ones and filters of ours are replaced.
func mayReplaceForeign(path string) error {
	if f, err := os.Open(path); err == nil {
		defer f.Close()
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			if _, err := interop.Detect(f, st.Size()); err == nil || interop.HasCommands(f) {
				return mayCreate(path)
			}
		}
	}
	return mayReplace(path)
}

// writeForeign writes a file of another system; of RedisBloom commands instead, if a key is named.
func (a *app) writeForeign(ctx context.Context, path string, set *bloomery.Set, to interop.Format, redisKey string) error {
	if !slices.Contains(interop.Formats(), to) {
		return fmt.Errorf("--to: %w and %s", interop.Write(io.Discard, set, to), ownFormat)
	}
	return writeWhole(path, func(w io.Writer) error {
		w = &untilDone{ctx, w}
		if redisKey != "" {
			return interop.WriteCommands(w, set, redisKey)
		}
		return interop.Write(w, set, to)
	})
}

// untilDone fails to write once its context is done.
type untilDone struct {
	ctx context.Context
	w   io.Writer
}

func (u *untilDone) Write(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(b)
}

// converted says what was written.
func (a *app) converted(path string, set *bloomery.Set, from, to interop.Format) error {
	if a.quiet {
		return nil
	}
	i := set.Info()
	estimated := from != ownFormat && from != interop.RedisBloom
	if a.json {
		return a.printJSON(map[string]any{"from": from, "to": to, "spec": i.Spec, "hash": set.Hasher().ID().String(), "keys": i.Keys,
			"keys_estimated": estimated, "bits": i.Bits, "fill": i.Fill, "fpr_posterior": i.FPRPosterior})
	}
	about := ""
	if estimated {
		about = "about "
	}
	_, err := fmt.Fprintf(a.stderr, "%s: %s, hash %s, %s%d keys, false positive rate %.4g\n", path, i.Spec, set.Hasher().ID(), about, i.Keys, i.FPRPosterior)
	return err
}

// hashName reads the name of a hash function of another system.
func hashName(name string) (filter.HashID, error) {
	var names []string
	for id := filter.XXH64; id.Foreign(); id++ {
		if id.String() == name {
			return id, nil
		}
		names = append(names, id.String())
	}
	return 0, fmt.Errorf("--hash %q: there are %s", name, strings.Join(names, ", "))
}
