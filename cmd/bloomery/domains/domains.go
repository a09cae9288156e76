// Package domains contains two real lists for examples, tests and the demo: 133,604 domains of disposable mail
// addresses and 9,631 domains of ordinary mail providers. The lists have no domain in common. NOTICE names their
// authors and licences.
package domains

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strings"
)

//go:embed disposable.txt.gz
var disposable []byte

//go:embed ordinary.txt.gz
var ordinary []byte

// Disposable returns the domains of disposable mail addresses, sorted and distinct.
func Disposable() []string { return lines(disposable) }

// Ordinary returns the domains of ordinary mail providers.
func Ordinary() []string { return lines(ordinary) }

// lines returns the lines of gzip data. It panics on an error: the data is embedded in the program.
func lines(packed []byte) []string {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return strings.Fields(string(text)) // domains contain no spaces
}
