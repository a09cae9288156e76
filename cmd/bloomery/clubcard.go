package main

import (
	"context"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/interop/clubcard"
)

func (a *app) clubcardCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "clubcard",
		Short: "Ask the sets of revoked certificates of CRLite and upki",
		Long: `A Clubcard is an exact set of revoked certificates, as Mozilla publishes it
(https://c2sp.org/upki-revocation). Format version 4 is read.`,
		Example: `  bloomery clubcard check cache valid.pem
  bloomery clubcard info base.clubcard`,
	}
	c.AddCommand(a.clubcardCheckCommand(), a.clubcardInfoCommand())
	return c
}

func (a *app) clubcardCheckCommand() *cobra.Command {
	var given []string
	c := &cobra.Command{
		Use:   "check FILE CHAIN | check FILE -e PEM...",
		Short: "Print whether a certificate is revoked",
		Long: `CHAIN is a PEM file with the certificate and then its issuer. FILE is a Clubcard, or a folder of them
with index.bin. The answers:

  revoked
  not revoked    the only answer with exit code 0
  not enrolled   the issuer is not in the set
  not covered    the certificate has no timestamps, or none of the set's logs
                 and times

Validate the certificate and its timestamps first: only the signature of the issuer is checked.`,
		Example: `  bloomery clubcard check cache valid.pem
  bloomery clubcard check base.clubcard valid.pem --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(given) > 0 {
				return cobra.ExactArgs(1)(c, args)
			}
			return cobra.ExactArgs(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			certs, err := chains(c.Context(), args[1:], given)
			if err != nil {
				return err
			}

			no := false
			for _, cert := range certs {
				answer, err := checkClubcard(c.Context(), args[0], cert)
				if err != nil {
					return err
				}
				if err := a.printStatus(cert, answer); err != nil {
					return err
				}
				no = no || answer != clubcard.NotRevoked
			}
			return exitIf(no, nil)
		},
	}
	c.Flags().StringArrayVarP(&given, "pem", "e", nil, "`PEM`: text in place of CHAIN; repeatable")
	return c
}

// printStatus prints what a Clubcard says about a certificate.
func (a *app) printStatus(cert clubcard.Certificate, answer clubcard.Status) error {
	return a.answer(object{
		{"status", answer},
		{"issuer", hex.EncodeToString(cert.Issuer[:])}, // SHA-256 of its SubjectPublicKeyInfo
		{"serial", hex.EncodeToString(cert.Serial)}, {"timestamps", len(cert.SCTs)},
	}, "%v\n", answer)
}

// chains returns the first certificate of each PEM file and of each PEM text of -e.
func chains(ctx context.Context, paths, given []string) (all []clubcard.Certificate, err error) {
	for _, path := range paths {
		cert, err := readChain(ctx, path)
		if err != nil {
			return nil, err
		}
		all = append(all, cert)
	}
	for _, text := range given {
		cert, err := parseChain([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("-e: %w", err)
		}
		all = append(all, cert)
	}
	return all, nil
}

func (a *app) clubcardInfoCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "info FILE",
		Short:   "Describe a Clubcard",
		Example: `  bloomery clubcard info base.clubcard`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := readClubcard(c.Context(), args[0])
			if err != nil {
				return err
			}
			i := f.Info()
			return a.table(i, func(w io.Writer) {
				newest := "none"
				if !i.Newest.IsZero() {
					newest = i.Newest.Format(time.RFC3339)
				}
				fmt.Fprintf(w, "format\tClubcard, version %d\n", i.Version)
				fmt.Fprintf(w, "size\t%d bytes: %d bits of the approximate matrix in %d columns, %d of the exact matrix\n",
					i.Bytes, i.Approx, i.Columns, i.Exact)
				fmt.Fprintf(w, "logs\t%d, newest timestamp %s\n", i.Logs, newest)
				fmt.Fprintf(w, "issuers\t%d, %d of them with the certificates that are not revoked\n", i.Issuers, i.Inverted)
				fmt.Fprintf(w, "exceptions\t%d serial numbers\n", i.Exceptions)
			})
		},
	}
}

const (
	maxClubcard = 1 << 30 // limit of a Clubcard in bytes
	maxChain    = 1 << 20 // limit of a PEM file in bytes
)

// readClubcard reads a Clubcard. It reads the rest of the file only if it begins like a Clubcard. Errors name the path.
func readClubcard(ctx context.Context, path string) (*clubcard.Filter, error) {
	limit := untrusted.Limit{MaxBytes: maxClubcard, Streams: true, Head: 2, Check: func(head []byte) error {
		if _, err := clubcard.Read(head); errors.Is(err, clubcard.ErrFormat) {
			return err
		}
		return nil // perhaps cut
	}}
	data, err := untrusted.ReadFile(ctx, path, limit)
	if err != nil {
		return nil, err
	}

	f, err := clubcard.Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// checkClubcard queries a Clubcard or a folder of Clubcards. Errors name the path.
func checkClubcard(ctx context.Context, path string, c clubcard.Certificate) (clubcard.Status, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		answer, err := clubcard.CheckDir(ctx, os.DirFS(path), c)
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return answer, err
	}

	f, err := readClubcard(ctx, path)
	if err != nil {
		return clubcard.NotCovered, err
	}
	return f.Check(c), nil
}

// readChain returns the first certificate of a PEM file, whose issuer is the second. Errors name the path.
func readChain(ctx context.Context, path string) (c clubcard.Certificate, err error) {
	data, err := untrusted.ReadFile(ctx, path, untrusted.Limit{MaxBytes: maxChain, Streams: true})
	if err != nil {
		return c, err
	}
	if c, err = parseChain(data); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func parseChain(data []byte) (c clubcard.Certificate, err error) {
	var chain []*x509.Certificate
	for b, rest := pem.Decode(data); b != nil && len(chain) < 2; b, rest = pem.Decode(rest) {
		if b.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return c, err
		}
		chain = append(chain, cert)
	}
	if len(chain) < 2 {
		return c, cli.Advise(errors.New("want two certificates as PEM: the certificate, then that of its issuer"),
			"Write what the server sends: openssl s_client -showcerts -connect HOST:443 </dev/null > chain.pem")
	}
	if err := chain[0].CheckSignatureFrom(chain[1]); err != nil {
		return c, cli.Advise(fmt.Errorf("the second certificate did not sign the first: %w", err),
			"The issuer's certificate comes second in the file.")
	}
	return clubcard.CertificateOf(chain[0], chain[1])
}
