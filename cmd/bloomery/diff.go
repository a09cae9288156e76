package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/patch"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/untrusted"
)

func (a *app) diffCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "diff OLD NEW -o DELTA",
		Short: "Write the difference of two versions of a filter",
		Long: `A delta is a small file from which patch makes NEW out of OLD. OLD and NEW are filters,
exact sets or sharded sets. See bloomery help updates.`,
		Example: `  bloomery build -o monday.bloom --spec rankindexed --capacity 140k monday.txt
  bloomery build -o tuesday.bloom --like monday.bloom tuesday.txt
  bloomery diff monday.bloom tuesday.bloom -o tuesday.delta
  bloomery patch monday.bloom tuesday.delta -o copy.bloom`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := noStdio(args...); err != nil {
				return err
			}
			if err := cli.NoStdout("-o", "a delta is a file", output); err != nil {
				return err
			}
			if err := mayReplaceIf(output, "delta", isDelta); err != nil {
				return err
			}
			return a.diff(c.Context(), args[0], args[1], output)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "`FILE`: file to write")
	return c
}

func (a *app) patchCommand() *cobra.Command {
	var output string
	var o delta.Options
	c := &cobra.Command{
		Use:   "patch OLD DELTA -o NEW",
		Short: "Make the new version of a filter from the old one and a delta",
		Long:  `NEW is compared with the SHA-256 in the delta. It may be OLD.`,
		Example: `  bloomery patch monday.bloom tuesday.delta -o tuesday.bloom
  bloomery patch blocked.bloom today.delta -o blocked.bloom`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := noStdio(args...); err != nil {
				return err
			}
			if err := cli.NoStdout("-o", "NEW is compared with the delta", output); err != nil {
				return err
			}
			if err := a.mayWrite(output, args[0]); err != nil {
				return err
			}
			return a.patch(c.Context(), args[0], args[1], output, o)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "`FILE`: file or folder to write")
	parse(c, &o.MaxBytes, "max-bytes", "`SIZE`: largest NEW (default 1GiB)", parseBytes)
	return c
}

// noStdio returns an error if a path is "-".
func noStdio(paths ...string) error {
	if slices.Contains(paths, stdio) {
		return errors.New("-: a delta and its files cannot be standard input; name files")
	}
	return nil
}

// isDelta reports whether a file begins like a delta.
func isDelta(f io.Reader) bool {
	head := make([]byte, deltaHead)
	n, _ := io.ReadFull(f, head)
	_, err := delta.Read(head[:n])
	return err == nil
}

// deltaHead is the number of bytes that distinguish a delta from other files.
const deltaHead = 64

func (a *app) diff(ctx context.Context, old, new, output string) error {
	d, err := delta.DiffFiles(ctx, old, new)
	if err != nil {
		return err
	}

	before, err := lengthOf(old)
	if err != nil {
		return err
	}

	err = container.WriteAtomic(ctx, output, func(w io.Writer) error {
		_, err := w.Write(d)
		return err
	})
	if err != nil {
		return err
	}
	return a.printDelta(output, d, before, new)
}

func (a *app) patch(ctx context.Context, old, path, output string, o delta.Options) error {
	d, err := readDelta(ctx, path, o)
	if err != nil {
		return err
	}

	before, err := lengthOf(old) // now, since OLD may be replaced
	if err != nil {
		return err
	}
	if err := delta.PatchFile(ctx, old, d, output, o); err != nil {
		return err
	}
	return a.printDelta(output, d, before, output)
}

// readDelta reads a delta. It reads the rest of the file only if it begins like a delta.
func readDelta(ctx context.Context, path string, o delta.Options) ([]byte, error) {
	most := cmp.Or(o.MaxBytes, patch.DefaultMaxBytes)
	limit := untrusted.Limit{
		MaxBytes: most + most/8 + 1<<20, // a delta: at most the new file and some bytes per section or shard
		Head:     24,
		Check:    func(head []byte) error { _, err := delta.Read(head); return err },
		Streams:  true,
	}
	return untrusted.ReadFile(ctx, path, limit)
}

// printDelta prints the report about the written file path: a delta, or the result of a patch.
func (a *app) printDelta(path string, d []byte, before uint64, new string) error {
	info, err := delta.Read(d)
	if err != nil {
		return err
	}

	after, err := lengthOf(new)
	if err != nil {
		return err
	}

	n := uint64(len(d))
	ratio := float64(n) / float64(after)
	return a.report(object{
		{"method", info.Method.String()}, {"bytes", n}, // of the delta
		{"bytes_old", before}, {"bytes_new", after}, // of the file, or of the manifest and all shards
		{"ratio", ratio},
	}, "%s: %s by a delta of %s, %.3g%% (before %s), method %s",
		path, bytesText(after), bytesText(n), 100*ratio, bytesText(before), info.Method)
}

// lengthOf returns the length of a file, or of the manifest and the shards of a set.
func lengthOf(path string) (uint64, error) {
	if dir, ok := shardset.Dir(path); ok {
		m, st, err := shardset.ReadFolder(dir)
		if err != nil {
			return 0, err
		}
		return uint64(st.Size()) + m.Bytes(), nil
	}
	return fileSize(path)
}
