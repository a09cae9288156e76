package window_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/window"
)

// A queue delivers messages at least once. A message that is repeated within a day is handled only once. The filter
// needs 2.2 MB for a million messages per day, and loses one message in a thousand as a false positive. If no message
// may be lost, use the filter as a first check, and query a database for keys that are present.
func Example() {
	seen, err := window.New[string](window.Config{Keys: 1_000_000, TTL: 24 * time.Hour, FPR: 0.001})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range []string{"m-1", "m-2", "m-1"} {
		again, err := seen.TestAndAdd(id)
		switch {
		case errors.Is(err, filter.ErrFull): // more than a million per day: handle it, perhaps twice
			fmt.Println(id, "full")
		case again:
			fmt.Println(id, "again")
		default:
			fmt.Println(id, "new")
		}
	}
	fmt.Printf("%.1f MB\n", float64(seen.Info().Bytes)/1e6)
	// Output:
	// m-1 new
	// m-2 new
	// m-1 again
	// 2.2 MB
}

// A rate limit of one mail per address in ten minutes, counted from the mail that was sent, because by default keys
// that are present are not renewed. If more addresses arrive than planned, the oldest ones are forgotten earlier.
func ExampleFilter_TestAndAdd() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	sent, err := window.New[string](window.Config{
		Keys: 10_000, TTL: 10 * time.Minute, Overflow: window.Shorten, Secret: filter.NewSecret(),
		Clock: func() time.Time { return now },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 5 {
		recently, _ := sent.TestAndAdd("ann@example.com")
		fmt.Println(now.Format("15:04"), "send:", !recently)
		now = now.Add(4 * time.Minute)
	}
	// Output:
	// 12:00 send: true
	// 12:04 send: false
	// 12:08 send: false
	// 12:12 send: true
	// 12:16 send: false
}

// The time comes from the events of a log, not from the machine that reads it. A late event counts as seen at the
// latest time so far.
func ExampleFilter_Advance() {
	users, err := window.New[uint64](window.Config{Keys: 50_000, TTL: time.Hour, EventTime: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, event := range []struct {
		at   string
		user uint64
	}{
		{"2026-01-01T12:00:00Z", 1}, {"2026-01-01T12:10:00Z", 2}, {"2026-01-01T12:09:59Z", 1}, {"2026-01-01T13:30:00Z", 1},
	} {
		at, err := time.Parse(time.RFC3339, event.at)
		if err != nil {
			fmt.Println(err)
			return
		}
		users.Advance(at)
		known, err := users.TestAndAdd(event.user)
		fmt.Println(event.at, event.user, known, err)
	}
	fmt.Println(users.Len(), "users in the last hour or slightly more")
	// Output:
	// 2026-01-01T12:00:00Z 1 false <nil>
	// 2026-01-01T12:10:00Z 2 false <nil>
	// 2026-01-01T12:09:59Z 1 true <nil>
	// 2026-01-01T13:30:00Z 1 false <nil>
	// 1 users in the last hour or slightly more
}

// After a restart, a filter continues from its file. A file with another size or time to live is an error.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	ctx, path := context.Background(), filepath.Join(folder, "seen.window")

	config := window.Config{Keys: 10_000, TTL: 24 * time.Hour}
	seen, err := window.Open[string](ctx, path, config)
	if errors.Is(err, fs.ErrNotExist) {
		seen, err = window.New[string](config)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(seen.TestAndAdd("order 1"))
	if err := seen.Save(ctx, path); err != nil {
		fmt.Println(err)
		return
	}

	seen, err = window.Open[string](ctx, path, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(seen.TestAndAdd("order 1"))
	// Output:
	// false <nil>
	// true <nil>
}
