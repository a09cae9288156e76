package clubcard_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"encoding/pem"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery/interop/clubcard"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

// Two logs, and the time of a timestamp, in milliseconds since 1970.
var (
	logA, logB = sha256.Sum256([]byte("log A")), sha256.Sum256([]byte("log B"))
)

const day, someTime = 86_400_000, 1_780_000_000_000

// serials returns n serial numbers of 16 bytes. A serial number whose first bit would be 1 gets a leading 0 byte.
func serials(label string, n int) (all []string) {
	for i := range n {
		h := sha256.Sum256(fmt.Appendf(nil, "%s-%d", label, i))
		all = append(all, string(new(big.Int).SetBytes(h[:16]).FillBytes(make([]byte, 16))))
		if all[i][0] >= 0x80 {
			all[i] = "\x00" + all[i]
		}
	}
	return all
}

// issuerKey is the key of the issuer of the certificates of testdata.
var issuerKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{19}, ed25519.SeedSize))

// baseUniverse is the universe of testdata/cache/base: issuers of all kinds.
func baseUniverse() universe {
	spki, err := x509.MarshalPKIXPublicKey(issuerKey.Public())
	if err != nil {
		panic(err)
	}
	hash := func(name string) [32]byte { return sha256.Sum256([]byte(name)) }
	return universe{
		logs: []clubcard.Coverage{
			{Log: logB, First: someTime, Last: someTime + 30*day},
			{Log: logA, First: someTime, Last: someTime + 31*day},
		},
		issuers: []issuer{
			{sha256.Sum256(spki), serials("revoked", 50), serials("valid", 900)},
			{hash("many revoked"), serials("m revoked", 300), serials("m valid", 40)},
			{hash("half revoked"), serials("h revoked", 60), serials("h valid", 60)},
			{hash("none revoked"), nil, serials("n valid", 200)},
			{hash("all revoked"), serials("a revoked", 30), nil},
			{hash("a few"), serials("f revoked", 3), serials("f valid", 500)},
			{hash("short"), []string{"\x00", "\x01"}, []string{"\x02", "\x03", "\x04", "\x05\x06"}},
		},
		tight: true, seed: 1,
	}
}

// deltaUniverse is the universe of testdata/cache/delta, which is a day newer and contains one more revoked
// certificate.
func deltaUniverse() universe {
	u := baseUniverse()
	is := u.issuers[0]
	is.revoked, is.valid = is.valid[:1], append(slices.Clone(is.revoked), is.valid[1:]...)
	return universe{
		logs:    []clubcard.Coverage{{Log: logA, First: someTime, Last: someTime + 32*day}},
		issuers: []issuer{is}, seed: 2,
	}
}

// chain returns a certificate and its issuer as PEM.
func chain(serial string, scts ...clubcard.SCT) []byte {
	var list []byte
	for _, t := range scts {
		one := append([]byte{0}, t.Log[:]...)
		one = append(binary.BigEndian.AppendUint64(one, t.Timestamp), 0, 0, 4, 3, 0, 2, 1, 2) // with a signature
		list = append(binary.BigEndian.AppendUint16(list, uint16(len(one))), one...)
	}
	ext, err := asn1.Marshal(append(binary.BigEndian.AppendUint16(nil, uint16(len(list))), list...))
	if err != nil {
		panic(err)
	}
	from := time.UnixMilli(someTime).UTC()
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Issuer of the tests"},
		NotBefore: from, NotAfter: from.AddDate(10, 0, 0), IsCA: true, BasicConstraintsValid: true}
	leaf := &x509.Certificate{SerialNumber: new(big.Int).SetBytes([]byte(serial)), DNSNames: []string{"example.org"},
		NotBefore: from, NotAfter: from.AddDate(0, 3, 0)}
	if len(scts) > 0 {
		id := asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 2}
		leaf.ExtraExtensions = []pkix.Extension{{Id: id, Value: ext}}
	}
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{20}, ed25519.SeedSize))
	var out bytes.Buffer
	for _, c := range []struct {
		cert *x509.Certificate
		key  ed25519.PrivateKey
	}{{leaf, key}, {ca, issuerKey}} {
		// Ed25519 uses no randomness, so the bytes are always the same.
		der, err := x509.CreateCertificate(rand.Reader, c.cert, ca, c.key.Public(), issuerKey)
		if err == nil {
			err = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: der})
		}
		if err != nil {
			panic(err)
		}
	}
	return out.Bytes()
}

// goldenFiles returns the files of testdata.
func goldenFiles() map[string][]byte {
	base, delta := baseUniverse(), deltaUniverse()
	revoked, valid := base.issuers[0].revoked, base.issuers[0].valid
	var entries []indexEntry
	for _, l := range base.logs {
		entries = append(entries, indexEntry{"base.clubcard", l})
	}
	entries = append(entries, indexEntry{"delta.clubcard", delta.logs[0]})
	at := func(log [32]byte, time uint64) clubcard.SCT { return clubcard.SCT{Log: log, Timestamp: time} }
	return map[string][]byte{
		"cache/base.clubcard":  encode(base),
		"cache/delta.clubcard": encode(delta),
		"cache/index.bin":      encodeIndex([]string{"base.clubcard", "delta.clubcard"}, entries),
		"revoked.pem":          chain(revoked[0], at(logB, someTime+day)),
		"later.pem":            chain(valid[0], at(logB, someTime+day), at(logA, someTime+day)), // only delta revokes
		"valid.pem":            chain(valid[1], at(logA, someTime+day)),
		"new.pem":              chain("\x07", at(logA, someTime+40*day)),
		"unlogged.pem":         chain(valid[2]),
	}
}

// TestGolden compares testdata with what the encoder of the tests writes.
func TestGolden(t *testing.T) {
	files := goldenFiles()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join("testdata", filepath.FromSlash(name))
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, files[name], 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := read(t, name); !bytes.Equal(got, files[name]) {
			t.Errorf("%s has %d bytes that differ from the %d of the encoder", name, len(got), len(files[name]))
		}
	}
}

// read returns a file of testdata.
func read(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
