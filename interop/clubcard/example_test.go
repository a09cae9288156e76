package clubcard_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log"
	"os"

	"github.com/bloomery/bloomery/interop/clubcard"
)

// certificates returns the certificates of a PEM file.
func certificates(path string) (chain []*x509.Certificate) {
	text, err := os.ReadFile(path)
	for b, rest := pem.Decode(text); err == nil && b != nil; b, rest = pem.Decode(rest) {
		var c *x509.Certificate
		c, err = x509.ParseCertificate(b.Bytes)
		chain = append(chain, c)
	}
	if err != nil {
		log.Fatal(err)
	}
	return chain
}

// Query the files that upki keeps in a folder.
func Example() {
	chain := certificates("testdata/revoked.pem")
	cert, err := clubcard.CertificateOf(chain[0], chain[1])
	if err != nil {
		log.Fatal(err)
	}
	status, err := clubcard.CheckDir(context.Background(), os.DirFS("testdata/cache"), cert)
	fmt.Println(status, err)
	// Output: revoked <nil>
}

// Query one file.
func ExampleFilter() {
	data, err := os.ReadFile("testdata/cache/base.clubcard")
	if err != nil {
		log.Fatal(err)
	}
	set, err := clubcard.Read(data)
	if err != nil {
		log.Fatal(err)
	}
	chain := certificates("testdata/valid.pem")
	cert, err := clubcard.CertificateOf(chain[0], chain[1])
	fmt.Println(set.Check(cert), err, set.Info().Issuers, "issuers")
	// Output: not revoked <nil> 7 issuers
}
