package publish

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/shard"
)

var update = flag.Bool("update", false, "write the vectors of testdata anew")

// vector is an entry of testdata/vectors.json: a file, the public keys of a reader, and the expected verdicts.
type vector struct {
	File string   `json:"file"`
	What string   `json:"what"`
	Keys []string `json:"keys"`
	// Verify is the verdict on the signatures: ok, unsigned, "other key", signature or invalid.
	Verify string `json:"verify"`
	// Parse is the verdict on the content, without its signatures: ok, invalid or version. If it is ok, Name, Release
	// and SHA256 are the values that a reader gets.
	Parse   string     `json:"parse"`
	Name    string     `json:"name,omitempty"`
	Release uint64     `json:"release,omitempty"`
	SHA256  *shard.Sum `json:"sha256,omitempty"`
}

// testKey returns a fixed private key.
func testKey(t *testing.T, letter string) PrivateKey {
	t.Helper()
	k, err := ParsePrivateKey(privatePrefix + strings.Repeat(letter, 43) + "=")
	must(t, err)
	return k
}

func testRelease() *record {
	hash := func(b byte) (h shard.Sum) {
		copy(h[:], bytes.Repeat([]byte{b, b + 1}, 16))
		return h
	}
	at := time.Date(2026, 11, 22, 15, 0, 0, 0, time.UTC)
	return &record{
		Release: Release{
			Name: "blocklist", Number: 17, Published: at, Expires: at.Add(7 * 24 * time.Hour), Kind: File,
			SHA256: hash(0xa0), Bytes: 160336, Total: 160336, Spec: "standard(k=7,m=1281658)", Keys: 133604,
			FPRPlanned: 0.01, FPRPosterior: 0.01009,
		},
		Previous: &previous{16, hash(0xb0), &object{hash(0xc0), 930}}, History: &object{hash(0xd0), 4120},
	}
}

// vectors returns the vectors and the contents of their files.
func vectors(t *testing.T) (list []vector, files map[string][]byte) {
	files = map[string][]byte{}
	one, two, three := testKey(t, "A"), testKey(t, "E"), testKey(t, "I")
	add := func(file, what, verify, parse string, b []byte, keys ...PrivateKey) {
		v := vector{File: file, What: what, Keys: []string{}, Verify: verify, Parse: parse}
		for _, k := range keys {
			v.Keys = append(v.Keys, k.Public().String())
		}
		if parse == "ok" {
			r := testRelease()
			v.Name, v.Release, v.SHA256 = r.Name, r.Number, &r.SHA256
		}
		list, files[file] = append(list, v), b
	}
	marshal := func(keys ...PrivateKey) []byte {
		b, err := testRelease().marshal(keys...)
		must(t, err)
		return b
	}
	signed := marshal(one)
	edit := func(old, new string) []byte {
		if bytes.Count(signed, []byte(old)) != 1 {
			t.Fatalf("%q is not there once", old)
		}
		return bytes.Replace(signed, []byte(old), []byte(new), 1)
	}
	add("signed.json", "signed by the pinned key", "ok", "ok", signed, one)
	add("signed.json", "the reader has two keys, for rotation", "ok", "ok", signed, two, one)
	add("signed.json", "signed by another key than the pinned one", "other key", "ok", signed, two)
	add("unsigned.json", "no signature", "unsigned", "ok", marshal(), one)
	add("two.json", "two signatures, the reader has the first key", "ok", "ok", marshal(one, two), one)
	add("two.json", "two signatures, the reader has the second key", "ok", "ok", marshal(one, two), two)
	add("two.json", "two signatures, the reader has a third key", "other key", "ok", marshal(one, two), three)
	damaged := bytes.Replace(marshal(one, two), []byte(`"signature":"`), []byte(`"signature":"AA`), 1)
	add("first-wrong.json", "the first of two signatures is damaged, the reader has both keys", "ok", "ok", damaged,
		one, two)
	add("first-wrong.json", "the only signature of the pinned key is damaged", "signature", "ok", damaged, one)
	add("tail.json", "members after the signatures", "invalid", "ok",
		edit("\n}\n", ",\n\"release\":99,\"sha256\":\"00\",\"name\":\"other\"\n}\n"), one)
	add("unknown.json", "a member that no reader knows", "signature", "invalid",
		edit("\n\"signatures\":", "\n\"new\":[{}],\n\"signatures\":"), one)
	add("case.json", "a name in another case", "signature", "invalid", edit(`"keys":`, `"Keys":`), one)
	add("member-twice.json", "a member twice", "signature", "invalid",
		edit(`"keys":133604`, "\"keys\":133604,\n\"keys\":133604"), one)
	add("null.json", "a member is null", "signature", "invalid", edit(`"fpr_planned":0.01`, `"fpr_planned":null`), one)
	add("number.json", "a number in another form", "signature", "invalid",
		edit(`"fpr_planned":0.01`, `"fpr_planned":1e-2`), one)
	add("name-changed.json", "the name was changed", "signature", "invalid",
		edit(`"name":"blocklist"`, `"name":""`), one)
	add("swapped.json", "the signature of another release", "signature", "ok",
		edit(`"bytes":930`, `"bytes":931`), one)
	add("twice.json", "two lines with signatures", "invalid", "invalid",
		edit("\n}\n", ",\n\"signatures\":[]\n}\n"), one)
	add("no-comma.json", "no comma before the signatures", "invalid", "invalid",
		edit(",\n\"signatures\":", " \n\"signatures\":"), one)
	add("cut.json", "cut in the signatures", "invalid", "ok", signed[:len(signed)-20], one)
	add("short.json", "cut before the signatures", "invalid", "invalid", signed[:300], one)
	add("newer.json", "a newer version", "signature", "version", edit(`"version":1`, `"version":2`), one)
	add("kind.json", "an unknown kind", "signature", "version", edit(`"kind":"file"`, `"kind":"tree"`), one)
	add("path.json", "a path instead of a hash", "signature", "invalid",
		edit(testRelease().SHA256.String(), "../../"+testRelease().SHA256.String()[6:]), one)
	add("large.json", "a length above 2^53 - 1", "signature", "invalid",
		edit(`"total_bytes":160336`, `"total_bytes":9007199254740992`), one)
	add("missing.json", "no expiry", "signature", "invalid",
		edit(`"expires":"2026-11-29T15:00:00Z",`+"\n", ""), one)
	add("time.json", "a time in another form", "signature", "invalid",
		edit(`"expires":"2026-11-29T15:00:00Z"`, `"expires":"2026-11-29T15:00:00+00:00"`), one)
	return list, files
}

// exactVectors returns the vectors of kind "exact", for readers that follow exact sets, and adds their files.
func exactVectors(t *testing.T, files map[string][]byte) []vector {
	r := testRelease()
	r.Kind, r.Spec, r.FPRPlanned, r.FPRPosterior = Exact, "exact(universe=13360400,partitions=0,updates=3)", 0, 0
	r.Universe = 13360400
	b, err := r.marshal(testKey(t, "A"))
	must(t, err)
	total := bytes.Replace(b, []byte(`"total_bytes":160336`), []byte(`"total_bytes":160337`), 1)
	files["exact.json"], files["exact-total.json"] = b, total
	keys := []string{testKey(t, "A").Public().String()}
	return []vector{
		{File: "exact.json", What: "an exact set", Keys: keys, Verify: "ok", Parse: "ok", Name: r.Name,
			Release: r.Number, SHA256: &r.SHA256},
		{File: "exact-total.json", What: "more bytes in total than the file", Keys: keys, Verify: "signature",
			Parse: "invalid"},
	}
}

// TestVectors checks the vectors of testdata, which readers in other languages also use.
func TestVectors(t *testing.T) {
	list, files := vectors(t)
	exact := exactVectors(t, files)
	for name, some := range map[string][]vector{"vectors.json": list, "vectors-exact.json": exact} {
		listed, err := json.MarshalIndent(some, "", "  ")
		must(t, err)
		files[name] = append(listed, '\n')
	}
	list = append(list, exact...)
	for name, b := range files {
		path := filepath.Join("testdata", name)
		if *update {
			write(t, path, b, 0o666)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%s is not what this package writes: %v", path, err)
		}
	}
	for _, v := range list {
		var keys []PublicKey
		for _, text := range v.Keys {
			k, err := ParsePublicKey(text)
			must(t, err)
			keys = append(keys, k)
		}
		b := files[v.File]
		if _, err := Verify(b, keys...); verdict(err) != v.Verify {
			t.Errorf("%s, %s: Verify: %v; want %s", v.File, v.What, err, v.Verify)
		}
		r, err := parseRecord(b)
		if verdict(err) != v.Parse {
			t.Errorf("%s, %s: ParseRelease: %v; want %s", v.File, v.What, err, v.Parse)
		} else if err == nil && (r.Name != v.Name || r.Number != v.Release || r.SHA256 != *v.SHA256) {
			t.Errorf("%s, %s: %+v", v.File, v.What, r)
		}
	}
}

// verdict returns the word for an error in the vectors.
func verdict(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrUnsigned):
		return "unsigned"
	case errors.Is(err, ErrOtherKey):
		return "other key"
	case errors.Is(err, ErrSignature):
		return "signature"
	case errors.Is(err, ErrVersion):
		return "version"
	case errors.Is(err, ErrRelease):
		return "invalid"
	}
	return err.Error()
}
