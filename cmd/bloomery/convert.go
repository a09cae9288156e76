package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/interop"
)

// ownFormat is the name of our own files among the formats.
const ownFormat interop.Format = "bloomery"

type convertFlags struct {
	from, to, output, redisKey string
}

func (a *app) convertCommand() *cobra.Command {
	var f convertFlags
	c := &cobra.Command{
		Use:   "convert [--from FORMAT] [--to FORMAT] FILE -o FILE",
		Short: "Read and write the filter files of other systems",
		Long: `Convert a filter file of another system to a filter file of ours, or the other way round, byte for
byte. A converted filter keeps the hash function of its system and answers every key as it does there. check, verify,
info and add work on it as on any other, and merge except for redisbloom.

  parquet          split-block filter of a Parquet column chunk: Thrift header and bitset
  guava            BloomFilter.writeTo of Guava, both strategies
  bits-and-blooms  WriteTo of github.com/bits-and-blooms/bloom/v3
  redisbloom       the data of all BF.SCANDUMPs of a key, one after the other
  bloomery         a file of ours

With --redis-key a redisbloom filter is written as the BF.LOADCHUNK commands that load it into a Redis, for redis-cli
--pipe. The key must be new: Redis refuses to load over a filter, but may overwrite parts of it, and keys are lost. To
replace a filter, load under another name and rename it only if all went well, as in the last example.

Without --from the format is recognised by content. Without --to it is bloomery, and for files of ours that of
the filter's system. Only filters with the bits and the hash function of another system can be written for it. Build
them with
  bloomery build --family guava | bitsandblooms | redisbloom
  bloomery build --family "blocked(layout=split)" --hash xxh64       for Parquet
Only RedisBloom stores the number of keys; for others it is estimated. FILE may be -, standard input.`,
		Example: `  bloomery convert users.guava -o users.bloom
  bloomery check users.bloom candidates.txt
  bloomery build -o words.bloom --family "guava(fpr=0.001)" words.txt
  bloomery convert words.bloom -o words.guava
  bloomery convert --from parquet column.bin -o column.bloom
  bloomery convert seen.bloom --redis-key seen.new -o seen.resp
  redis-cli --pipe < seen.resp && redis-cli RENAME seen.new seen`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("redis-key") && f.redisKey == "" { // an unset shell variable must not select another form
				return errors.New("--redis-key: name a key")
			}
			return a.convert(c.Context(), args[0], f)
		},
	}
	c.Flags().StringVar(&f.from, "from", "", "format of the file to read")
	c.Flags().StringVar(&f.to, "to", "", "format of the file to write")
	c.Flags().StringVar(&f.redisKey, "redis-key", "", "write commands that load the filter under this key, which must be new")
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
	set, source, err := a.readAny(ctx, path, interop.Format(f.from))
	if err != nil {
		return err
	}
	target, err := f.target(set, source)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	may, write := a.mayWriteForeign, a.writeForeign
	if target == ownFormat {
		may = func(path string) error { return a.mayWrite(path) }
		write = func(ctx context.Context, set *bloomery.Set, f convertFlags, _ interop.Format) error {
			return a.save(ctx, set, f.output)
		}
	}
	if err := may(f.output); err != nil {
		return err
	}
	if err := write(ctx, set, f, target); err != nil {
		return err
	}
	i, hash := set.Info(), set.Hasher().ID().String()
	about := map[bool]string{true: "about "}[source != ownFormat && source != interop.RedisBloom]
	return a.report(map[string]any{
		"from": source, "to": target, "spec": i.Spec, "hash": hash, "keys": i.Keys, "keys_estimated": about != "",
		"bits": i.Bits, "fill": i.Fill, "fpr_posterior": i.FPRPosterior,
	}, "%s: %s, hash %s, %s%d keys, false positive rate %.4g",
		pathName(f.output), i.Spec, hash, about, i.Keys, i.FPRPosterior)
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

// readAny reads a filter of that format. If format is empty, the content decides.
func (a *app) readAny(ctx context.Context, path string, from interop.Format) (*bloomery.Set, interop.Format, error) {
	if from != "" && from != ownFormat && !slices.Contains(interop.Formats(), from) {
		_, err := interop.Read(nil, from, 0) // the error lists the formats
		return nil, "", fmt.Errorf("--from: %w and %s", err, ownFormat)
	}
	if path == stdio {
		return a.readAnyStdin(from)
	}
	switch st, err := os.Stat(path); {
	case err != nil:
		return nil, "", err
	case st.IsDir():
		return nil, "", fmt.Errorf("%s is a folder, and no other system has sharded sets; name a file in it", path)
	case !st.Mode().IsRegular() && from == "":
		return nil, "", fmt.Errorf("%s is not a regular file, whose format could be recognised; name it with --from", path)
	case !st.Mode().IsRegular() && from == ownFormat:
		set, err := a.open(path) // the pipe is opened only once
		return set, from, err
	}
	f, err := untrusted.OpenStream(ctx, path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	limit := uint64(math.MaxInt64)
	if st.Mode().IsRegular() {
		limit = uint64(st.Size())
	}
	if from == "" {
		if from, err = recognise(f, limit); err != nil {
			return nil, "", refusal(path, f, "", err)
		}
	}
	if from == ownFormat {
		set, err := a.open(path, bloomery.InMemory())
		return set, from, err
	}
	defer context.AfterFunc(ctx, func() { _ = f.Close() })() // a Read of a pipe may block forever
	set, err := readForeign(path, f, from, limit, st.Mode().IsRegular())
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	return set, from, err
}

// stdinHead is the number of bytes of standard input that are read to recognise the format.
const stdinHead = 64 << 10

// readAnyStdin is readAny for standard input. It reads all of it first if it may be a filter of another system: these
// are recognised by their length, too.
func (a *app) readAnyStdin(from interop.Format) (*bloomery.Set, interop.Format, error) {
	const name = "standard input"
	if err := a.takeStdin(); err != nil {
		return nil, "", err
	}
	secret, err := a.secret()
	if err != nil {
		return nil, "", err
	}
	var own *bloomery.Set
	content, err := interruptible(a.ctx, func() ([]byte, error) {
		head, err := io.ReadAll(io.LimitReader(a.stdin, stdinHead))
		rest := io.MultiReader(bytes.NewReader(head), a.stdin)
		switch {
		case err != nil:
			return nil, err
		case from == ownFormat || from == "" && container.HasMagic(bytes.NewReader(head)):
			own, err = readWhole(rest, bloomery.WithSecret(secret))
			return nil, err
		}
		most := min(interop.MaxSize(head), math.MaxInt64-1) + 1 // a byte more is an error of the format
		return io.ReadAll(io.LimitReader(rest, int64(max(most, stdinHead))))
	})
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	if own != nil {
		return own, ownFormat, nil
	}
	in := bytes.NewReader(content)
	if from == "" {
		if from, err = recognise(in, uint64(len(content))); err != nil {
			return nil, "", refusal(name, in, "", err)
		}
	}
	set, err := readForeign(name, in, from, uint64(len(content)), true)
	return set, from, err
}

// readForeign reads a filter of another system that must end where f does. limit is the length of f if that is known,
// else its largest one.
func readForeign(
	name string, f interface {
		io.Reader
		io.ReaderAt
	}, from interop.Format, limit uint64, known bool,
) (*bloomery.Set, error) {
	in := &io.LimitedReader{R: f, N: math.MaxInt64} // counts
	set, err := interop.Read(in, from, limit)
	if err != nil {
		if errors.Is(err, filter.ErrTooLarge) && known {
			const what = "end of the file, whose header tells of more"
			err = container.Broken(limit, what, io.ErrUnexpectedEOF)
		}
		return nil, refusal(name, f, from, err)
	}
	if n, _ := io.ReadFull(f, make([]byte, 1)); n > 0 {
		return nil, cli.Advise(fmt.Errorf("%s: there are bytes behind the %s filter: %w", name, from, filter.ErrCorrupt),
			fmt.Sprintf("If it is whole, give it alone, its first %[1]d bytes: head -c %[1]d", math.MaxInt64-in.N))
	}
	return set, nil
}

// refusal adds a hint to the error about a file that cannot be read. from is empty if its format was not recognised.
func refusal(path string, f io.ReaderAt, from interop.Format, err error) error {
	named := fmt.Errorf("%s: %w", path, err)
	var start [container.FamilyHead]byte
	switch n, _ := f.ReadAt(start[:], 0); {
	case container.FamilyIn(start[:n]) == family.WindowID:
		return fmt.Errorf("%s: %w", path, family.ErrWindow)
	case string(start[:4]) == "PAR1" && (from == "" || from == interop.Parquet):
		return cli.Advise(fmt.Errorf("%s is a whole Parquet file: %w", path, err),
			`Cut the filter of a column chunk out of it: bloom_filter_length bytes from bloom_filter_offset on, as the
  metadata of the column says: tail -c +$((OFFSET+1)) FILE | head -c LENGTH`)
	case errors.Is(err, interop.ErrForm):
		return cli.Advise(named,
			"Filters of that form cannot be converted: let the other system make a new one from the keys.")
	case from == "":
		return cli.Advise(named,
			"If you know which system wrote it, --from FORMAT tells what is wrong with it; see convert --help.")
	}
	return named
}

// recognise returns the format of a file of that size.
func recognise(f io.ReaderAt, size uint64) (interop.Format, error) {
	if container.HasMagic(io.NewSectionReader(f, 0, int64(size))) {
		return ownFormat, nil
	}
	return interop.Detect(f, int64(size))
}

// mayWriteForeign returns an error if a filter of another system must not be written to path. Only empty files, our
// filters, filters of other systems, and commands that load one are replaced.
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
