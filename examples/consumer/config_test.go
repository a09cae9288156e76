package main

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// TestConfigOfAUser builds filters that a user of a service describes, in bounded memory.
func TestConfigOfAUser(t *testing.T) {
	secret := filter.NewSecret()
	for _, x := range []struct {
		config bloomery.Config
		want   error
	}{
		{bloomery.Config{Spec: "rankindexed(capacity=10000)", MaxFPR: 0.02}, nil},
		{bloomery.Config{Needs: plan.Needs{FPR: 0.001}, Keys: 5000}, nil},
		{bloomery.Config{Spec: "standard(bytes=1000000000000)"}, filter.ErrTooLarge},
		{bloomery.Config{Keys: 1000000000000}, filter.ErrTooLarge},
		{bloomery.Config{Spec: "standard", Needs: plan.Needs{FPR: 0.001}}, filter.ErrConfig},
		{bloomery.Config{Spec: "standard", Shards: 4}, filter.ErrConfig},
		{bloomery.Config{Spec: "standard", Memory: -1}, filter.ErrConfig},
	} {
		c := x.config
		c.Secret, c.MaxBytes, c.TempDir = secret, 1<<20, t.TempDir()
		set, err := bloomery.New(c)
		if !errors.Is(err, x.want) {
			t.Errorf("%v: %v, want %v", c, err, x.want)
		}
		if err != nil {
			continue
		}
		if err := set.AddString("a key"); err != nil || !set.ContainsString("a key") {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// TestTooLate calls methods after the end of what they belong to: nothing is dropped or written in silence.
func TestTooLate(t *testing.T) {
	b := must(bloomery.NewBuilder(t.Context(), bloomery.Config{}))(t)
	if err := b.AddString("a"); err != nil {
		t.Fatal(err)
	}
	set := must(b.Build(t.Context()))(t)
	if b.AddString("b") == nil || b.Add(le(1)) == nil {
		t.Error("a Builder takes keys after Build")
	}
	path := filepath.Join(t.TempDir(), "f.bloom")
	if err := set.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	l := must(bloomery.Lock(t.Context(), path))(t)
	if err := errors.Join(l.AddString("c"), l.Close()); err != nil {
		t.Fatal(err)
	}
	if l.Commit(t.Context()) == nil || must(bloomery.Open(t.Context(), path))(t).ContainsString("c") {
		t.Error("Commit writes after Close")
	}
}

// TestCloneOfPlain changes a Set after its Clone.
func TestCloneOfPlain(t *testing.T) {
	set := must(bloomery.New(bloomery.Config{Needs: plan.Needs{FPR: 0.001}, Keys: 100}))(t)
	clone := must(set.Clone())(t)
	if err := set.AddString("later"); err != nil || clone.ContainsString("later") {
		t.Errorf("the clone changes with its set: %v", err)
	}
}
