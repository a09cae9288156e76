package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) checkCommand() *cobra.Command {
	var invert, count bool
	c := &cobra.Command{
		Use:   "check URL [INPUT...]",
		Short: "Print the keys that a set holds, as grep does",
		Long: `Print those lines of the inputs, or of standard input, that the set holds, in their order. Exit code 0 if
a key was printed (or counted), 1 if none was, 2 on an error. Shards are fetched when a key needs them, and kept in
memory or with --cache-dir in a folder; the next run uses that folder again. With --blocks only the block of each key is
read, without a checksum: for few keys in a large set, in families blocked and blockpartitioned.

With --json every key gets a line such as {"key":"yopmail.com","present":true}.`,
		Example: `  bloomery-bucket check --cache-dir /var/cache/spam 's3://filters/spam?region=eu-west-1' senders.txt
  echo yopmail.com | bloomery-bucket check --blocks gs://filters/spam`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if a.options.CacheDir == stdio {
				return errors.New("--cache-dir -: shards need a folder; name one, ./- for one called -")
			}
			in, err := a.inputs(args[1:])
			if err != nil {
				return err
			}
			if !count {
				if err := in.notOutput(a.stdout); err != nil {
					return err
				}
			}
			set, err := a.openSet(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer set.Close()
			out := bufio.NewWriter(a.stdout)
			n := int64(0)
			err = in.eachBatch(c.Context(), func(keys [][]byte) error {
				present := make([]bool, len(keys))
				if err := set.ContainsManyContext(c.Context(), present, keys); err != nil {
					return err
				}
				for i, key := range keys {
					if present[i] != invert {
						n++
					}
					switch {
					case count:
					case a.json:
						line, err := json.Marshal(struct {
							Key     string `json:"key"`
							Present bool   `json:"present"`
						}{string(key), present[i]})
						if err != nil {
							return err
						}
						_, _ = out.Write(append(line, '\n')) // Flush returns its error
					case present[i] != invert:
						_, _ = out.Write(append(key, '\n'))
					}
				}
				return out.Flush()
			})
			if err != nil {
				return err
			}
			if count {
				if err := a.report(map[string]int64{"count": n}, "%d", n); err != nil {
					return err
				}
			}
			if n == 0 {
				return errNo
			}
			return nil
		},
	}
	f := c.Flags()
	f.BoolVarP(&invert, "invert-match", "v", false, "print the keys that the set does not hold")
	f.BoolVarP(&count, "count", "c", false, "print the number of keys instead")
	f.StringVar(&a.options.CacheDir, "cache-dir", "", "folder for fetched shards")
	f.StringVar(&a.cache, "cache", "1GiB", "size of the cache of shards, in memory or in --cache-dir")
	f.BoolVar(&a.options.Blocks, "blocks", false, "read single blocks instead of shards")
	c.MarkFlagsMutuallyExclusive("blocks", "cache-dir")
	return c
}

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info URL",
		Short: "Describe a set by its manifest",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.openSet(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer set.Close()
			m, i := set.Manifest(), set.Info()
			return a.report(map[string]any{
				"spec": i.Spec.String(), "shard_count": len(m.Shards), "keys": i.Keys, "bytes": m.Bytes(),
				"hash": m.Hash.String(), "plan": m.ID(), "fpr_prior": i.FPRPrior, "fpr_posterior": i.FPRPosterior,
				"fpr_planned": i.FPRPlanned,
			}, "spec      %s\nshards    %d\nkeys      %d\nbytes     %d\nhash      %s\nplan      %s\n"+
				"fpr prior %.4g, posterior %.4g",
				i.Spec, len(m.Shards), i.Keys, m.Bytes(), m.Hash, m.ID(), i.FPRPrior, i.FPRPosterior)
		},
	}
}

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify URL",
		Short: "Read all shards and compare them with the manifest",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.openSet(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer set.Close()
			m := set.Manifest()
			p := a.progress("verifying", int64(m.Bytes()))
			err = set.Verify(c.Context(), p.setDone)
			p.finish()
			if err != nil {
				return err
			}
			return a.report(map[string]any{"shard_count": len(m.Shards), "bytes": m.Bytes(), "ok": true},
				"%d shards, %d bytes: as in the manifest", len(m.Shards), m.Bytes())
		},
	}
}

func (a *app) fetchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fetch URL DIR",
		Short: "Copy a set into a folder, for the bloomery command",
		Long: `Copy a set into a folder, for the bloomery command. All shards are compared with the manifest, which is
written last. Shards that are already there are kept, so an interrupted copy can be repeated.`,
		Example: `  bloomery-bucket fetch 's3://filters/spam?region=eu-west-1' spam.set && bloomery info spam.set`,
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.openSet(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer set.Close()
			m := set.Manifest()
			p := a.progress("fetching", int64(m.Bytes()))
			err = set.Download(c.Context(), args[1], p.setDone)
			p.finish()
			if err != nil {
				return fmt.Errorf("%w; run it again to go on", err)
			}
			return a.report(map[string]any{"shard_count": len(m.Shards), "bytes": m.Bytes(), "dir": args[1]},
				"%s: %d shards, %d bytes", args[1], len(m.Shards), m.Bytes())
		},
	}
}
