package buckets_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
)

func TestFolder(t *testing.T) {
	storetest.Run(t, buckets.Folder(filepath.Join(t.TempDir(), "set")))
}

// TestLateWorker checks that a late worker does not change a finished set.
func TestLateWorker(t *testing.T) {
	storetest.Late(t, buckets.Folder(filepath.Join(t.TempDir(), "set")))
}

func TestOpenStore(t *testing.T) {
	dir := t.TempDir()
	for _, address := range []string{dir, "file://" + dir, "file://localhost" + dir, dir + "/"} {
		s, err := buckets.OpenStore(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Trim(strings.Map(func(r rune) rune {
			if r == '/' || r == ':' {
				return -1
			}
			return r
		}, address), ".")
		storetest.Put(t, s, name, "x")
		if _, err := buckets.Folder(dir).Stat(t.Context(), name); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for address, hint := range map[string]string{
		"s3://bucket/x":   "import the package",
		"file://data/set": "file:///data/set",
		"file:///d?x=1":   "%3F",
		"file://":         "no path",
		"s3://%zz":        "escape",
	} {
		if _, err := buckets.OpenStore(t.Context(), address); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestSplit(t *testing.T) {
	for address, want := range map[string][2]string{
		"s3://logs/2026/*.gz?region=eu-west-1": {"s3://logs/2026/?region=eu-west-1", "*.gz"},
		"s3://logs/2*/x/*.gz":                  {"s3://logs/", "2*/x/*.gz"},
		"s3://logs":                            {"s3://logs", ""},
		"s3://logs/":                           {"s3://logs/", ""},
		"s3://logs/a?region=x":                 {"s3://logs/?region=x", "a"},
		"gs://logs/a/b/":                       {"gs://logs/a/", "b/"},
		"file:///data/a.txt":                   {"file:///data/", "a.txt"},
		"/data/a/keys.txt":                     {"/data/a/", "keys.txt"},
		"/keys-??.txt":                         {"/", "keys-??.txt"},
		"keys.txt":                             {".", "keys.txt"},
		"a*/b":                                 {".", "a*/b"},
	} {
		if store, pattern := buckets.Split(address); store != want[0] || pattern != want[1] {
			t.Errorf("%s: %q and %q, want %q", address, store, pattern, want)
		}
	}
}
