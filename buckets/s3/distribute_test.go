package s3_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/fakes3"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

// TestLate checks that a late worker and a late Finish do not change a finished set.
func TestLate(t *testing.T) { storetest.Late(t, openURL(t, fakes3.New(t), "sets/late")) }

// TestDistribute builds a set from plain and compressed objects of a bucket into the bucket, while some responses are
// cut off and some requests are refused. A step that fails is repeated. The files must be byte-identical to the files
// of Build.
func TestDistribute(t *testing.T) { distributed(t, fakes3.New(t)) }

func distributed(t *testing.T, f server) {
	in, out := openURL(t, f, "keys"), openURL(t, f, "sets/one")
	var all []string
	for i := range 4 {
		var text strings.Builder
		for j := range 10_000 {
			all = append(all, fmt.Sprintf("key %d of %d", j, i))
			fmt.Fprintln(&text, all[len(all)-1])
		}
		name, data := fmt.Sprintf("day%d/a.txt", i), text.String()
		if i == 3 {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, err := z.Write([]byte(data))
			if err = errors.Join(err, z.Close()); err != nil {
				t.Fatal(err)
			}
			name, data = name+".gz", b.String()
		}
		storetest.Put(t, in, name, data)
	}
	config := bloomery.Config{Spec: "blocked(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 5}}
	var n atomic.Int32
	f.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if n.Add(1)%31 != 0 {
			return false
		}
		fakes3.Fail(w, http.StatusForbidden, "AccessDenied")
		return true
	}, func(*http.Request) int {
		if n.Load()%5 == 0 {
			return 1000
		}
		return -1
	})
	failed := 0
	again := func(step func() error) {
		t.Helper()
		for range 20 {
			err := step()
			if err == nil {
				return
			}
			if failed++; !errors.Is(err, fs.ErrPermission) {
				t.Fatal(err)
			}
		}
		t.Fatal("it never ends")
	}
	ctx := t.Context()
	var p *steps.Plan
	again(func() (err error) {
		p, err = steps.NewPlan(ctx, in, []string{"day*/*"}, steps.Config{Build: config, RangeBytes: 40_000})
		return err
	})
	done := make([]steps.Done, len(p.Ranges))
	for i := range p.Ranges {
		again(func() (err error) { done[i], err = p.Range(ctx, in, out, i, steps.Options{}); return err })
	}
	again(func() error { _, err := p.Gather(ctx, out, done, steps.Options{}); return err })
	for s := range 5 {
		again(func() error { _, err := p.Build(ctx, out, s, steps.Options{}); return err })
	}
	if _, err := out.Stat(ctx, shard.ManifestName); err == nil {
		t.Error("there is a manifest before the end")
	}
	again(func() error { _, err := p.Finish(ctx, out, steps.Options{}); return err })
	if failed == 0 || len(p.Ranges) < 5 {
		t.Errorf("%d steps failed, %d ranges", failed, len(p.Ranges))
	}
	f.Fault(nil, nil)

	dir := t.TempDir()
	_, err := settest.BuildShards(ctx, func(yield func(string) bool) {
		for _, k := range all {
			if !yield(k) {
				return
			}
		}
	}, dir, config)
	if err != nil {
		t.Fatal(err)
	}
	want := buckets.Folder(dir)
	files := 0
	for o, err := range out.List(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		a, err := storetest.Read(ctx, out, o.Name, "", 0, -1)
		b, err2 := storetest.Read(ctx, want, o.Name, "", 0, -1)
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %d and %d bytes, %v, %v", o.Name, len(a), len(b), err, err2)
		}
		files++
	}
	if files != 6 {
		t.Errorf("%d objects remain", files)
	}
}
