package main

import "github.com/spf13/cobra"

// shrinkFlags are the flags of commands that replace a good file by one made from a list.
type shrinkFlags struct {
	most string
}

// register adds the flag. normal says what may be lost without it.
func (f *shrinkFlags) register(c *cobra.Command, normal string) {
	c.Flags().StringVar(&f.most, "shrink", "",
		"allow a list that has lost keys: all, or with `--shrink=P%` that many of them (default: "+normal+")")
	c.Flags().Lookup("shrink").NoOptDefVal = "100%"
}

// read returns the fraction of the keys that may be lost, 0 if the flag is not given.
func (f *shrinkFlags) read(c *cobra.Command) (float64, error) {
	if !c.Flags().Changed("shrink") {
		return 0, nil
	}
	if f.most == "100%" {
		return 1, nil
	}
	return parseRate("--shrink", f.most)
}

const adviceShrink = `Nothing was written. Is the list complete? If it is, allow the loss: --shrink, or --shrink=P% for at most
  that part of the keys.`
