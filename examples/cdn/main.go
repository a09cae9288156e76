// Command cdn is a disk cache in front of a web server that stores an object at its second request; see doorkeeper.
//
//	python3 -m http.server -d docs 8000                                 # or any other server
//	go -C examples run ./cdn -origin http://localhost:8000 -dir /tmp/cdn
//	curl -si localhost:8080/format.md | grep X-Cache                    # the third time it prints X-Cache: hit
//	curl -s localhost:8080/-/doorkeeper                                 # counts of the doorkeeper
//
// To stay small, it never revalidates an object, does not store answers that vary by request header, and stores answers
// uncompressed.
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
)

// falseAdmissions bounds the share of objects that are stored at their first request.
const falseAdmissions = 0.01

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cdn:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done. It prints the address to log.
func run(ctx context.Context, args []string, log io.Writer) error {
	flags := flag.NewFlagSet("cdn", flag.ContinueOnError)
	flags.SetOutput(log)
	origin := flags.String("origin", "", "`URL` of the server that is cached")
	dir := flags.String("dir", "", "`directory` of the cache")
	listen := flags.String("listen", "localhost:8080", "`address` to listen on")
	limit := flags.Int64("limit", 1<<30, "size limit of the cache in `bytes`")
	fresh := flags.Duration("fresh", time.Hour, "longest time to serve an object from the cache")
	keys := flags.Uint64("keys", 1_000_000, "number of `objects` in a generation of the doorkeeper")
	if err := flags.Parse(args); err != nil {
		return err
	}
	from, err := url.Parse(*origin)
	if err != nil || from.Scheme != "http" && from.Scheme != "https" || from.Host == "" || *dir == "" || flags.NArg() > 0 {
		return errors.New("usage: cdn -origin URL -dir DIRECTORY; the URL is absolute, such as https://go.dev")
	}
	door, err := newDoorkeeper(*keys, falseAdmissions)
	if err != nil {
		return err
	}
	c, err := newCache(*dir, *limit, *fresh, from, door)
	if err != nil {
		return err
	}
	handler := func(w http.ResponseWriter, r *http.Request) { // a ServeMux would redirect paths with //
		if r.URL.Path == "/-/doorkeeper" {
			_ = json.NewEncoder(w).Encode(door.counts())
			return
		}
		c.ServeHTTP(w, r)
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "serving at http://%s; the doorkeeper uses %.1f MB\n", l.Addr(), float64(door.bytes())/1e6)
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
	return server.Shutdown(last) // the next run removes files that are unfinished then
}
