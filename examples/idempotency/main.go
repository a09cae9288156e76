// Command idempotency is an example of package window: a receiver of webhooks that handles each delivery once, although
// senders repeat it until they get an answer of 2xx. A middleware remembers the keys of handled deliveries for a time,
// in fixed memory and across restarts.
//
//	go -C examples run ./idempotency -file /tmp/seen.window
//	curl -si localhost:8080/events -H 'Idempotency-Key: evt_1' -d paid       # 202
//	curl -si localhost:8080/events -H 'Idempotency-Key: evt_1' -d paid       # 200, Idempotent-Replayed: true
//	curl -si localhost:8080/events -H 'Idempotency-Key: evt_2' -d fail       # 500: the sender must try again
//	curl -s localhost:8080/-/seen                                            # counts of the middleware
//
// The file is written every -save, and at the end. If the process is killed, deliveries since the last save are handled
// again when the sender repeats them. once.go lists the other cases that a handler must tolerate.
package main

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/window"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "idempotency:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done, and then saves the remembered keys. It prints the address, and each event, to w.
func run(ctx context.Context, args []string, w io.Writer) error {
	flags := flag.NewFlagSet("idempotency", flag.ContinueOnError)
	flags.SetOutput(w)
	file := flags.String("file", "seen.window", "`file` with the keys that are remembered")
	listen := flags.String("listen", "localhost:8080", "`address` to listen on")
	keys := flags.Uint64("keys", 100_000, "number of `requests` with different keys that come within -ttl, at most")
	ttl := flags.Duration("ttl", 72*time.Hour, "time for which senders repeat requests")
	every := flags.Duration("save", 30*time.Second, "time between two writes of the file")
	patience := flags.Duration("patience", 10*time.Second, "longest time to wait for another request with the same key")
	secret := flags.String("secret", "", "`file` with the secret of the hash, 32 hex digits: without it, senders can find keys "+
		"that look alike")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *every <= 0 {
		return errors.New("usage: idempotency [-file FILE] [-keys N] [-ttl TIME] [-save TIME] [-listen ADDRESS]")
	}
	// At a rate of 1e-9, one of 1,000 million deliveries is lost. A key takes 42 bits, against 14 bits at a rate of 1%.
	c := window.Config{Keys: *keys, TTL: *ttl, FPR: 1e-9}
	if *secret != "" {
		var err error
		if c.Secret, err = readSecret(*secret); err != nil {
			return err
		}
	}
	seen, err := openSeen(ctx, *file, c)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	logger := log.New(w, "", log.LstdFlags)
	logger.Printf("listening on http://%s, %d keys remembered", l.Addr(), seen.Len())
	server := &http.Server{Handler: site(seen, *patience, logger), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	for tick := time.NewTicker(*every); ; {
		select {
		case <-tick.C:
			if err := seen.Save(ctx, *file); err != nil && ctx.Err() == nil {
				logger.Print("not saved: ", err) // the next time may succeed
			}
		case err := <-ended:
			return errors.Join(err, seen.Save(context.Background(), *file))
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			err := server.Shutdown(last) // waits for requests, whose keys are to be saved
			return errors.Join(err, seen.Save(context.Background(), *file))
		}
	}
}

// openSeen returns the filter in a file, or a new one if there is no such file.
func openSeen(ctx context.Context, path string, c window.Config) (*window.Filter[string], error) {
	seen, err := window.Open[string](ctx, path, c)
	if errors.Is(err, fs.ErrNotExist) {
		return window.New[string](c)
	}
	return seen, err
}

// readSecret reads a secret of 32 hex digits.
func readSecret(path string) (*filter.Secret, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(b) != filter.SecretSize {
		return nil, fmt.Errorf("%s: want 32 hex digits; make them with: openssl rand -hex 16", path)
	}
	s := filter.Secret(b)
	return &s, nil
}

// maxEvent is the largest length of an event in bytes.
const maxEvent = 64 << 10

// site returns the handler of all pages.
func site(seen *window.Filter[string], patience time.Duration, logger *log.Logger) http.Handler {
	events := newOnce(seen, headerKey, patience, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
		case string(event) == "fail":
			http.Error(w, "the event could not be handled; come again", http.StatusInternalServerError)
		default:
			logger.Printf("event %.40q", event)
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	mux := http.NewServeMux()
	mux.Handle("POST /events", events)
	mux.HandleFunc("GET /-/seen", events.status)
	return mux
}
