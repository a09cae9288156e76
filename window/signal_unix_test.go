//go:build unix

package window_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/window"
)

// TestSaveAtSignal ends the loop of docs/guides/dedup.md by SIGTERM, and requires that the file then has all keys. The
// ticker of the loop does not come into it: only the signal saves.
func TestSaveAtSignal(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "seen.state")
	config := window.Config{Keys: 1000, TTL: time.Hour}
	seen, err := window.New[string](config)
	if err != nil {
		t.Fatal(err)
	}

	urls, printed := make(chan string), make(chan string, 3)
	loop := func() error {
		stop, cancel := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer cancel()
		for {
			select {
			case url := <-urls:
				again, err := seen.TestAndAdd(url)
				if err != nil {
					return err
				}
				if !again {
					printed <- url
				}
			case <-stop.Done():
				return seen.Save(ctx, path) // not with stop, which has ended
			}
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- loop() }()

	all := []string{"a.example", "b.example", "c.example"}
	for _, url := range slices.Concat(all, all) {
		urls <- url // the loop has asked for signals when it takes the first one
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}

	if len(printed) != len(all) {
		t.Errorf("%d URLs were printed, want %d", len(printed), len(all))
	}
	after, err := window.Open[string](ctx, path, config)
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range all {
		if again, err := after.TestAndAdd(url); !again || err != nil {
			t.Errorf("%s: %v, %v", url, again, err)
		}
	}
}
