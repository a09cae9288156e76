package main

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// TestConfigOfAUser builds filters that a user of a service describes in JSON, in bounded memory.
func TestConfigOfAUser(t *testing.T) {
	secret := filter.NewSecret()
	for text, want := range map[string]error{
		`{"spec":"rankindexed(capacity=10000)","max_fpr":0.02}`: nil,
		`{"needs":{"FPR":0.001},"keys":5000}`:                   nil,
		`{"spec":"standard(bytes=1000000000000)"}`:              filter.ErrTooLarge,
		`{"keys":1000000000000}`:                                filter.ErrTooLarge,
		`{"spec":"standard","needs":{"FPR":0.001}}`:             filter.ErrConfig,
		`{"spec":"standard","shards":4}`:                        filter.ErrConfig,
		`{"spec":"standard","memory":-1}`:                       filter.ErrConfig,
	} {
		c := bloomery.Config{Secret: secret}
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		c.MaxBytes, c.TempDir = 1<<20, t.TempDir()
		set, err := bloomery.New(c)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
		if err != nil {
			continue
		}
		if err := set.AddString("a key"); err != nil || !set.ContainsString("a key") {
			t.Errorf("%s: %v", text, err)
		}
		b := must(json.Marshal(c))(t)
		if strings.Contains(string(b), string(secret[:])) {
			t.Errorf("the secret is in %s", b)
		}
		again := bloomery.Config{Secret: secret}
		if err := json.Unmarshal(b, &again); err != nil || again.String() != c.String() {
			t.Errorf("%v became %v: %v", c, again, err)
		}
	}
	var c bloomery.Config
	if err := json.Unmarshal([]byte(`{"spec":"standard","max_fpr_of_set":0.1}`), &c); err == nil {
		t.Error("an unknown field is ignored")
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
