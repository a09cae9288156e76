package clubcard

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
)

// sctList is the extension with the embedded timestamps of a certificate (RFC 6962, section 3.3).
var sctList = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 2}

// CertificateOf returns the fields of cert that a query needs. issuer is the certificate that signed cert. It checks
// neither the signature nor the timestamps: validate the chain first. It returns an error if the extension with the
// timestamps is malformed, but not if there are no timestamps. It ignores timestamps of versions other than 1.
func CertificateOf(cert, issuer *x509.Certificate) (Certificate, error) {
	c := Certificate{Issuer: sha256.Sum256(issuer.RawSubjectPublicKeyInfo), Serial: serialOf(cert)}
	for _, e := range cert.Extensions {
		if !e.Id.Equal(sctList) {
			continue
		}
		var err error
		if c.SCTs, err = parseSCTs(e.Value); err != nil {
			return Certificate{}, fmt.Errorf("timestamps of the certificate: %w", err)
		}
	}
	return c, nil
}

// serialOf returns the value bytes of the DER encoding of the serial number: its shortest two's complement form.
func serialOf(c *x509.Certificate) []byte {
	b, err := asn1.Marshal(c.SerialNumber)
	var v asn1.RawValue
	if err == nil {
		_, err = asn1.Unmarshal(b, &v)
	}
	if err != nil {
		panic(err) // every integer has an encoding
	}
	return v.Bytes
}

var errSCT = errors.New("malformed")

// parseSCTs returns the version 1 timestamps of an extension: an OCTET STRING with a list; the list and each of its
// elements begin with a length of 2 bytes. An element of version 1 starts with a 0 byte, the log id and the timestamp.
func parseSCTs(ext []byte) (scts []SCT, err error) {
	var list []byte
	if rest, err := asn1.Unmarshal(ext, &list); err != nil || len(rest) > 0 {
		return nil, errSCT
	}

	in := &input{data: list}
	if n := in.uint("length", 2); in.err != nil || n != uint64(len(list)-in.pos) {
		return nil, errSCT
	}

	for in.pos < len(list) && in.err == nil {
		t := &input{data: in.bytes("timestamp", in.uint("length", 2))}
		if t.uint("version", 1) == 0 {
			scts = append(scts, SCT{Log: t.hash("log"), Timestamp: t.uint("time", 8)})
		}
		if t.err != nil {
			return nil, errSCT
		}
	}
	if in.err != nil {
		return nil, errSCT
	}
	return scts, nil
}
