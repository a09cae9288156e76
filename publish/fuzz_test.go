package publish

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The fuzz targets of the inputs that this package reads. Each has a function that checks one input and reports whether
// it was accepted. TestFuzzReaches counts accepted inputs, so that no target is silently stopped by a signature or a
// frame. Run them with -fuzzminimizetime 100x: by default, the fuzzer minimises one release of a kilobyte for a minute
// and runs nothing else.

// resigned returns a release.json with the members of b in its signed part and a correct signature, because nothing is
// read after a wrong signature.
func resigned(b []byte, key PrivateKey) []byte {
	b, _, _ = bytes.Cut(b, []byte(signaturesMark))
	b = bytes.TrimRight(bytes.TrimPrefix(b, []byte("{\n")), ",\n")
	signed := append(append([]byte("{\n"), b...), ',')
	ids := signAll(signed, []PrivateKey{key})
	return append(signed, signaturesMark+`[{"key":"`+ids[0].Key+`","signature":"`+ids[0].Signature+`"}]`+"\n}\n"...)
}

// fuzzRelease checks a release.json unchanged, and with a correct signature.
func fuzzRelease(t *testing.T, b []byte, key PrivateKey) (accepted bool) {
	_, _ = Verify(b, key.Public())
	_, _ = signedBy(b)
	_, _ = parseRecord(b)
	b = resigned(b, key)
	if _, _, err := splitSigned(b); err != nil {
		return false
	}
	if _, err := Verify(b, key.Public()); err != nil {
		t.Fatalf("a right signature: %v", err)
	}
	p := publisher{o: Options{Sign: []PrivateKey{key}}}
	r, err := p.trusted(b)
	if err != nil {
		if !isUntrusted(err) {
			t.Fatal(err)
		}
		return false
	}
	text, err := r.marshal(key)
	if err != nil {
		if errors.Is(err, ErrRelease) && len(b) > maxRelease/2 { // escaped text is longer
			return true
		}
		t.Fatal(err)
	}
	if again, err := parseRecord(text); err != nil || !reflect.DeepEqual(again, r) {
		t.Fatalf("%v: %+v, then %+v", err, r, again)
	}
	return true
}

// fuzzHistory checks a history.
func fuzzHistory(t *testing.T, b []byte) (accepted bool) {
	h, err := parseHistory(b)
	if err != nil {
		if !isUntrusted(err) {
			t.Fatal(err)
		}
		return false
	}
	retain(h, 3, start)
	text, err := h.marshal()
	if err != nil {
		if errors.Is(err, ErrRelease) && len(b) > maxHistory/2 {
			return true
		}
		t.Fatal(err)
	}
	if again, err := parseHistory(text); err != nil || len(again) != len(h) ||
		len(h) > 0 && !reflect.DeepEqual(again, h) {
		t.Fatalf("%v: %+v, then %+v", err, h, again)
	}
	return true
}

// fuzzKey checks the text of a key.
func fuzzKey(t *testing.T, text string) (accepted bool) {
	public, err := ParsePublicKey(text)
	private, err2 := ParsePrivateKey(text)
	for _, err := range []error{err, err2} {
		if err != nil && (!errors.Is(err, ErrKey) || strings.Contains(text, privatePrefix) && len(text) > 40 &&
			strings.Contains(err.Error(), strings.TrimPrefix(strings.TrimSpace(text), privatePrefix))) {
			t.Fatal(err)
		}
	}
	switch {
	case err == nil && err2 == nil:
		t.Fatal("a public and a private key")
	case err == nil && public.String() != strings.TrimSpace(text):
		t.Fatalf("%q is read as %s", text, public)
	case err2 == nil && private.Text() != strings.TrimSpace(text):
		t.Fatal("another private key")
	}
	return err == nil || err2 == nil
}

// fuzzKeyState checks a state file unchanged and with a correct check, and that a release can be recorded in it.
func fuzzKeyState(t *testing.T, b []byte) (accepted bool) {
	_, _ = parseKeyState(b)
	if body, _, ok := bytes.Cut(b, []byte(checkMark)); ok {
		b = seal(append(bytes.Clone(body), '}'))
	}
	lists, err := parseKeyState(b)
	if err != nil {
		return false
	}
	s := states{lists: [][]lastSigned{lists}}
	_, _ = s.nameIn("/srv/site")
	last := lastSigned{Name: "blocklist", Number: 18, Kind: File, Folder: "/srv/site"}
	if was := s.newestOf(last.Name); was != nil {
		last.Number = min(was.Number+1, maxNumber)
	}
	text, err := marshalKeyState(replaceEntry(lists, last))
	if err != nil {
		if len(lists) == maxLists {
			return true
		}
		t.Fatal(err)
	}
	again, err := parseKeyState(text)
	if err != nil || len(again) < len(lists) || *(&states{lists: [][]lastSigned{again}}).newestOf(last.Name) != last {
		t.Fatalf("%v: %+v, then %+v", err, lists, again)
	}
	return true
}

// releaseSeeds returns the vectors of releases.
func releaseSeeds(t testing.TB) (all [][]byte) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d seeds, %v", len(files), err)
	}
	for _, path := range files {
		if strings.HasPrefix(filepath.Base(path), "vectors") { // a list of the other files
			continue
		}
		b := read(t, path)
		all = append(all, b)
	}
	return all
}

func historySeeds(t testing.TB) [][]byte {
	t.Helper()
	b, err := testHistory().marshal()
	must(t, err)
	short, err := testHistory()[:1].marshal()
	must(t, err)
	return [][]byte{b, short, []byte(`{"format":"bloomery-history","version":1,"releases":[]}`)}
}

func keySeeds(t testing.TB) [][]byte {
	k, err := ParsePrivateKey(privatePrefix + strings.Repeat("A", 43) + "=")
	must(t, err)
	return [][]byte{[]byte(k.Text() + "\n"), []byte(k.Public().String() + "\n"), []byte(publicPrefix)}
}

func keyStateSeeds(t testing.TB) [][]byte {
	var lists []lastSigned
	for _, name := range []string{"blocklist", "another", `a "list" <of> ü & more`} {
		lists = replaceEntry(lists, lastSigned{Name: name, Number: 17, Kind: Exact, Keys: 5, Universe: 9, Folder: "/srv/" + name})
		lists = replaceEntry(lists, lastSigned{Name: name + " begun"})
	}
	b, err := marshalKeyState(lists)
	must(t, err)
	deep, err := marshalKeyState([]lastSigned{{Name: "deep", Folder: strings.Repeat("/folder", 100)}})
	must(t, err)
	return [][]byte{b, deep, []byte(`{"format":"bloomery-key-state","version":1,"lists":[]` + checkMark + `"}`)}
}

// fuzz adds seeds to a fuzz target and runs it.
func fuzz(f *testing.F, seeds [][]byte, check func(*testing.T, []byte) bool) {
	for _, b := range seeds {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { check(t, b) })
}

// fuzzSigner signs in the fuzz targets.
func fuzzSigner(t testing.TB) PrivateKey {
	k, err := ParsePrivateKey(string(keySeeds(t)[0]))
	must(t, err)
	return k
}

func FuzzRelease(f *testing.F) {
	key := fuzzSigner(f)
	fuzz(f, releaseSeeds(f), func(t *testing.T, b []byte) bool { return fuzzRelease(t, b, key) })
}

func FuzzHistory(f *testing.F)  { fuzz(f, historySeeds(f), fuzzHistory) }
func FuzzKeyState(f *testing.F) { fuzz(f, keyStateSeeds(f), fuzzKeyState) }

func FuzzKey(f *testing.F) {
	fuzz(f, keySeeds(f), func(t *testing.T, b []byte) bool { return fuzzKey(t, string(b)) })
}

// TestFuzzReaches changes the seeds like a fuzzer, and counts the inputs that pass the signature, the frame and the
// checks of the fields.
func TestFuzzReaches(t *testing.T) {
	key := fuzzSigner(t)
	for _, target := range []struct {
		name  string
		seeds [][]byte
		check func(*testing.T, []byte) bool
		share float64 // smallest share of changed inputs that must be accepted
	}{
		{"FuzzRelease", releaseSeeds(t), func(t *testing.T, b []byte) bool { return fuzzRelease(t, b, key) }, 0.2},
		{"FuzzHistory", historySeeds(t), fuzzHistory, 0.2},
		{"FuzzKey", keySeeds(t), func(t *testing.T, b []byte) bool { return fuzzKey(t, string(b)) }, 0.3},
		{"FuzzKeyState", keyStateSeeds(t), fuzzKeyState, 0.5},
	} {
		if corpus, err := filepath.Glob(filepath.Join("testdata", "fuzz", target.name, "*")); len(corpus) < 3 {
			t.Errorf("%s: a corpus of %d inputs, %v", target.name, len(corpus), err)
		}
		const seed, inputs = 28, 3000
		r := rand.New(rand.NewPCG(seed, 1))
		accepted := 0
		for range inputs {
			b := bytes.Clone(target.seeds[r.IntN(len(target.seeds))])
			for range min(r.IntN(3), len(b)) { // nothing, or one or two bytes
				b[r.IntN(len(b))] ^= 1 << r.IntN(7)
			}
			if target.check(t, b) {
				accepted++
			}
		}
		if share := float64(accepted) / inputs; share < target.share {
			t.Errorf("%s: %.3g of the inputs are accepted, want %v (seed %d)", target.name, share, target.share, seed)
		} else {
			t.Logf("%s: %.3g of the inputs are accepted", target.name, share)
		}
	}
}
