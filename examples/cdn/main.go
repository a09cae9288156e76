// Command cdn is a cache on disk in front of a web server that stores an object at its second request, for package admission to
// be seen at work:
//
//	python3 -m http.server -d docs 8000                                          or any other server
//	go run ./examples/cdn -origin http://localhost:8000 -dir /tmp/cdn
//	curl -si localhost:8080/format.md | grep X-Cache                             prints X-Cache: hit the third time
//	curl -s localhost:8080/-/doorkeeper                                          what the doorkeeper counted
//
// It is an example, small enough to be read: it never asks whether an object has changed, what varies by header is not stored,
// and what is stored is not compressed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"time"

	"github.com/bloomery/bloomery/admission"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cdn:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done. It prints to log where.
func run(ctx context.Context, args []string, log io.Writer) error {
	flags := flag.NewFlagSet("cdn", flag.ContinueOnError)
	flags.SetOutput(log)
	origin := flags.String("origin", "", "`URL` of the server to ask for what is not in the cache")
	dir := flags.String("dir", "", "`folder` of the cache")
	listen := flags.String("listen", "localhost:8080", "`address` to serve at")
	limit := flags.Int64("limit", 1<<30, "`bytes` of the cache")
	fresh := flags.Duration("fresh", time.Hour, "how long an object is served from the cache, unless it says less")
	keys := flags.Uint64("keys", 1_000_000, "`objects` that a generation of the doorkeeper remembers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	from, err := url.Parse(*origin)
	if err != nil || from.Scheme != "http" && from.Scheme != "https" || from.Host == "" || *dir == "" || flags.NArg() > 0 {
		return errors.New("give -origin, such as https://go.dev, and -dir, and nothing else")
	}
	door, err := admission.New(admission.Config{Keys: *keys})
	if err != nil {
		return err
	}
	c, err := newCache(*dir, *limit, *fresh, from, door)
	if err != nil {
		return err
	}
	handler := func(w http.ResponseWriter, r *http.Request) { // a ServeMux would redirect what has // in it
		if r.URL.Path == "/-/doorkeeper" {
			_ = json.NewEncoder(w).Encode(door.Stats())
			return
		}
		c.ServeHTTP(w, r)
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "serving at http://%s, the doorkeeper takes %.1f MB\n", l.Addr(), float64(door.Bytes())/1e6)
	server := &http.Server{Handler: http.HandlerFunc(handler), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return server.Shutdown(last) // what is not done by then leaves an unfinished file, which the next run removes
}
