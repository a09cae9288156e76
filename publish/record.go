package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bloomery/bloomery/internal/strictjson"
)

// header has the first members of a release, a history and a state file.
type header struct {
	Format  string `json:"format"`
	Version uint64 `json:"version"`
}

const formatVersion = 1 // of each of them

// timeForm is the only form of a time in a release.
const timeForm = "2006-01-02T15:04:05Z"

// parse decodes a release or history. The error wraps ErrRelease or ErrVersion.
func parse(b []byte, format string, v any) error {
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

// lines returns the JSON of a struct with one member per line.
func lines(v any) ([]byte, error) {
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

// table returns a record with a list of rows, one a line.
func table[T any](format, list string, rows []T) ([]byte, error) {
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

// A state file ends with a check, so that one flipped bit does not become another release number:
//
//	{"format":"...", ...,
//	"check":"0123456789abcdef"}
//
// The digits are the first 8 bytes of the SHA-256 of all bytes before the comma. An empty check belongs to a file that
// was changed by hand, and is accepted.

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

// unseal returns a state file without its check. The error is errSeal if the check does not belong to it.
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
		return errors.New("it is empty: it was cut") // no writer leaves an empty one
	}
	body, err := unseal(b)
	if err != nil {
		return err
	}
	return decode(body, format, v)
}
