package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/bloomery/bloomery/eval/child"
	"github.com/bloomery/bloomery/interop/clubcard"
)

// clubcardSystem returns the system of Mozilla's sets of revoked certificates. We only read them: files that its crates
// build, and files with changed fields (clubcard_change.go), which the report counts as our files.
func clubcardSystem() system {
	about := "crates clubcard 0.3.4 and clubcard-crlite 0.6.2, by cargo"
	return system{name: "clubcard", about: about, run: func(t *trial) (err error) {
		command, err := t.shop.rust("clubcard")
		if err != nil {
			return err
		}
		p, err := start(t.ctx, "clubcard", command)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		t.result.Version = p.version()
		fewest := 1 // the builder of the crate panics without keys
		return t.each(t.grid(fewest, []kind{"certificates"}, "direct", "inverted"), func(c testCase) error {
			if err := t.clubcards(p, c); err != nil {
				return fmt.Errorf("%s: %w", c, err)
			}
			return nil
		})
	}}
}

// certificate is a certificate to query, whether the filter contains it, and whether it is revoked.
type certificate struct {
	clubcard.Certificate
	known, revoked bool
}

// clubcards compares the answers of the filter of a case, and of changed copies of its file.
func (t *trial) clubcards(p peer, c testCase) error {
	r := rand.New(rand.NewPCG(c.seed, 1))
	known, asked := certificates(c, r)
	f := t.files()
	if err := writeKeys(f.present, known); err != nil {
		return err
	}
	if _, err := p.build(c, f.present, f.theirs); err != nil {
		return err
	}
	file, err := os.ReadFile(f.theirs)
	if err != nil {
		return err
	}
	if err := t.askClubcard(p, c, &t.result.Theirs, file, asked, true); err != nil {
		return err
	}
	if c.keys > 1000 {
		return nil
	}
	for range changesPerFile {
		err := t.askClubcard(p, c, &t.result.Ours, changed(file, r), asked, false)
		if err != nil {
			return err
		}
	}
	return nil
}

// certificates returns the certificates in the filter of a case, in the form of its program, and the certificates to
// query: all of these, and others with unknown issuers, serial numbers, logs and times.
func certificates(c testCase, r *rand.Rand) (known [][]byte, asked []certificate) {
	var issuers [][clubcard.HashSize]byte
	for i := range 1 + min(c.keys/50, 20) {
		issuers = append(issuers, sha256.Sum256(fmt.Append(nil, c.seed, i)))
	}
	serials := generate(raw, c.seed, 1, c.keys+c.absent())
	for i, serial := range serials {
		one := certificate{known: i < c.keys, revoked: (r.Float64() < c.rate) != (c.form == "inverted")}
		one.Serial = serial
		one.Issuer = issuers[r.IntN(len(issuers))]
		if i >= c.keys && r.IntN(4) == 0 {
			one.Issuer[0]++
		}
		one.SCTs = []clubcard.SCT{timestamp(r, i < c.keys)}
		if one.known {
			known = append(known, slices.Concat(one.Issuer[:], []byte{bit(one.revoked)}, serial))
		}
		asked = append(asked, one)
	}
	return known, asked
}

// timestamp returns a time in a log. The program covers the logs whose ids are bytes 1, 2 and 3; if covered is set, the
// time is at an end of the range that it covers.
func timestamp(r *rand.Rand, covered bool) (s clubcard.SCT) {
	times := [][]uint64{{1000, 2000}, {5000, 895_000}, {7, 1<<64 - 1}}
	log := r.IntN(len(times))
	s.Timestamp = times[log][r.IntN(2)]
	if !covered {
		s.Timestamp += uint64(r.IntN(3)) - 1
		log += r.IntN(2)
	}
	copy(s.Log[:], bytes.Repeat([]byte{byte(log + 1)}, clubcard.HashSize))
	return s
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// askClubcard queries both sides. If right is set, the answers about known certificates must be correct. A file that
// both sides refuse does not count.
func (t *trial) askClubcard(p peer, c testCase, d *direction, file []byte, asked []certificate, right bool) error {
	f := t.files()
	var keys [][]byte
	for _, one := range asked {
		at := binary.BigEndian.AppendUint64(nil, one.SCTs[0].Timestamp)
		keys = append(keys, slices.Concat(one.Issuer[:], one.SCTs[0].Log[:], at, one.Serial))
	}
	if err := errors.Join(writeKeys(f.asked, keys), os.WriteFile(f.ours, file, 0o600)); err != nil {
		return err
	}
	theirErr := p.ask(c, f.ours, f.asked, f.answers)
	var refused child.RefusedError
	if theirErr != nil && !errors.As(theirErr, &refused) {
		return theirErr
	}
	ours, ourErr := clubcard.Read(file)
	if (theirErr != nil) != (ourErr != nil) {
		t.fault(d, "%s: refused by one side: theirs %v, ours %v", c, theirErr, ourErr)
	}
	if theirErr != nil || ourErr != nil {
		return nil
	}
	bits, err := os.ReadFile(f.answers)
	if err != nil {
		return err
	}
	if len(bits) != (2*len(asked)+7)/8 {
		return fmt.Errorf("%d bytes of answers about %d certificates", len(bits), len(asked))
	}
	d.Filters++
	for i, one := range asked {
		theirs, answer := clubcard.Status(bits[i/4]>>(2*(i%4))&3), ours.Check(one.Certificate)
		want := clubcard.NotRevoked
		if one.revoked {
			want = clubcard.Revoked
		}
		d.Answers++
		switch {
		case theirs != answer:
			t.fault(d, "%s: serial number %x: theirs %q, ours %q", c, one.Serial, theirs, answer)
		case right && one.known && answer != want:
			t.fault(d, "%s: serial number %x: %q on both sides, want %q", c, one.Serial, answer, want)
		}
	}
	return nil
}
