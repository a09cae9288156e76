package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/publish"
)

// keygenReport is the report of keygen.
type keygenReport struct {
	Public string `json:"public"`
	ID     string `json:"id"`
	File   string `json:"file"`
}

func (a *app) keygenCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "keygen -o KEY",
		Short: "Make a key that signs releases",
		Long: `Make an Ed25519 key that signs releases. The private key goes to the file KEY, readable by its owner
only, for bloomery publish --sign KEY. The public key goes to KEY.pub and is printed: readers pin it, as bloomery
follow --key does. No file is replaced.`,
		Example: "  bloomery keygen -o release.key",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			public, err := publish.CreateKey(output)
			if errors.Is(err, fs.ErrExist) {
				return cli.Advise(err, "A key is never replaced. Name another file with -o.")
			}
			if err != nil {
				return err
			}
			if !a.quiet && !a.json {
				fmt.Fprintf(a.stderr, "%s: private key %s; keep it secret, and keep a copy\n", output, public.ID())
			}
			return a.answer(keygenReport{public.String(), public.ID(), output}, "%v\n", public)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "file to write the private key to")
	_ = c.MarkFlagRequired("output")
	return c
}
