package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/window"
)

// TestConfigOfAUser builds filters from descriptions by the users of a service, in bounded memory.
func TestConfigOfAUser(t *testing.T) {
	secret := filter.NewSecret()
	for _, x := range []struct {
		config bloomery.Config
		want   error
	}{
		{bloomery.Config{Spec: "rankindexed(capacity=10000)", Limits: bloomery.Limits{FPR: 0.02}}, nil},
		{bloomery.Config{Needs: plan.Needs{FPR: 0.001}, Keys: 5000}, nil},
		{bloomery.Config{Spec: "standard(bytes=1000000000000)"}, filter.ErrTooLarge},
		{bloomery.Config{Keys: 1000000000000}, filter.ErrTooLarge},
		{bloomery.Config{Spec: "standard", Needs: plan.Needs{FPR: 0.001}}, filter.ErrConfig},
		{bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 4}}, filter.ErrConfig},
		{bloomery.Config{Spec: "standard", Building: bloomery.Building{Memory: -1}}, filter.ErrConfig},
	} {
		c := x.config
		c.Hashing.Secret, c.Limits.Bytes, c.Building.TempDir = secret, 1<<20, t.TempDir()
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

// TestTooLate calls methods of builders and sets after their end, and checks that no key is lost or written without an
// error.
func TestTooLate(t *testing.T) {
	b := must(bloomery.NewBuilder(t.Context(), bloomery.Config{Spec: "standard"}))(t)
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

// TestSecretIsHidden prints every value that contains a secret in every way, and searches the output for the secret in
// every notation.
func TestSecretIsHidden(t *testing.T) {
	secret := filter.Secret([]byte("the-secret-words"))
	config := bloomery.Config{Hashing: bloomery.Hashing{Secret: &secret}, Keys: 100}
	set := must(bloomery.New(config))(t)
	forgets := must(window.New[string](window.Config{Keys: 100, TTL: time.Hour, Secret: &secret}))(t)
	live := liveOf(t, set, &secret)
	values := map[string]any{
		"Set": set, "*Set in a struct": struct{ S *bloomery.Set }{set}, "Config": config, "*Config": &config,
		"Config in a struct": struct{ C bloomery.Config }{config}, "Hasher": set.Hasher(), "Live": live,
		"Hasher in a struct": struct{ H filter.Hasher }{set.Hasher()},
		"unexported field":   struct{ h filter.Hasher }{set.Hasher()}, "Option": bloomery.WithSecret(&secret),
		"window.Filter": forgets, "window.Filter by value": *forgets,
		"window.Config": window.Config{Keys: 100, TTL: time.Hour, Secret: &secret},
	}
	var forms []string
	words := []uint64{binary.LittleEndian.Uint64(secret[:]), binary.LittleEndian.Uint64(secret[8:])}
	for _, w := range append(words, binary.BigEndian.Uint64(secret[:]), binary.BigEndian.Uint64(secret[8:])) {
		forms = append(forms, strconv.FormatUint(w, 10), strconv.FormatUint(w, 16), strconv.FormatUint(w, 2))
	}
	forms = append(forms, string(secret[:]), hex.EncodeToString(secret[:]),
		base64.StdEncoding.EncodeToString(secret[:])[:20],
		strings.Trim(fmt.Sprint(secret[:]), "[]"), strings.Trim(strings.ReplaceAll(fmt.Sprint(secret[:]), " ", ","), "[]"),
		strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", secret[:]), "[]byte{"), "}"))
	for what, v := range values {
		var logs bytes.Buffer
		slog.New(slog.NewTextHandler(&logs, nil)).Info("text", "value", v)
		slog.New(slog.NewJSONHandler(&logs, nil)).Info("json", "value", v)
		if b, err := json.Marshal(v); err == nil {
			logs.Write(b)
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%b"} {
			fmt.Fprintf(&logs, verb+"\n", v)
		}
		for _, form := range forms {
			if strings.Contains(strings.ToLower(logs.String()), strings.ToLower(form)) {
				t.Errorf("%s shows the secret as %q", what, form)
			}
		}
	}
	for _, want := range []string{"standard(", "siphash-128", "0 keys"} {
		if s := fmt.Sprint(set); !strings.Contains(s, want) {
			t.Errorf("%q does not say %q", s, want)
		}
	}
}

// liveOf saves a set to a file and returns a Live that follows the file. The test closes the Live at its end.
func liveOf(t *testing.T, set *bloomery.Set, secret *filter.Secret) *bloomery.Live {
	t.Helper()
	path := t.TempDir() + "/keys.bloom"
	if err := set.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	live := must(bloomery.OpenLive(t.Context(), path, bloomery.WithSecret(secret)))(t)
	t.Cleanup(func() { _ = live.Close() })
	return live
}
