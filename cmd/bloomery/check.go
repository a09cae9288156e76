package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/keyio"
)

func (a *app) checkCommand() *cobra.Command {
	var (
		in            inputFlags
		invert, count bool
	)
	c := &cobra.Command{
		Use:   "check FILE [INPUT...]",
		Short: "Print the keys that a filter holds, as grep does",
		Long: `Print those keys of the inputs, or of standard input, that the filter holds, in their order, one a line, as soon as they
come. Exit code 0 if a key was printed (or counted), 1 if none was, 2 on an error.
With --json every key gets a line such as {"key":"yopmail.com","present":true}, and the exit code stays as without;
bytes that are no UTF-8 become U+FFFD.`,
		Example: `  bloomery check blocked.bloom visitors.txt
  echo yopmail.com | bloomery check -c disposable.bloom
  bloomery check -v known.bloom all.txt.zst > new.txt`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			secret, err := a.secret()
			if err != nil {
				return err
			}
			set, err := bloomery.Open(args[0], secret)
			if err != nil {
				return err
			}
			defer set.Close()
			what := "checking"
			if !count && isTerminal(a.stdout) {
				what = "" // the keys themselves show that it goes on
			}
			input, p, err := a.follow(in, args[1:], what)
			if err != nil {
				return err
			}
			var selected atomic.Int64
			err = input.Process(c.Context(), 0, func(_ int, b *keyio.Batch) error {
				n := 0
				hits := make([]bool, len(b.Keys))
				set.ContainsMany(hits, b.Keys)
				for i, hit := range hits {
					if hit != invert {
						n++
					}
					switch {
					case count:
					case a.json:
						b.Out = appendAnswer(b.Out, b.Keys[i], hit)
					case hit != invert:
						b.Out = append(append(b.Out, b.Keys[i]...), '\n')
					}
				}
				selected.Add(int64(n))
				p.keys.Add(int64(len(b.Keys)))
				return nil
			}, func(b *keyio.Batch) error {
				if len(b.Out) == 0 {
					return nil
				}
				_, err := a.stdout.Write(b.Out) // at once: somebody may wait for the answer to send the next key
				return err
			})
			p.end()
			if err == nil && count {
				if a.json {
					err = a.printJSON(map[string]int64{"count": selected.Load()})
				} else {
					_, err = fmt.Fprintln(a.stdout, selected.Load())
				}
			}
			if err == nil && selected.Load() == 0 {
				err = errNo
			}
			return err
		},
	}
	in.register(c)
	c.Flags().BoolVarP(&invert, "invert-match", "v", false, "print the keys that the filter does not hold")
	c.Flags().BoolVarP(&count, "count", "c", false, "print the number of keys instead")
	return c
}

// appendAnswer appends a line of JSON.
func appendAnswer(to, key []byte, present bool) []byte {
	b := bytes.NewBuffer(to)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(struct { // a string and a bool always encode
		Key     string `json:"key"`
		Present bool   `json:"present"`
	}{string(key), present})
	return b.Bytes()
}
