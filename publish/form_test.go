package publish_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/publish"
)

// TestForm follows the form of keys through releases. A version may have another form.
func TestForm(t *testing.T) {
	dir := t.TempDir()
	site, out := filepath.Join(dir, "site"), filepath.Join(dir, "followed")
	follower, err := publish.NewFollower("file:///"+strings.TrimPrefix(filepath.ToSlash(site), "/"), out)
	settest.Check(t, err)
	for _, form := range []filter.KeyForm{{}, {Trim: true}, {Trim: true, Type: filter.KeyText}} {
		file := filepath.Join(dir, form.String())
		c := bloomery.Config{Spec: "rankindexed(capacity=900)", Hashing: bloomery.Hashing{Form: form}}
		settest.Check(t, settest.Build(t, settest.Words(600), c).Save(t.Context(), file))
		settest.Must(publish.Publish(t.Context(), site, file, publish.Options{Trim: form.Trim}))
		settest.Must(follower.Poll(t.Context()))
		set := settest.Must(bloomery.Open(t.Context(), out))
		if got := set.Info().Form; got != form || !set.ContainsString("key-17") {
			t.Errorf("form of keys %s, want %s", got, form)
		}
		settest.Check(t, set.Close())
	}
}
