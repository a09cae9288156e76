// Command signup is an example of package publish: a web server that rejects registrations from disposable mail
// addresses. A middleware queries a blocklist that follows a publisher and stays current without a restart.
//
//	go run ./cmd/bloomery build -o list.bloom --fpr 0.1% --family standard cmd/bloomery/domains/disposable.txt.gz
//	go run ./cmd/bloomery publish /tmp/list list.bloom --name disposable
//	go -C examples run ./signup -list /tmp/list -file /tmp/disposable.bloom
//	curl -si localhost:8080/signup -d email=eve@mailinator.com              # 422
//	curl -si localhost:8080/signup -d email=ada@example.org                 # 202
//	curl -s localhost:8080/-/blocklist                                      # its keys, its rate, updates so far
//
// After each change of the list, with readers that load a delta:
//
//	go run ./cmd/bloomery build --like list.bloom -o list.bloom cmd/bloomery/domains/disposable.txt.gz
//	go run ./cmd/bloomery publish /tmp/list list.bloom
//
// A real site loads the list from another machine and checks its signature:
// -list https://lists.example.org/disposable -key ed25519:... .
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/publish"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "signup:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done. It prints the address, and each release, to w.
func run(ctx context.Context, args []string, w io.Writer) error {
	flags := flag.NewFlagSet("signup", flag.ContinueOnError)
	flags.SetOutput(w)
	list := flags.String("list", "", "`URL` or folder of the publisher")
	file := flags.String("file", "disposable.bloom", "`file` that is kept current")
	listen := flags.String("listen", "localhost:8080", "`address` to listen on")
	interval := flags.Duration("interval", time.Minute, "time between two looks at the publisher")
	insecure := flags.Bool("insecure", false, "take releases without a signature from another machine")
	var keys []publish.PublicKey
	flags.Func("key", "public `key` of the publisher; may be given several times", func(text string) error {
		key, err := publish.ParsePublicKey(text)
		keys = append(keys, key)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *list == "" || flags.NArg() > 0 {
		return errors.New("usage: signup -list URL [-key KEY] [-file FILE] [-listen ADDRESS]")
	}
	logger := log.New(w, "", log.LstdFlags)
	options := []publish.FollowOption{
		publish.WithKeys(keys...),
		publish.WithInterval(*interval),
		publish.OnEvent(func(e publish.Event) {
			if e.Kind != publish.Unchanged {
				logger.Print(e)
			}
		}),
	}
	if *insecure {
		options = append(options, publish.WithInsecure())
	}
	live, err := publish.Follow(ctx, *list, *file, options...)
	if err != nil {
		return err
	}
	defer live.Close()

	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: site(live), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	logger.Printf("listening on http://%s", l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// maxForm is the largest length of a form in bytes.
const maxForm = 64 << 10

// site returns the handler of all pages.
func site(list *bloomery.Live) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /signup", blocking(list, emailDomain, http.HandlerFunc(signUp)))
	mux.Handle("GET /-/blocklist", status(list))
	return mux
}

// blocking is a middleware: it answers 422 to requests whose key is in the list, and passes on all others. A request
// without a key is passed on. A blocklist has false positives, so the answer tells the user what to do.
func blocking(list *bloomery.Live, key func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if k := key(r); k != "" && list.ContainsString(k) {
			const text = "%s is on our list of disposable mail domains. If that is wrong, write to support.\n"
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprintf(w, text, k)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// emailDomain returns the domain of the form value email in lower case, or "" if there is none.
func emailDomain(r *http.Request) string {
	_, domain, _ := strings.Cut(r.FormValue("email"), "@")
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(domain)), ".")
}

// signUp answers registrations that the middleware passed on.
func signUp(w http.ResponseWriter, r *http.Request) {
	if emailDomain(r) == "" {
		http.Error(w, "email needs an address, such as ada@example.org", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintln(w, "Welcome. We have sent you a mail.")
}

// status reports the present list, for monitoring.
func status(list *bloomery.Live) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var info filter.Info
		list.View(func(s *bloomery.Set) { info = s.Info() })
		s := map[string]any{"keys": info.Keys, "false_positive_rate": info.FPRPosterior, "updates": list.Swaps()}
		if err := list.Err(); err != nil {
			s["error"] = err.Error()
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s)
	})
}
