package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// A state file ends with a check, so that one flipped bit does not become another release number:
//
//	{"format":"...", ...,
//	"check":"0123456789abcdef"}
//
// The digits are the first 8 bytes of the SHA-256 of all bytes before the comma. A file without a check is of an older
// version, and an empty check belongs to a file that was changed by hand. Both are accepted.

// checkMark is what stands before the digits.
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

// checkSeal returns an error if a file has a check that does not belong to it.
func checkSeal(text []byte) error {
	text = bytes.TrimRight(text, " \t\r\n")
	at := bytes.LastIndex(text, []byte(checkMark))
	if at < 0 {
		return nil
	}
	if digits := string(text[at+len(checkMark):]); digits != `"}` && digits != checkOf(text[:at])+`"}` {
		return errSeal
	}
	return nil
}
