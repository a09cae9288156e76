package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/strictjson"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// ReleaseName is the name of the current release in the folder of a publisher.
const ReleaseName = "release.json"

// Bounds of a release. A reader loads no more bytes than these.
const (
	maxRelease = 64 << 10  // bytes of release.json
	maxHistory = 1 << 20   // bytes of a history
	maxName    = 128       // bytes of a name
	maxSpec    = 512       // bytes of a spec, as in a filter file
	maxNumber  = 1<<53 - 1 // the largest safe integer of JavaScript
)

const (
	releaseFormat = "bloomery-release"
	historyFormat = "bloomery-history"
)

// Kinds of published filters.
const (
	File = "file" // one filter file
	Set  = "set"  // a sharded set: its manifest names the shards
	// Exact is one file with an exact set. Its Keys are the members, its rates are 0, and its Spec has the
	// size of the universe.
	Exact = "exact"
)

// object is a file in the folder objects.
type object struct {
	SHA256 shard.Sum `json:"sha256"`
	Bytes  uint64    `json:"bytes"` // its length, 1 to 2^53 - 1
}

// objectOf returns the object of a shard.
func objectOf(e shard.Entry) object { return object{e.SHA256, e.Bytes} }

// copyChecked copies r to w, and returns an error wrapping ErrObject unless the bytes are the object. It reads at most
// one byte more than the length of the object, and returns the cause of ctx soon after ctx ends.
func (o object) copyChecked(ctx context.Context, w io.Writer, r io.Reader) error {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), untrusted.Reader(ctx, io.LimitReader(r, int64(o.Bytes)+1)))
	if err != nil {
		return err
	}
	if uint64(n) != o.Bytes {
		return fmt.Errorf("%w: %d bytes or more, and the release names %d", ErrObject, n, o.Bytes)
	}
	if got := shard.Sum(sum.Sum(nil)); got != o.SHA256 {
		return fmt.Errorf("%w: SHA-256 %.8s, and the release names %.8s", ErrObject, got, o.SHA256)
	}
	return nil
}

// matches returns an error wrapping ErrObject unless b is the object.
func (o object) matches(b []byte) error {
	return o.copyChecked(context.Background(), io.Discard, bytes.NewReader(b))
}

// check returns an error unless the length is 1 to largest. A nil object is valid.
func (o *object) check(largest uint64) error {
	if o != nil && (o.Bytes == 0 || o.Bytes > largest) {
		return fmt.Errorf("%w: an object of %d bytes; want 1 to %d", ErrRelease, o.Bytes, largest)
	}
	return nil
}

// previous is the release before the current one.
type previous struct {
	Number uint64    `json:"release"`
	SHA256 shard.Sum `json:"sha256"`
	Delta  *object   `json:"delta,omitempty"` // from it to the current one; nil if none is smaller than the whole file
}

// Release describes the current state of a published filter. All numbers are at most 2^53 - 1.
type Release struct {
	Name      string    `json:"name"`        // name of the published filter; printable, 1 to 128 bytes
	Number    uint64    `json:"release"`     // 1 or more; each release has a higher one than the one before
	Published time.Time `json:"published"`   // UTC, whole seconds
	Expires   time.Time `json:"expires"`     // time of expiry, after Published
	Kind      string    `json:"kind"`        // File, Set or Exact
	SHA256    shard.Sum `json:"sha256"`      // SHA-256 of the file, or of the manifest of a set
	Bytes     uint64    `json:"bytes"`       // its length
	Total     uint64    `json:"total_bytes"` // bytes of the file, or of the manifest and all shards
	Spec      string    `json:"spec"`        // spec of the filter, or of each shard; to show, not to trust
	Keys      uint64    `json:"keys"`
	// FPRPlanned is the false-positive rate that the filter was sized for, or 0; FPRPosterior is the rate of the
	// filter.
	FPRPlanned   float64 `json:"fpr_planned"`
	FPRPosterior float64 `json:"fpr_posterior"`
}

// object returns the file, or the manifest of a set.
func (r *Release) object() object { return object{r.SHA256, r.Bytes} }

// record is a release.json: the release, and the data that a follower needs to update from an older one.
type record struct {
	Release
	Universe uint64    `json:"universe,omitempty"` // keys of the universe of an exact set
	Previous *previous `json:"previous,omitempty"` // nil in the first release
	History  *object   `json:"history,omitempty"`  // older releases, including Previous; nil if there are none
}

// check returns an error wrapping ErrRelease if a field is out of range.
func (r *record) check() error {
	switch {
	case !validName(r.Name):
		return fmt.Errorf("%w: name %.80q; want 1 to %d bytes of printable text", ErrRelease, r.Name, maxName)
	case r.Number == 0 || r.Number > maxNumber:
		return fmt.Errorf("%w: number %d", ErrRelease, r.Number)
	case !isWhole(r.Published) || !isWhole(r.Expires):
		return fmt.Errorf("%w: a time is not in the form %s", ErrRelease, timeForm)
	case !r.Expires.After(r.Published):
		return fmt.Errorf("%w: it expires before it is published", ErrRelease)
	case kinds[r.Kind].form == nil:
		return fmt.Errorf("%w: kind %.40q", ErrVersion, r.Kind)
	case r.Total < r.Bytes || r.Total > maxNumber || !kinds[r.Kind].folder && r.Total != r.Bytes:
		return fmt.Errorf("%w: %d bytes of %d in total", ErrRelease, r.Bytes, r.Total)
	case len(r.Spec) > maxSpec || !printable(r.Spec):
		return fmt.Errorf("%w: spec %.80q", ErrRelease, r.Spec)
	case r.Universe > maxNumber || r.Universe != 0 && r.Kind != Exact:
		return fmt.Errorf("%w: a universe of %d keys, kind %s", ErrRelease, r.Universe, r.Kind)
	case r.Keys > maxNumber || !family.ValidRate(r.FPRPlanned) || !family.MeasuredRate(r.FPRPosterior):
		return fmt.Errorf("%w: %d keys, rates %v and %v", ErrRelease, r.Keys, r.FPRPlanned, r.FPRPosterior)
	}

	o := r.object()
	if err := o.check(maxNumber); err != nil {
		return err
	}
	if p := r.Previous; p != nil {
		if p.Number == 0 || p.Number >= r.Number {
			return fmt.Errorf("%w: release %d after %d", ErrRelease, r.Number, p.Number)
		}
		if err := p.Delta.check(maxNumber); err != nil {
			return err
		}
	}
	return r.History.check(maxHistory)
}

// validName reports whether a release may have this name: 1 to maxName bytes of printable UTF-8.
func validName(name string) bool { return name != "" && len(name) <= maxName && printable(name) }

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c == utf8.RuneError || !unicode.IsPrint(c) })
}

// signaturesMark starts the line after the signed part of release.json.
const signaturesMark = "\n\"signatures\":"

// splitSigned divides release.json into the text that is signed, and the JSON object with the signatures.
func splitSigned(b []byte) (signed, tail []byte, err error) {
	switch {
	case len(b) > maxRelease:
		return nil, nil, fmt.Errorf("%w: %d bytes; want at most %d", ErrRelease, len(b), maxRelease)
	case !bytes.HasPrefix(b, []byte("{\n")) || !utf8.Valid(b):
		return nil, nil, fmt.Errorf("%w: it is not the text of a release", ErrRelease)
	// With two marks, readers could disagree about which bytes are signed.
	case bytes.Count(b, []byte(signaturesMark)) != 1:
		return nil, nil, fmt.Errorf("%w: it needs one line with signatures", ErrRelease)
	}

	// The text begins with "{\n", so the mark is not at offset 0.
	at := bytes.Index(b, []byte(signaturesMark))
	if b[at-1] != ',' {
		return nil, nil, fmt.Errorf("%w: there is no comma before its signatures", ErrRelease)
	}
	return b[:at], append([]byte("{"), b[at:]...), nil
}

// ParseRelease returns the content of release.json, which is untrusted: the caller checks its signatures with Verify.
// It reads only the signed part; the bytes after it have no effect. The error wraps ErrRelease or ErrVersion.
func ParseRelease(b []byte) (*Release, error) {
	r, err := parseRecord(b)
	if err != nil {
		return nil, err
	}
	return &r.Release, nil
}

// parseRecord is ParseRelease for all fields of release.json.
func parseRecord(b []byte) (*record, error) {
	signed, _, err := splitSigned(b)
	if err != nil {
		return nil, err
	}

	var r record
	// The signed part ends with a comma. A closing brace in its place makes it a JSON object that has no unsigned
	// bytes.
	if err := parseFormat(append(bytes.Clone(signed[:len(signed)-1]), "\n}"...), releaseFormat, &r); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	return &r, nil
}

// marshal returns release.json, with a signature of each key. The same content and keys give the same bytes. The error
// wraps ErrRelease if a field is out of range.
func (r *record) marshal(keys ...PrivateKey) ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}

	text, err := marshalLines(struct {
		header
		*record
	}{header{releaseFormat, formatVersion}, r})
	if err != nil {
		return nil, err
	}

	// The brace is cut off again, so that the signatures cover the exact bytes that parseRecord reads.
	signed := append(bytes.TrimSuffix(text, []byte("\n}")), ',')
	tail, err := json.Marshal(signAll(signed, keys))
	if err != nil {
		return nil, err
	}

	text = append(append(append(signed, signaturesMark...), tail...), "\n}\n"...)
	if len(text) > maxRelease {
		return nil, fmt.Errorf("%w: %d bytes; want at most %d", ErrRelease, len(text), maxRelease)
	}
	return text, nil
}

// header contains the first members of a release, a history and a state file.
type header struct {
	Format  string `json:"format"`
	Version uint64 `json:"version"`
}

const formatVersion = 1 // the version of releases, histories and state files

// timeForm is the only form of a time in a release.
const timeForm = "2006-01-02T15:04:05Z"

// parseFormat decodes a release or history. The error wraps ErrRelease or ErrVersion.
func parseFormat(b []byte, format string, v any) error {
	err := decode(b, format, v)
	if err != nil && !errors.Is(err, ErrVersion) {
		err = fmt.Errorf("%w: %w", ErrRelease, err)
	}
	return err
}

// decode decodes a JSON object that begins with the header of a format. The error wraps ErrVersion if it has a later
// version: it may then have fields that this program does not know.
func decode(b []byte, format string, v any) error {
	var h header
	err := strictjson.Unmarshal(b, &h, v)
	switch {
	case h.Format == format && h.Version > formatVersion:
		return fmt.Errorf("%w: version %d of %s", ErrVersion, h.Version, format)
	case err == nil && (h.Format != format || h.Version != formatVersion):
		return fmt.Errorf("format %.40q, version %d; want %q, version %d", h.Format, h.Version, format, formatVersion)
	}
	return err
}

// wholeSeconds returns a time whose JSON has timeForm.
func wholeSeconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// isWhole reports whether the JSON of a time has timeForm.
func isWhole(t time.Time) bool { return t == wholeSeconds(t) }

// marshalLines returns the JSON of a struct with one member per line, so that people can read and compare releases.
func marshalLines(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}

	var all [][]byte
	d := json.NewDecoder(bytes.NewReader(text))
	_, err = d.Token()
	for err == nil && d.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		all = append(all, fmt.Appendf(nil, "%q:%s", name, value))
	}
	return fmt.Appendf(nil, "{\n%s\n}", bytes.Join(all, []byte(",\n"))), err
}

// marshalTable returns a record with a list of rows, one per line.
func marshalTable[T any](format, list string, rows []T) ([]byte, error) {
	all := make([][]byte, len(rows))
	for i := range rows {
		line, err := json.Marshal(&rows[i])
		if err != nil {
			return nil, err
		}
		all[i] = append([]byte("\n"), line...)
	}
	return fmt.Appendf(nil, `{"format":%q,"version":%d,%q:[%s`+"\n]}\n", format, formatVersion, list,
		bytes.Join(all, []byte(","))), nil
}

// A state file ends with a checksum, so that a flipped bit does not change a release number unnoticed:
//
//	{"format":"...", ...,
//	"check":"0123456789abcdef"}
//
// The digits are the first 8 bytes of the SHA-256 of all bytes before the comma. An empty check is accepted, so that a
// file can be edited by hand.

const checkMark = ",\n\"check\":\""

var errSeal = errors.New(`its check is wrong: it was damaged; if you have changed it, write "check":""`)

// seal adds the check to a JSON object with at least one member.
func seal(text []byte) []byte {
	body := bytes.TrimSuffix(bytes.TrimRight(text, "\n"), []byte("}"))
	return append(append(append(bytes.Clone(body), checkMark...), checkOf(body)...), "\"}\n"...)
}

func checkOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:8])
}

// unseal returns a state file without its check. The error is errSeal if the check does not match.
func unseal(text []byte) ([]byte, error) {
	text = bytes.TrimRight(text, " \t\r\n")
	at := bytes.LastIndex(text, []byte(checkMark))
	if at < 0 {
		return nil, errSeal
	}
	if digits := string(text[at+len(checkMark):]); digits != `"}` && digits != checkOf(text[:at])+`"}` {
		return nil, errSeal
	}
	return append(bytes.Clone(text[:at]), '}'), nil
}

// parseState decodes a state file.
func parseState(b []byte, format string, v any) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return errors.New("it is empty: it was cut") // no writer writes an empty file
	}
	body, err := unseal(b)
	if err != nil {
		return err
	}
	return decode(body, format, v)
}
