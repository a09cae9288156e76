package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

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
// without a key is passed on. A blocklist has false positives: the answer says what to do about one.
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

// status reports what the list is now, for monitoring.
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
