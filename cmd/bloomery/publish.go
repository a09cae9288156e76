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
		Long: `Make an Ed25519 key that signs releases. The private key goes to the file KEY, readable by its owner
only, for bloomery publish --sign KEY. The public key goes to KEY.pub and is printed: readers pin it, as bloomery
follow --key does. No file is replaced.`,
		Example: "  bloomery keygen -o release.key",
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
				fmt.Fprintf(a.stderr, "%s: private key %s; keep it secret, and keep a copy\n", output, public.ID())
			}
			return a.answer(object{{"public", public.String()}, {"id", public.ID()}, {"file", output}}, "%v\n", public)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "file to write the private key to")
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
		Long: `Publish a filter file, an exact set, or the folder of a sharded set, in the folder DIR, which any web
server or bucket can serve. Readers follow it with bloomery follow, and load small deltas. DIR has one release at a
time: release.json, and files in DIR/objects that are named by their SHA-256.

Each new FILE gets a higher number, also one with old content. The same content changes nothing; it is signed anew when
less than half of --expires is left, with --renew, or when other keys sign. release.json is replaced last, by rename: a
reader sees the old release or the new one. Files that neither of the two names are removed.

--keep older versions stay in DIR, each with a delta to the new one, and one that is at least 7 days old and one of at
least 30 days. Deltas are small if the filter keeps its size, seed and search, as with bloomery build --like, and for
exact sets that grow by bloomery exact update. Those of ribbon and fuse are as large as the filter. publish prints how
far the false-positive rate has drifted, and when a fresh build is due.

Without --sign the release is not signed, and readers must allow that. With it, release.json in DIR counts only if a key
of --sign has signed it, or one of --rotate. KEY.state, beside each KEY or the target of its link, remembers the name
and the highest number of each list that was signed, so that a number is never used twice. The first signature in a
folder with unsigned releases needs --name and --number, and so does one above a release.json of somebody else. With a
new key, give readers its public key first, then name the old one once: --rotate OLD.pub.

A list that has lost more than half of its keys is refused, see --shrink. With --check nothing is published: all files
of DIR are read and checked, and each delta is applied. Exit code 1 if the release has expired, 2 if a file is wrong.`,
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
	flags.StringVar(&f.Name, "name", "", "name of the filter (default: the name in the current release, or of DIR)")
	flags.Uint64Var(&f.Number, "number", 0, "number of the release, if DIR was lost (default: the next one)")
	flags.StringArrayVar(&f.sign, "sign", nil, "`file` with a private key of bloomery keygen (may be repeated)")
	flags.StringArrayVar(&f.rotate, "rotate", nil,
		"public `key`, or a file with it, that signed the current release and is replaced (may be repeated)")
	flags.StringVar(&f.state, "state", "", "`file` that remembers what was signed (default: KEY.state beside each KEY)")
	flags.IntVar(&f.Keep, "keep", publish.DefaultKeep, "number of older versions to keep, with a delta from each")
	parseDefault(c, &f.Lifetime, "expires", "7d", "time until readers warn that the release is old, such as 36h or 7d",
		parseSpan)
	flags.BoolVar(&f.Renew, "renew", false, "sign the current release anew, with a new expiry")
	flags.BoolVar(&f.Trim, "trim", false, "publish the trimmed form, see bloomery trim")
	shrinkFlag(c, &f.Shrink, "50%")
	flags.BoolVar(&f.Unsigned, "unsigned", false, "allow an unsigned release after a signed one")
	flags.BoolVar(&f.check, "check", false, "publish nothing, check DIR")
	flags.StringArrayVar(&f.key, "key", nil, "public `key`, or a file with it, that must have signed, for --check")
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
