package main

import (
	"bytes"
	"fmt"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/keyio"
)

// keyNote tells the owner of a list that many of its keys look like something else than keys. Such a filter answers no
// where its owner expects yes.
type keyNote struct {
	percent       int                   // smallest share of the keys that is worth a note
	isKind        func(key []byte) bool // whether a key is counted
	what          string                // the predicate of "of the keys"
	advice, flags string                // when to give which flags

	keys    int    // in the sample
	example string // the first one
}

// keySample examines a part of the keys of a build.
type keySample struct {
	keys  int
	notes []keyNote
}

const (
	// sampleKeys is the number of keys that are examined in each batch of thousands.
	sampleKeys = 256
	// fewestNoted is the number of keys in a sample from which on they are no accident.
	fewestNoted = 3
)

// newKeySample returns a sample of keys that are read with these flags.
func newKeySample(in inputFlags) (s keySample) {
	format := keyio.Format(in.format)
	if in.null || format == keyio.Null || format == keyio.Hex { // names of files, and keys of any bytes
		return s
	}

	note := func(percent int, isKind func(key []byte) bool, what, advice, flags string) {
		s.notes = append(s.notes, keyNote{percent: percent, isKind: isKind, what: what, advice: advice, flags: flags})
	}
	if in.comments == "" {
		note(1, isComment, "look like comments", "To leave comments out", "--comments '#'")
	}
	if format == keyio.Lines {
		note(1, isObject, "are JSON objects", "If keys are members", "--input-format jsonl --column NAME")
		note(1, isColumns, "have blanks inside", "If keys are a column", "--input-format fields --column 2")
		note(1, isCounted, "end in a number", "If it is no part of the key", "--input-format fields --delimiter :")
	}
	note(1, isUntrimmed, "begin or end in a blank", "To cut blanks off", "--trim")
	const hasUpper, ignore = "have upper-case letters", "To ignore the case"
	note(1, isUpperName, hasUpper, ignore, "--lower")
	note(50, isUpper, hasUpper, ignore, "--lower")
	return s
}

// look examines some keys of a batch, as they are in the input.
func (s *keySample) look(b *keyio.Batch) error {
	step := len(b.Keys)/sampleKeys | 1 // odd, in case that every second line is of another kind
	for i := 0; i < len(b.Keys); i += step {
		s.keys++
		for j := range s.notes {
			if n := &s.notes[j]; n.isKind(b.Text(i)) {
				if n.keys++; n.keys == 1 {
					n.example = string(b.Text(i))
				}
			}
		}
	}
	return nil
}

// noteKeys prints what many keys of a sample have in common, and keeps it for reports.
func (a *app) noteKeys(s keySample) {
	last := ""
	for _, n := range s.notes {
		if n.keys < fewestNoted || 100*n.keys < n.percent*s.keys || n.flags == last {
			continue
		}
		last = n.flags
		a.keyNotes = append(a.keyNotes, object{{"what", n.what}, {"share", float64(n.keys) / float64(s.keys)},
			{"example", n.example}, {"flags", n.flags}})

		text := fmt.Sprintf("note: %d%% of the keys %s: ", 100*n.keys/s.keys, n.what)
		example := fmt.Sprintf("%+q", n.example)
		if most := cli.Columns - len("bloomery: "+text); len(example) > most {
			example = example[:most-4] + `..."`
		}
		a.note("%s%s\n  %s: %s", text, example, n.advice, n.flags)
	}
}

// upper and lower are the letters that --lower reads as each other.
const upper, lower = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"

func isComment(key []byte) bool {
	at := bytes.IndexByte(key, '#')
	return at == 0 || at > 0 && (key[at-1] == ' ' || key[at-1] == '\t')
}

func isUntrimmed(key []byte) bool { return len(keyio.Prepare(key, true, false)) < len(key) }

func isObject(key []byte) bool {
	return bytes.HasPrefix(key, []byte(`{"`)) && bytes.HasSuffix(key, []byte("}"))
}

// isColumns reports whether a key has blanks inside, and is not of a kind above.
func isColumns(key []byte) bool {
	return bytes.ContainsAny(bytes.Trim(key, " \t"), " \t") && !isComment(key) && !isObject(key)
}

// isCounted reports whether a key ends in a colon and a number. With more colons it is an address of IPv6, or a time.
func isCounted(key []byte) bool {
	name, number, _ := bytes.Cut(key, []byte{':'})
	return len(name) > 0 && len(number) > 0 && len(bytes.Trim(number, "0123456789")) == 0
}

// isUpper reports whether all letters of a key are in upper case.
func isUpper(key []byte) bool { return bytes.ContainsAny(key, upper) && !bytes.ContainsAny(key, lower) }

// isUpperName reports whether a key is a domain or a digest in upper case, or an e-mail address with such a letter.
// Their case means nothing, unlike the case of a password or an identifier.
func isUpperName(key []byte) bool {
	name, _, _ := bytes.Cut(key, []byte{':'})
	isMail := bytes.IndexByte(name, '@') > 0 && !bytes.ContainsAny(name, "/ ")
	isDomain := bytes.IndexByte(name, '.') > 0
	isDigest := len(name) >= 16 && len(bytes.Trim(name, "0123456789ABCDEF")) == 0
	return isUpper(name) && (isDomain || isDigest) || isMail && bytes.ContainsAny(name, upper)
}
