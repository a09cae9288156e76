// Command bloomery-bucket queries, describes, verifies and fetches sharded sets in S3, Google Cloud Storage and
// folders. Package buckets does the work.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/buckets"
	_ "github.com/bloomery/bloomery/buckets/all"
	"github.com/bloomery/bloomery/filter"
)

// Exit codes, as in grep and bloomery.
const (
	exitOK    = 0
	exitNo    = 1 // check: no key was printed
	exitError = 2
)

var errNo = errors.New("no key")

// signalled is the cause of a context that a signal ended.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return "interrupted: " + s.String() }

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals) // a second signal ends the process at once
		cancel(signalled{s})
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// app is the state that the subcommands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	json, quiet    bool
	secretFile     string
	cache          string
	options        buckets.Options
}

// run is the whole program. It returns the exit code: after a signal the code of the shell, 130 or 143.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:   "bloomery-bucket",
		Short: "Query sharded sets in S3, Google Cloud Storage and folders",
		Long: `Query sharded sets in S3, Google Cloud Storage and folders. URL is one of

  s3://bucket/prefix?region=eu-west-1   credentials as for the AWS command line; also endpoint=, profile=,
                                        use_path_style=true, anonymous=true
  gs://bucket/prefix                    application default credentials
  file:///folder, or a path`,
		Version:       version(),
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "print JSON")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print no progress")
	flags.StringVar(&a.secretFile, "secret-file", "", "file with the secret that the set was built with, as 32 hex digits")
	root.AddCommand(a.checkCommand(), a.infoCommand(), a.verifyCommand(), a.fetchCommand())
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	code := exitError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNo):
		return exitNo
	case ctx.Err() != nil:
		err = errors.New("interrupted")
		var end signalled
		if errors.As(context.Cause(ctx), &end) {
			code = 128 + int(end.Signal.(syscall.Signal))
		}
	}

	if a.json {
		_ = json.NewEncoder(stderr).Encode(struct {
			Error string `json:"error"`
		}{err.Error()})
	} else {
		fmt.Fprintln(stderr, "bloomery-bucket:", err)
	}
	return code
}

// version returns the version of this program. In a build without one, go.mod has the version of Bloomery beside it.
func version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := b.Main.Version
	if v == "" || v == "(devel)" {
		for _, d := range b.Deps {
			if d.Path == "github.com/bloomery/bloomery" {
				v = d.Version
			}
		}
	}
	return strings.TrimPrefix(v, "v")
}

// openSet opens the set at an address.
func (a *app) openSet(ctx context.Context, address string) (*buckets.Set, error) {
	o := a.options
	var err error
	if a.secretFile != "" {
		if o.Secret, err = readSecret(ctx, a.secretFile); err != nil {
			return nil, err
		}
	}
	if a.cache != "" {
		if o.CacheBytes, err = parseBytes(a.cache); err != nil {
			return nil, fmt.Errorf("--cache: %w", err)
		}
	} else if a.options.CacheBytes == 0 {
		o.CacheBytes = 1 << 62 // for commands that use no cache
	}
	return buckets.Open(ctx, address, o)
}

// maxSecret is the largest file with a secret in bytes.
const maxSecret = 4096

// readSecret reads a secret from a file or pipe. It waits for the writer of a pipe until ctx ends.
func readSecret(ctx context.Context, path string) (*filter.Secret, error) {
	type content struct {
		text []byte
		err  error
	}

	read := make(chan content, 1)
	go func() { // Open waits for the writer of a pipe
		f, err := os.Open(path)
		if err != nil {
			read <- content{nil, err}
			return
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
		if err == nil && len(text) > maxSecret {
			err = fmt.Errorf("%s: more than %d bytes: %w", path, maxSecret, filter.ErrTooLarge)
		}
		read <- content{text, err}
	}()
	var text []byte
	select {
	case c := <-read:
		if c.err != nil {
			return nil, fmt.Errorf("--secret-file: %w", c.err)
		}
		text = c.text
	case <-ctx.Done():
		return nil, fmt.Errorf("--secret-file: %w", context.Cause(ctx))
	}

	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(b) != filter.SecretSize {
		return nil, fmt.Errorf("--secret-file %s: it does not hold a secret of %d hex digits", path, 2*filter.SecretSize)
	}
	return (*filter.Secret)(b), nil
}

// parseBytes reads a number of bytes, such as 1048576, 64MiB or 10GB.
func parseBytes(text string) (int64, error) {
	digits := strings.TrimRight(text, "KMGTiB")
	units := map[string]float64{
		"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "kB": 1e3, "KB": 1e3, "MB": 1e6,
		"GB": 1e9, "TB": 1e12,
	}
	unit, ok := units[text[len(digits):]]
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !ok || !(n*unit >= 1 && n*unit < 1<<62) {
		return 0, fmt.Errorf("%q is no size; write it as 64MiB or 10GB", text)
	}
	return int64(n * unit), nil
}

// report prints v as JSON, or text.
func (a *app) report(v any, text string, args ...any) error {
	if a.json {
		return json.NewEncoder(a.stdout).Encode(v)
	}
	_, err := fmt.Fprintf(a.stdout, text+"\n", args...)
	return err
}

// progress is a line on the terminal that shows the progress of work on a known number of bytes. It appears after two
// seconds.
type progress struct {
	done atomic.Int64
	stop func()
}

func (p *progress) setDone(bytes int64) {
	for { // calls may come in any order
		if was := p.done.Load(); was >= bytes || p.done.CompareAndSwap(was, bytes) {
			return
		}
	}
}

func (p *progress) finish() { p.stop() }

func (a *app) progress(what string, all int64) *progress {
	p := &progress{stop: func() {}}
	f, ok := a.stderr.(*os.File)
	if !ok || a.quiet {
		return p
	}
	if st, err := f.Stat(); err != nil || st.Mode()&os.ModeCharDevice == 0 {
		return p
	}

	begin, stop := time.Now(), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		shown := false
		defer func() {
			if shown {
				fmt.Fprint(f, "\r\033[K")
			}
		}()
		for {
			select {
			case <-stop:
				return
			case <-time.After(500 * time.Millisecond):
			}
			spent, n := time.Since(begin), p.done.Load()
			if spent < 2*time.Second || n == 0 {
				continue
			}
			shown = true
			left := time.Duration(float64(spent) / float64(n) * float64(all-n)).Round(time.Second)
			fmt.Fprintf(f, "\r\033[K%s: %.1f%%, %.1f MB/s, %v left", what, 100*float64(n)/float64(all),
				float64(n)/1e6/spent.Seconds(), left)
		}
	})
	p.stop = sync.OnceFunc(func() { close(stop); wg.Wait() })
	return p
}
