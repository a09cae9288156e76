package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/publish"
	"github.com/bloomery/bloomery/publish/transport"
)

type followFlags struct {
	output, name, exec           string
	maxBytes, minRate            uint64
	interval                     time.Duration
	once, insecure, allowForeign bool
	keys, execArgs               []string
}

func (a *app) followCommand() *cobra.Command {
	var f followFlags
	c := &cobra.Command{
		Use:   "follow URL -o FILE",
		Short: "Keep a filter file current with what bloomery publish publishes",
		Long: `Keep FILE current with what bloomery publish publishes at URL: http://, https://, file:// or a folder.
FILE is a filter file, an exact set, or the folder of a sharded set.

It asks for release.json, checks its signature with the keys of --key, and loads the delta from FILE to the new release,
or all of it where that is smaller. What it loads is compared with its SHA-256 before FILE is replaced, as a whole.
Errors leave FILE as it is. Interrupted downloads are resumed. Redirects must stay on the host. Proxies come from
HTTP_PROXY, HTTPS_PROXY and NO_PROXY.

The release number never goes back: FILE.follow holds, for each key, the largest number that it has signed, and the
keys of --key decide. If a key was stolen, leave it out and name the next one: what only the stolen key has signed does
not count any more.

It polls every --interval, a little earlier by a random part; after errors the time doubles, up to 10 intervals. It
prints a line when FILE has changed, with --json one for every poll. A poll ends after 1 minute and the time for its
bytes at --min-rate; the next one goes on with the download.

FILE.follow, FILE.follow.lock and FILE.part-* must belong to this user or root and be no links, and the folder must be
one that only its owner may write, or have the sticky bit. --allow-foreign accepts others. FILE may have any owner; if
it is a link, the others lie beside its target.

--exec runs a program after each new release, without a shell: its arguments come from --exec-arg, in order. It has
BLOOMERY_FILE, BLOOMERY_RELEASE and BLOOMERY_SHA256 in its environment, and writes to standard error.

Exit codes with --once: 0 if FILE is current, 1 if it is but the release has expired, 2 after an error. Without --once
it runs until it is interrupted.`,
		Example: `  bloomery follow ./published -o list.bloom --once
  bloomery follow https://example.org/list -o list.bloom --key list.key.pub
  bloomery follow https://example.org/list -o list.bloom --key list.key.pub --exec touch --exec-arg changed`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.keepCurrent(c.Context(), args[0], f) },
	}
	flags := c.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "`file` to keep current, or folder of a sharded set")
	flags.StringArrayVar(&f.keys, "key", nil,
		"public `key` of the publisher: ed25519:... or a file with it; more for the change of keys (may be repeated)")
	flags.BoolVar(&f.insecure, "insecure", false, "take releases unchecked, without --key")
	flags.StringVar(&f.name, "name", "", "refuse releases with another name (default: the name of the first release)")
	flags.DurationVar(&f.interval, "interval", publish.DefaultFollowInterval,
		"longest time between two polls, such as 30s or 1h")
	flags.BoolVar(&f.once, "once", false, "poll once")
	parseDefault(c, &f.maxBytes, "max-bytes", "1GiB", "refuse larger releases", parseBytes)
	parseDefault(c, &f.minRate, "min-rate", "64KiB", "end a poll that loads less than `SIZE` a second", parseBytes)
	flags.BoolVar(&f.allowForeign, "allow-foreign", false,
		"accept a folder and files beside FILE that other users may change")
	flags.StringVar(&f.exec, "exec", "", "`program` to run after each new release")
	flags.StringArrayVar(&f.execArgs, "exec-arg", nil, "`argument` of that program (may be repeated)")
	_ = c.MarkFlagRequired("output")
	c.MarkFlagsMutuallyExclusive("key", "insecure")
	return c
}

type following struct {
	a     *app
	flags followFlags
	ctx   context.Context
	bar   *later // bar of the current poll, or nil
	err   error  // error of the program of --exec
	// warned is true if the warning that this release has expired was printed: it is printed once per release.
	warned bool
}

func (a *app) keepCurrent(ctx context.Context, url string, f followFlags) error {
	if err := cli.NoStdout("-o", "FILE is read and replaced", f.output); err != nil {
		return err
	}

	w := &following{a: a, flags: f, ctx: ctx}
	options, err := w.options()
	if err != nil {
		return err
	}

	follower, err := publish.NewFollower(url, f.output, options...)
	if errors.Is(err, publish.ErrNoKey) {
		return cli.Advise(err, "Name the publisher's public key: --key FILE; or take releases unchecked: --insecure.")
	}
	if err != nil {
		return err
	}
	if !f.once {
		return ended(follower.Run(ctx))
	}

	event, err := follower.Poll(ctx)
	w.endBar()
	if event.Kind == "" {
		return ended(err)
	}

	w.print(event)
	if err != nil {
		w.print(publish.Event{Kind: publish.Expired, Err: err})
	}
	if w.err == nil && err != nil {
		return errNo
	}
	return w.err
}

// ended returns the error that ends the command. After an interrupt, the loaded part of a download is kept.
func ended(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; a download is resumed next time")
	}
	return err
}

func (w *following) options() (o []publish.FollowOption, err error) {
	f := w.flags
	secret, err := w.a.secret()
	if err != nil {
		return nil, err
	}
	if f.exec == "" && len(f.execArgs) > 0 {
		return nil, errors.New("--exec-arg needs --exec")
	}
	if f.exec != "" {
		if _, err := exec.LookPath(f.exec); err != nil {
			return nil, fmt.Errorf("--exec: %w", err)
		}
	}

	o = []publish.FollowOption{
		publish.WithInterval(f.interval), publish.WithName(f.name), publish.WithMaxBytes(f.maxBytes),
		publish.OnEvent(w.print), publish.OnProgress(w.progress),
		publish.WithTransport(transport.Config{
			UserAgent: "bloomery-follow", MinRate: int64(min(f.minRate, math.MaxInt64)),
		}),
		publish.WithSecret(secret),
	}
	if f.insecure {
		o = append(o, publish.WithInsecure())
	}
	if f.allowForeign {
		o = append(o, publish.WithForeign())
	}
	keys, err := publicKeys("--key", f.keys)
	return append(o, publish.WithKeys(keys...)), err
}

func (w *following) progress(loaded, expected int64) {
	if w.bar == nil {
		w.bar = w.a.later("loading")
	}
	w.bar.share(float64(loaded) / float64(max(expected, 1)))
}

func (w *following) endBar() {
	if w.bar != nil {
		w.bar.End()
		w.bar = nil
	}
}

// print prints an event, and runs the program of --exec after an update.
func (w *following) print(e publish.Event) {
	w.endBar()
	switch e.Kind {
	case publish.Updated:
		w.warned = false
		unused := ""
		if e.Unused != nil {
			unused = e.Unused.Error()
		}
		w.write(e, object{
			{"release,omitempty", e.Release.Number}, {"from,omitempty", e.From},
			{"sha256,omitempty", e.Release.SHA256.String()}, {"bytes,omitempty", e.Bytes}, // that were loaded
			{"delta", e.Delta}, {"delta_unused,omitempty", unused},
			{"keys,omitempty", e.Release.Keys}, {"fpr_posterior,omitempty", e.Release.FPRPosterior},
		})
		if w.flags.exec == "" {
			return
		}
		if w.err = w.run(e.Release); w.err != nil && !w.flags.once {
			w.write(publish.Event{Kind: execFailed, Err: w.err},
				object{{"release,omitempty", e.Release.Number}, {"error", w.err.Error()}})
		}
	case publish.Unchanged:
		w.write(e, object{{"release,omitempty", e.Release.Number}, {"bytes,omitempty", e.Bytes}})
	case publish.Expired:
		w.write(e, object{{"error", e.Err.Error()}})
	case publish.Failed:
		w.write(e, object{{"error", e.Err.Error()}, {"retry_seconds,omitempty", e.Retry.Seconds()}})
	}
}

// execFailed is an event of this command: the program of --exec has failed.
const execFailed publish.EventKind = "exec_failed"

// write prints an event: errors and warnings on standard error, or with --json every event on standard output.
func (w *following) write(e publish.Event, more object) {
	switch {
	case w.a.json:
		line := append(object{{"event", string(e.Kind)}, {"file", w.flags.output}}, more...)
		_, _ = w.a.stdout.Write(cli.AppendJSON(nil, line))
	case e.Kind == publish.Expired:
		if !w.warned {
			w.a.warn("%s", e)
		}
		w.warned = true
	case e.Kind == publish.Failed, e.Kind == execFailed:
		fmt.Fprintln(w.a.stderr, "bloomery:", e)
	case e.Kind == publish.Unchanged && !w.flags.once || w.a.quiet:
	default:
		fmt.Fprintf(w.a.stdout, "%s: %s\n", w.flags.output, e)
	}
}

func (w *following) run(r publish.Release) error {
	file, err := filepath.Abs(w.flags.output)
	if err != nil {
		return err
	}

	c := exec.CommandContext(w.ctx, w.flags.exec, w.flags.execArgs...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	c.Env = append(os.Environ(), "BLOOMERY_FILE="+file, fmt.Sprint("BLOOMERY_RELEASE=", r.Number),
		fmt.Sprint("BLOOMERY_SHA256=", r.SHA256))
	c.Stdout, c.Stderr = w.a.stderr, w.a.stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("--exec %s: %w; %s is release %d all the same",
			w.flags.exec, err, w.flags.output, r.Number)
	}
	return nil
}
