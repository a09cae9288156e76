package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/publish"
)

func (a *app) keygenCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "keygen -o KEY",
		Short: "Make a key that signs releases",
		Long: `publish --sign KEY uses the private key, follow --key the public key, which is printed and written to
KEY.pub. No file is replaced.`,
		Example: `  bloomery keygen -o release.key`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := cli.NoStdout("-o", "a private key is a secret", output); err != nil {
				return err
			}
			public, err := publish.CreateKey(context.Background(), output)
			if errors.Is(err, fs.ErrExist) {
				return cli.Advise(err, "A key is never replaced. Name another file with -o.")
			}
			if err != nil {
				return err
			}
			if !a.quiet && !a.json {
				fmt.Fprintf(a.stderr, "wrote the private key (id %s) to %s; keep it secret, and keep a copy\n", public.ID(), output)
			}
			return a.answer(object{{"public", public.String()}, {"id", public.ID()}, {"file", output}}, "%v\n", public)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "`KEY`: file to write")
	_ = c.MarkFlagRequired("output")
	return c
}

type publishFlags struct {
	publish.Options
	state             string
	sign, key, rotate []string
	check             bool
}

func (a *app) publishCommand() *cobra.Command {
	var f publishFlags
	c := &cobra.Command{
		Use:   "publish DIR FILE",
		Short: "Publish a filter for readers that follow it",
		Long: `DIR is a folder for a web server or bucket: release.json, replaced last, and files in DIR/objects, named
by their SHA-256. A new FILE gets the next number; an unchanged one is signed again when half of --expires is over, with
--renew, or when other keys sign.

DIR keeps deltas from --keep versions, and from one at least 7 and one at least 30 days old. The output reports how far
the rate has drifted, and when to build anew.

Without --sign, readers need bloomery follow --insecure. With it, KEY.state remembers the largest number of each list,
so that none is used twice. The first signature above unsigned or foreign releases needs --name and --number. To change
keys, give readers the new public key first, then sign once with --rotate OLD.pub.

--check reads all files of DIR, and applies each delta.`,
		Example: `  bloomery publish site/blocklist blocked.bloom
  bloomery publish site/signed blocked.bloom --sign release.key --expires 3d
  bloomery publish site/signed --check --key release.key.pub`,
		Args: func(c *cobra.Command, args []string) error {
			if f.check {
				return cobra.ExactArgs(1)(c, args)
			}
			return cobra.ExactArgs(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.check {
				return a.checkPublished(c.Context(), args[0], f)
			}
			if len(f.key) > 0 {
				return errors.New("--key is for --check; --sign names the private key")
			}
			return a.publish(c.Context(), args[0], args[1], f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.Name, "name", "", "`NAME`: name of the filter (default unchanged, or DIR)")
	flags.Uint64Var(&f.Number, "number", 0, "`NUMBER`: number of the release (default the next)")
	flags.StringArrayVar(&f.sign, "sign", nil, "`KEY`: private key file of keygen; repeatable")
	flags.StringArrayVar(&f.rotate, "rotate", nil,
		"`KEY`: old public key, for a change of keys; repeatable")
	flags.StringVar(&f.state, "state", "", "`FILE`: remembered numbers (default KEY.state)")
	flags.IntVar(&f.Keep, "keep", publish.DefaultKeep, "`N`: older versions to keep, each with a delta")
	parseDefault(c, &f.Lifetime, "expires", "7d", "`TIME`: time until the release expires, such as 36h",
		parseSpan)
	flags.BoolVar(&f.Renew, "renew", false, "sign the current release again")
	flags.BoolVar(&f.Trim, "trim", false, "publish the trimmed form; see trim")
	shrinkFlag(c, &f.Shrink, "50%")
	flags.BoolVar(&f.Unsigned, "unsigned", false, "allow an unsigned release after a signed one")
	flags.BoolVar(&f.check, "check", false, "only check DIR")
	flags.StringArrayVar(&f.key, "key", nil, "`KEY`: public key that --check requires; repeatable")
	for _, other := range []string{"sign", "renew", "trim", "unsigned", "name", "keep", "expires", "number",
		"rotate", "state", "shrink"} {
		c.MarkFlagsMutuallyExclusive("check", other)
	}
	for _, other := range []string{"sign", "rotate", "state"} {
		c.MarkFlagsMutuallyExclusive("unsigned", other)
	}
	return c
}

func (f *publishFlags) options(a *app) (o publish.Options, err error) {
	o = f.Options
	if o.Keep < 0 {
		return o, fmt.Errorf("--keep %d: want 0 or more", o.Keep)
	}
	if o.Keep == 0 {
		o.Keep = -1
	}
	if len(f.sign) == 0 && (len(f.rotate) > 0 || f.state != "") {
		return o, errors.New("--rotate and --state need --sign")
	}
	if o.Rotate, err = publicKeys("--rotate", f.rotate); err != nil {
		return o, err
	}
	if f.state != "" {
		o.State = []string{f.state}
	}

	for _, path := range f.sign {
		k, err := publish.ReadPrivateKey(context.Background(), path)
		if err != nil {
			return o, fmt.Errorf("--sign: %w", err)
		}
		if st, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
			a.warn("others may read the private key %[1]s; run chmod 600 %[1]s", path)
		}
		o.Sign = append(o.Sign, k)
		if f.state == "" {
			real, err := container.Resolve(path) // two paths of the same key have one state
			if err != nil {
				return o, fmt.Errorf("--sign: %w; or name its state with --state", err)
			}
			o.State = append(o.State, real+publish.StateSuffix)
		}
	}
	return o, nil
}

func publicKeys(flag string, texts []string) (keys []publish.PublicKey, err error) {
	for _, text := range texts {
		k, err := publicKey(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// publicKey returns the public key of a text, "ed25519:" and base64, or of the file with that text that it names.
func publicKey(textOrPath string) (publish.PublicKey, error) {
	if strings.HasPrefix(textOrPath, "ed25519:") || strings.HasPrefix(textOrPath, "ed25519-private:") {
		return publish.ParsePublicKey(textOrPath) // its error says if it is a private key
	}
	return publish.ReadPublicKey(context.Background(), textOrPath)
}

func (a *app) publish(ctx context.Context, dir, file string, f publishFlags) error {
	if err := cli.NoStdout("DIR", "a release is in a folder", dir); err != nil {
		return err
	}
	if err := cli.NoStdout("--state", "a state is read and replaced", f.state); err != nil {
		return err
	}

	o, err := f.options(a)
	if err != nil {
		return err
	}

	o.Waiting = func() { a.note("waiting for another process that publishes in %s", dir) }
	p := a.later("deltas")
	defer p.End()
	o.Progress = p.count
	r, err := publish.Publish(ctx, dir, file, o)
	if err != nil {
		return advisePublish(err)
	}

	for _, w := range r.Warnings {
		a.warn("%v", w)
	}
	return a.printPublished(r, o)
}

const adviceStated = "--name NAME --number N, with N above all numbers that readers have seen"

// advisePublish adds a hint to an error of publish.Publish.
func advisePublish(err error) error {
	is := func(target error) bool { return errors.Is(err, target) }
	untrusted := is(publish.ErrUntrusted)
	switch {
	case is(publish.ErrVersion):
		return err // it names the only remedy
	case untrusted && is(publish.ErrUnsigned):
		return cli.Advise(err, "A first signature takes nothing from an unsigned folder. State both: "+adviceStated+".")
	case untrusted && is(publish.ErrOtherKey):
		return cli.Advise(err, "If you have replaced your key: --rotate OLD.pub. If somebody else has signed it, "+
			"take nothing\n  from it: "+adviceStated+".")
	case untrusted:
		return cli.Advise(err, "Restore release.json from a copy, or take nothing from it: "+adviceStated+".")
	case is(publish.ErrLost):
		return cli.Advise(err, `Restore release.json, or KEY.state beside the key. Without them, state both:
  `+adviceStated+". If nothing was ever published in the folder: --number 1.")
	case is(publish.ErrUnsigned):
		return cli.Advise(err, "Sign the new one too: --sign KEY; or publish it as it is: --unsigned.")
	case is(publish.ErrKeyState):
		return cli.Advise(err, "Nothing was published. --state FILE keeps the state in another place.")
	}
	return err
}

func (a *app) checkPublished(ctx context.Context, dir string, f publishFlags) error {
	pinned, err := publicKeys("--key", f.key)
	if err != nil {
		return err
	}
	p := a.later("checking")
	defer p.End()
	r, err := publish.Check(ctx, dir, pinned, p.count)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return a.printChecked(r, time.Now())
}
