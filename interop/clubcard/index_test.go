package clubcard_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/interop/clubcard"
)

// certificate returns the certificate of a file of testdata. In the file, its issuer follows.
func certificate(t testing.TB, name string) clubcard.Certificate {
	t.Helper()
	return certificateOf(t, read(t, name))
}

// certificateOf returns the certificate of a chain.
func certificateOf(t testing.TB, data []byte) clubcard.Certificate {
	t.Helper()
	var chain []*x509.Certificate
	for b, rest := pem.Decode(data); b != nil; b, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		chain = append(chain, c)
	}
	c, err := clubcard.CertificateOf(chain[0], chain[1])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCertificates queries the folder of testdata for its certificates.
func TestCertificates(t *testing.T) {
	for name, want := range map[string]clubcard.Status{"revoked.pem": clubcard.Revoked, "later.pem": clubcard.Revoked,
		"valid.pem": clubcard.NotRevoked, "new.pem": clubcard.NotCovered, "unlogged.pem": clubcard.NotCovered} {
		got, err := clubcard.CheckDir(t.Context(), os.DirFS("testdata/cache"), certificate(t, name))
		if err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, want)
		}
	}
	later := certificate(t, "later.pem")
	if got := open(t, read(t, "cache/base.clubcard")).Check(later); got != clubcard.NotRevoked {
		t.Errorf("base alone: %v", got)
	}
	is := baseUniverse().issuers[0]
	if later.Issuer != is.hash || string(later.Serial) != is.valid[0] || len(later.SCTs) != 2 ||
		later.SCTs[1].Log != logA {
		t.Errorf("certificate %+v", later)
	}
	for _, serial := range []string{"\x07", "\x7f\xff", "\x00\x80", "\x00\xff\x00"} {
		if got := string(certificateOf(t, chain(serial)).Serial); got != serial {
			t.Errorf("serial number %x became %x", serial, got)
		}
	}
	other := certificate(t, "valid.pem") // base contains its issuer, delta does not
	other.Issuer, other.Serial = baseUniverse().issuers[1].hash, []byte(baseUniverse().issuers[1].valid[0])
	cache := os.DirFS("testdata/cache")
	if got, err := clubcard.CheckDir(t.Context(), cache, other); err != nil || got != clubcard.NotRevoked {
		t.Errorf("not revoked and not enrolled: %v, %v", got, err)
	}
}

// TestMalformedSCTs checks that every truncation of the list of timestamps is an error.
func TestMalformedSCTs(t *testing.T) {
	block, rest := pem.Decode(read(t, "later.pem"))
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	next, _ := pem.Decode(rest)
	issuer, err := x509.ParseCertificate(next.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(cert.Extensions, func(e pkix.Extension) bool {
		return strings.HasSuffix(e.Id.String(), ".11129.2.4.2")
	})
	whole := slices.Clone(cert.Extensions[i].Value)
	body := whole[2:] // after the tag and the length of the OCTET STRING, which is below 128
	for n := range len(body) {
		cert.Extensions[i].Value = append([]byte{4, byte(n)}, body[:n]...)
		if c, err := clubcard.CertificateOf(cert, issuer); err == nil {
			t.Errorf("%d of %d bytes: %+v", n, len(body), c)
		}
		cert.Extensions[i].Value = append(slices.Clone(whole[:n]), 0xff)
		if c, err := clubcard.CertificateOf(cert, issuer); err == nil {
			t.Errorf("%d bytes and one more: %+v", n, c)
		}
	}
	cert.Extensions[i].Value = []byte{4, 5, 0, 3, 0, 1, 0} // a timestamp of 1 byte
	if _, err := clubcard.CertificateOf(cert, issuer); err == nil {
		t.Error("a short timestamp")
	}
	cert.Extensions[i].Value = append(slices.Clone(whole), 0)
	if _, err := clubcard.CertificateOf(cert, issuer); err == nil {
		t.Error("a byte after the list")
	}
	cert.Extensions[i].Value = slices.Clone(whole)
	cert.Extensions[i].Value[2+2+2] = 1 // version of the first
	if c, err := clubcard.CertificateOf(cert, issuer); err != nil || len(c.SCTs) != 1 {
		t.Errorf("unknown version: %+v, %v", c, err)
	}
}

// TestIndex checks which files cover a timestamp.
func TestIndex(t *testing.T) {
	x, err := clubcard.ReadIndex(read(t, "cache/index.bin"))
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[clubcard.SCT]string{
		{Log: logB, Timestamp: someTime}: "base.clubcard", {Log: logB, Timestamp: someTime - 1}: "",
		{Log: logA, Timestamp: someTime + 31*day}:     "base.clubcard delta.clubcard",
		{Log: logA, Timestamp: someTime + 31*day + 1}: "delta.clubcard",
		{Log: [32]byte{1}, Timestamp: someTime}:       "",
	} {
		if got := strings.Join(x.Covering(at, at), " "); got != want {
			t.Errorf("%d: %q, want %q", at.Timestamp, got, want)
		}
	}
	if got := strings.Join(x.Files(), " "); got != "base.clubcard delta.clubcard" {
		t.Errorf("files %s", got)
	}
}

// TestIndexRefused checks that everything that the format of an index forbids is an error.
func TestIndexRefused(t *testing.T) {
	one := func(log [32]byte, file string) indexEntry { return indexEntry{file, clubcard.Coverage{Log: log}} }
	logs := []indexEntry{one([32]byte{1}, "a"), one([32]byte{2}, "a")}
	const table, firstLog = 14, 14 + 32
	good := encodeIndex([]string{"a"}, logs)
	if _, err := clubcard.ReadIndex(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"magic":            func(b []byte) []byte { b[7] = '0'; return b },
		"no name":          func(b []byte) []byte { b[table] = 0; return b },
		"dot":              func(b []byte) []byte { b[table] = '.'; return b },
		"dots":             func(b []byte) []byte { b[table], b[table+1] = '.', '.'; return b },
		"path":             func(b []byte) []byte { copy(b[table:], "../a"); return b },
		"backslash":        func(b []byte) []byte { copy(b[table:], `a\b`); return b },
		"letter":           func(b []byte) []byte { copy(b[table:], "ä"); return b },
		"padding":          func(b []byte) []byte { b[table+9] = 'x'; return b },
		"same log":         func(b []byte) []byte { b[firstLog] = 2; return b },
		"descending":       func(b []byte) []byte { b[firstLog] = 3; return b },
		"entries before":   func(b []byte) []byte { b[firstLog+39] = 89; return b }, // in the table
		"entries after":    func(b []byte) []byte { b[firstLog+32] = 0xff; return b },
		"too many entries": func(b []byte) []byte { b[firstLog+41] = 3; return b },
		"overlap":          func(b []byte) []byte { b[firstLog+41] = 2; return b },
		"name of an entry": func(b []byte) []byte { b[firstLog+2*42+1] = 1; return b },
		"number of names":  func(b []byte) []byte { b[8] = 0xff; return b },
		"number of logs":   func(b []byte) []byte { b[10] = 0xff; return b },
	} {
		x, err := clubcard.ReadIndex(change(slices.Clone(good)))
		var at *container.FormatError
		if x != nil || !errors.As(err, &at) || (name == "magic") != errors.Is(err, clubcard.ErrIndex) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// replaced is a folder whose updater replaces the index after the first reads.
type replaced struct {
	before, after fs.FS
	left          *int
}

func (r replaced) Open(name string) (fs.File, error) {
	if name == clubcard.IndexName && *r.left > 0 {
		*r.left--
		return r.before.Open(name)
	}
	return r.after.Open(name)
}

// Stat does not count as a read of the index.
func (r replaced) Stat(name string) (fs.FileInfo, error) {
	if *r.left > 0 {
		if st, err := fs.Stat(r.before, name); err == nil {
			return st, nil
		}
	}
	return fs.Stat(r.after, name)
}

// TestCheckDir checks that the check restarts if an updater has removed a file, and that other errors are returned.
func TestCheckDir(t *testing.T) {
	base, revoked := read(t, "cache/base.clubcard"), certificate(t, "revoked.pem")
	logs := baseUniverse().logs
	index := func(file string, log [32]byte) *fstest.MapFile {
		return &fstest.MapFile{Data: encodeIndex([]string{file}, []indexEntry{{file, clubcard.Coverage{
			Log: log, First: logs[0].First, Last: logs[0].Last}}})}
	}
	now := fstest.MapFS{clubcard.IndexName: index("new", logB), "new": {Data: base}}
	for left, ok := range []bool{true, true, true, false} {
		folder := replaced{fstest.MapFS{clubcard.IndexName: index("old", logB)}, now, &left}
		got, err := clubcard.CheckDir(t.Context(), folder, revoked)
		if ok != (err == nil && got == clubcard.Revoked) || !ok && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the index is replaced after %d reads: %v, %v", left, got, err)
		}
	}
	unknown := revoked
	unknown.SCTs = []clubcard.SCT{{Log: [32]byte{1}, Timestamp: someTime}}
	unlogged := revoked
	unlogged.SCTs = nil
	for name, c := range map[string]struct {
		folder fstest.MapFS
		cert   clubcard.Certificate
		err    error
	}{
		"contradiction": {fstest.MapFS{clubcard.IndexName: index("f", [32]byte{1}), "f": {Data: base}}, unknown,
			clubcard.ErrNoneCovers},
		"no Clubcard": {fstest.MapFS{clubcard.IndexName: index("f", logB), "f": {Data: []byte("no")}}, revoked,
			clubcard.ErrFormat},
		"no index":       {fstest.MapFS{clubcard.IndexName: {Data: base}}, revoked, clubcard.ErrIndex},
		"empty folder":   {fstest.MapFS{}, revoked, fs.ErrNotExist},
		"no timestamps":  {fstest.MapFS{}, unlogged, nil},
		"nothing covers": {now, unknown, nil},
	} {
		got, err := clubcard.CheckDir(t.Context(), c.folder, c.cert)
		if !errors.Is(err, c.err) || got != clubcard.NotCovered {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.err)
		}
	}
}
