package otel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"
)

// full is true if the long forms of tests run.
var full = os.Getenv("CI_FULL") != ""

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testConfig returns a configuration whose false positives would be errors of a test.
func testConfig(key ...string) *Config {
	c := defaultConfig()
	c.TTL, c.Keys, c.FPR, c.Key = time.Hour, 10_000, 1e-9, key
	return c
}

// started returns a processor of logs that has started. It is shut down at the end of the test.
func started(t testing.TB, c *Config, next consumer.Logs) *logs {
	t.Helper()
	p := newTestLogs(t, c, next)
	check(t, p.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() {
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func newTestLogs(t testing.TB, c *Config, next consumer.Logs) *logs {
	t.Helper()
	check(t, c.Validate())
	f := NewFactory()
	p, err := f.CreateLogs(t.Context(), processortest.NewNopSettings(f.Type()), c, next)
	check(t, err)
	return p.(*logs)
}

// idKey is the key of the records of logsOf.
const idKey = `attributes["id"]`

// logsOf returns records with these ids, all of one scope.
func logsOf(ids ...string) plog.Logs {
	all := plog.NewLogs()
	records := all.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for _, id := range ids {
		records.AppendEmpty().Attributes().PutStr("id", id)
	}
	return all
}

// idsOf returns the ids of records.
func idsOf(all plog.Logs) (ids []string) {
	for _, resource := range all.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, r := range scope.LogRecords().All() {
				id, _ := r.Attributes().Get("id")
				ids = append(ids, id.AsString())
			}
		}
	}
	return ids
}

// A recorder is a next consumer that keeps the ids of the records that it accepts.
type recorder struct {
	mu    sync.Mutex
	ids   []string
	calls int
	fail  func(ids []string) error // nil accepts everything
}

func (r *recorder) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (r *recorder) ConsumeLogs(_ context.Context, all plog.Logs) error {
	ids := idsOf(all)
	if r.fail != nil {
		if err := r.fail(ids); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids = append(r.ids, ids...)
	r.calls++
	return nil
}

// took fails the test unless the recorder has accepted exactly these ids, with spaces between them, since the last call.
func (r *recorder) took(t *testing.T, want string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := strings.Join(r.ids, " "); got != want {
		t.Errorf("%q passed, want %q", got, want)
	}
	r.ids = nil
}

func (p *logs) send(t *testing.T, ids string) {
	t.Helper()
	check(t, p.ConsumeLogs(t.Context(), logsOf(strings.Fields(ids)...)))
}

var errRefused = errors.New("refused")

// numbered returns the ids first to end - 1.
func numbered(first, end int) []string {
	ids := make([]string, 0, end-first)
	for i := range end - first {
		ids = append(ids, fmt.Sprint("id-", first+i))
	}
	return slices.Clip(ids)
}
