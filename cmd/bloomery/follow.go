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
		Short: "Keep a filter file equal to what bloomery publish publishes",
		Long: `URL is http://, https://, file:// or a folder. follow checks the signature with --key, downloads a delta
or the whole file, and compares the result with its SHA-256 before it replaces FILE. Redirects must stay on the host.
Proxies come from HTTP_PROXY, HTTPS_PROXY and NO_PROXY.

The release number never decreases: FILE.follow stores the largest that each key has signed. If a key was stolen, leave
it out of --key, and its numbers do not count.

After errors, the time between polls doubles, up to 10 intervals. A poll ends after a minute and the time for its bytes
at --min-rate; the next one resumes. A line is printed when FILE changes, with --json for every poll.

FILE.follow, FILE.follow.lock and FILE.part-* must belong to this user or root, and not be links; only the owner may
write the folder, or it has the sticky bit. --exec runs without a shell, with BLOOMERY_FILE, BLOOMERY_RELEASE and
BLOOMERY_SHA256 in its environment.`,
		Example: `  bloomery follow ./published -o list.bloom --once
  bloomery follow https://example.org/list -o list.bloom --key list.key.pub
  bloomery follow https://example.org/list -o list.bloom --key list.key.pub \
    --exec touch --exec-arg changed`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.keepCurrent(c.Context(), args[0], f) },
	}
	flags := c.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "`FILE`: file or folder to keep current")
	flags.StringArrayVar(&f.keys, "key", nil, "`KEY`: publisher's public key, or its file; repeatable")
	flags.BoolVar(&f.insecure, "insecure", false, "accept unsigned releases, without --key")
	flags.StringVar(&f.name, "name", "", "`NAME`: name of the releases (default from the first)")
	flags.DurationVar(&f.interval, "interval", publish.DefaultFollowInterval, "`TIME`: time between two polls")
	flags.BoolVar(&f.once, "once", false, "poll once")
	parseDefault(c, &f.maxBytes, "max-bytes", "1GiB", "`SIZE`: largest release", parseBytes)
	parseDefault(c, &f.minRate, "min-rate", "64KiB", "`SIZE`: least download per second", parseBytes)
	flags.BoolVar(&f.allowForeign, "allow-foreign", false, "accept files that other users may change")
	flags.StringVar(&f.exec, "exec", "", "`PROGRAM`: program to run after each new release")
	flags.StringArrayVar(&f.execArgs, "exec-arg", nil, "`ARGUMENT`: argument of --exec; repeatable")
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
		return errors.New("interrupted; the next call resumes an unfinished download")
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
