package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// parseRate reads a false-positive rate such as 0.01 or 1%.
func parseRate(flag, text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
		if exact, err := strconv.ParseFloat(number+"e-2", 64); err == nil { // 0.7/100 is 0.006999999999999999
			v = exact
		}
	}
	if err != nil || v == 0 || !family.ValidRate(v) {
		meant := ""
		if err == nil && !percent {
			meant = family.MeantRate(v)
		}
		return 0, fmt.Errorf("%s %q: want a rate between 0 and 1, such as 0.01 or 1%%%s", flag, text, meant)
	}
	return v, nil
}

// parseBytes reads a size above 0, such as 65536, 64KiB or 10MB.
func parseBytes(flag, text string) (uint64, error) {
	v, ok := parseWhole(strings.TrimSuffix(strings.TrimSpace(text), "B"))
	if !ok || v == 0 {
		return 0, fmt.Errorf("%s %q: want a size above 0, such as 65536, 64KiB or 10MB", flag, text)
	}
	return v, nil
}

// parseCount reads a number of keys such as 10M.
func parseCount(flag, text string) (uint64, error) {
	v, ok := parseWhole(strings.TrimSpace(text))
	if !ok {
		return 0, fmt.Errorf("%s %q: want a whole number, such as 65536, 10M or 64Ki", flag, text)
	}
	return v, nil
}

// parseKeys reads a number of keys above 0.
func parseKeys(flag, text string) (uint64, error) {
	n, err := parseCount(flag, text)
	if err == nil && n == 0 {
		err = fmt.Errorf("%s %s: want a number above 0", flag, text)
	}
	return n, err
}

// units of counts and sizes: k, M, G and T are powers of 1000; ki, Mi, Gi and Ti are powers of 1024.
var units = map[string]float64{
	"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
	"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40,
}

// parseWhole reads a whole number with a unit. It returns false above 2^63 with a unit, and from 2^64 on without one.
func parseWhole(text string) (uint64, bool) {
	number := strings.TrimRight(text, "kKMGTi")
	if v, err := strconv.ParseUint(number, 10, 64); err == nil && number == text {
		return v, true
	}
	v, err := strconv.ParseFloat(number, 64)
	unit, known := units[text[len(number):]]
	v *= unit
	return uint64(v), err == nil && known && v >= 0 && v < 1<<63 && v == math.Trunc(v)
}

// parseSpan reads a time span above 0 in days, such as 7d, or in the format of Go, such as 36h.
func parseSpan(flag, text string) (time.Duration, error) {
	span, err := time.ParseDuration(text)
	if number, days := strings.CutSuffix(text, "d"); days {
		var n float64
		n, err = strconv.ParseFloat(number, 64)
		if span = time.Duration(n * float64(24*time.Hour)); !(n < 100*365) {
			span = -1
		}
	}
	if err != nil || span <= 0 {
		return 0, fmt.Errorf("%s %q: want a time above 0, such as 90s, 36h or 7d", flag, text)
	}
	return span, nil
}

// parseHash reads the name of a hash function of another system.
func parseHash(flag, name string) (filter.HashID, error) {
	var names []string
	for id := filter.XXH64; family.Foreign(id); id++ {
		if id.String() == name {
			return id, nil
		}
		names = append(names, id.String())
	}
	return 0, fmt.Errorf("%s %q: there are %s", flag, name, strings.Join(names, ", "))
}

// maxSecret is the largest size in bytes of a file with a secret.
const maxSecret = 4096

// readSecret reads a secret from a file, or a pipe, of 32 hex digits.
func readSecret(ctx context.Context, path string) (*filter.Secret, error) {
	text, err := untrusted.ReadFile(ctx, path, untrusted.Limit{MaxBytes: maxSecret, Streams: true})
	if err != nil {
		return nil, fmt.Errorf("--secret-file: %w", err)
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(b) != filter.SecretSize {
		return nil, fmt.Errorf("--secret-file %s: it does not hold a secret of 32 hex digits; make one with: openssl rand -hex 16",
			path)
	}
	return (*filter.Secret)(b), nil
}

// parseDelimiter parses the character between the fields of CSV. A tab may be written as \t.
func parseDelimiter(text string) (rune, error) {
	if text == `\t` {
		return '\t', nil
	}
	d, size := utf8.DecodeRuneInString(text)
	if d == utf8.RuneError || size != len(text) || strings.ContainsRune("\x00\"\r\n", d) {
		return 0, errors.New(`want one character such as ";" or "\t", and no quote`)
	}
	return d, nil
}
