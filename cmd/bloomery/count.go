package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

func (a *app) countCommand() *cobra.Command {
	var in inputFlags
	c := &cobra.Command{
		Use:   "count FILE [INPUT...]",
		Short: "Print how often a filter holds each key",
		Long: `Print for each key of the inputs, or of standard input, how often it was added less how often it was removed, a tab and
the key, in their order, as soon as they come. Families rankindexed, dleft and counting; without --counting the first two tell how often a key was added
after the build, and once for that. A key may look like others: the number may be too large, at the rate of false positives,
and never is too small. Exit code 0 if a number was above 0, 1 if none was, 2 on an error.
With --json every key gets a line such as {"key":"yopmail.com","count":2}.`,
		Example: `  bloomery build -o seen.bloom --family rankindexed --counting log.txt
  bloomery count seen.bloom names.txt`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.tell(c.Context(), in, args, "counting", func(set *bloomery.Set) (teller, error) {
				counter, ok := set.Filter().(filter.Counter)
				if !ok {
					_, err := set.Count(nil) // says that the family cannot
					return nil, &advised{err, "Families rankindexed, dleft and counting count: build with --family rankindexed --counting."}
				}
				return func(to, key []byte, h filter.Hash) ([]byte, bool) {
					n, _ := counter.Count(h)
					if a.json {
						return appendJSON(to, struct {
							Key   string `json:"key"`
							Count uint64 `json:"count"`
						}{string(key), n}), n > 0
					}
					to = append(strconv.AppendUint(to, n, 10), '\t')
					return append(append(to, key...), '\n'), n > 0
				}, nil
			})
		},
	}
	in.register(c)
	return c
}

// teller appends the line about a key, if there is one, and reports whether the key is there.
type teller func(to, key []byte, h filter.Hash) ([]byte, bool)

// tell opens the filter file of the first argument and prints what it tells of each key of the others. It returns errNo if
// none is there.
func (a *app) tell(ctx context.Context, in inputFlags, args []string, what string, start func(*bloomery.Set) (teller, error)) error {
	secret, err := a.secret()
	if err != nil {
		return err
	}
	set, err := bloomery.Open(args[0], secret)
	if err != nil {
		return err
	}
	defer set.Close()
	line, err := start(set)
	if err != nil {
		return err
	}
	if isTerminal(a.stdout) {
		what = "" // the lines themselves show that it goes on
	}
	hasher := set.Hasher()
	var there atomic.Bool
	err = a.feed(ctx, in, args[1:], what, func(b *keyio.Batch) error {
		for _, k := range b.Keys {
			var is bool
			if b.Out, is = line(b.Out, k, hasher.Sum(k)); is {
				there.Store(true)
			}
		}
		return nil
	}, func(b *keyio.Batch) error {
		if len(b.Out) == 0 {
			return nil
		}
		_, err := a.stdout.Write(b.Out) // at once: somebody may wait for the answer to send the next key
		return err
	})
	if err == nil && !there.Load() {
		err = errNo
	}
	return err
}

// appendJSON appends a line of JSON of a value that always encodes.
func appendJSON(to []byte, v any) []byte {
	b := bytes.NewBuffer(to)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return b.Bytes()
}
