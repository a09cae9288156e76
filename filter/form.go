package filter

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// KeyForm says how values became the bytes that were hashed as keys. It is part of a Hasher and of files. The zero
// KeyForm says nothing: keys are bytes as they are.
type KeyForm struct {
	// Trim means that blanks around each key were removed, and Lower that its letters A to Z were lowered, before it
	// was hashed. Both tell what a program did with its input: a Hasher does nothing of it.
	Trim, Lower bool

	Type  KeyType
	Scale uint8 // decimal digits after the point, in the types of decimals
	Width uint8 // bytes of a key, for KeyFixed and KeyDecimal; 0 for KeyDecimal: as few as the number needs
}

// KeyType is the type of the values whose encoding is hashed. The values are part of the file format.
type KeyType uint8

// The types of keys. Their names in texts are bytes, text, int32, ..., decimal and fixed.
const (
	KeyBytes     KeyType = iota // bytes of any meaning; an integer is 8 bytes, little endian
	KeyText                     // bytes of a text; an integer is its decimal digits
	KeyInt32                    // 4 bytes, little endian
	KeyUint32                   // 4 bytes, little endian
	KeyInt64                    // 8 bytes, little endian
	KeyUint64                   // 8 bytes, little endian
	KeyDate                     // days since 1970-01-01 as KeyInt32
	KeyDecimal32                // a decimal number times 10^Scale as KeyInt32
	KeyDecimal64                // a decimal number times 10^Scale as KeyInt64
	KeyDecimal                  // a decimal number times 10^Scale in two's complement, big endian
	KeyFixed                    // Width bytes of a type that nothing is converted to, such as a UUID
)

var typeNames = [...]string{"bytes", "text", "int32", "uint32", "int64", "uint64", "date", "decimal32", "decimal64",
	"decimal", "fixed"}

// String returns the form as ParseKeyForm reads it: "bytes" for the zero KeyForm.
func (f KeyForm) String() string {
	var words []string
	if f.Trim {
		words = append(words, "trim")
	}
	if f.Lower {
		words = append(words, "lower")
	}

	switch {
	case int(f.Type) >= len(typeNames):
		words = append(words, fmt.Sprintf("type(%d)", f.Type))
	case f.Type != KeyBytes || len(words) == 0:
		words = append(words, typeNames[f.Type])
	}
	if f.Scale != 0 {
		words = append(words, fmt.Sprintf("scale=%d", f.Scale))
	}
	if f.Width != 0 {
		words = append(words, fmt.Sprintf("width=%d", f.Width))
	}
	return strings.Join(words, ",")
}

// ParseKeyForm reads words with commas between them: trim, lower, the name of a type, scale= and width=, as in "trim",
// "int32" or "decimal,scale=2,width=16". An empty text is the zero KeyForm. The error wraps ErrConfig.
func ParseKeyForm(text string) (f KeyForm, err error) {
	if text == "" {
		return f, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(word, "=")
		n, bad := strconv.ParseUint(number, 10, 8)
		switch i := slices.Index(typeNames[:], word); {
		case i >= 0 && f.Type == KeyBytes:
			f.Type = KeyType(i)
		case word == "trim":
			f.Trim = true
		case word == "lower":
			f.Lower = true
		case name == "scale" && bad == nil:
			f.Scale = uint8(n)
		case name == "width" && bad == nil:
			f.Width = uint8(n)
		default:
			return KeyForm{}, &ConfigError{"key form", text, fmt.Sprintf("%q is not trim, lower, scale=, width= or one of %s",
				word, strings.Join(typeNames[:], ", "))}
		}
	}
	return f, f.check()
}

// check returns an error unless the type is known and has these parameters.
func (f KeyForm) check() error {
	decimal := f.Type >= KeyDecimal32 && f.Type <= KeyDecimal
	switch {
	case int(f.Type) >= len(typeNames):
		return &ConfigError{"key form", f, "this program does not know the type"}
	case f.Scale != 0 && !decimal:
		return &ConfigError{"key form", f, "only decimals have a scale"}
	case f.Type == KeyFixed && f.Width == 0, f.Width != 0 && f.Type != KeyDecimal && f.Type != KeyFixed:
		return &ConfigError{"key form", f, "decimal and fixed have a width, and fixed needs it"}
	}
	return nil
}

// formBits are the bits of Hasher.kind for the KeyForm: its flags and type, its scale and its width in 8 bits each.
const formBits = 0xffffff00

// WithForm returns h for keys of a form. The error wraps ErrConfig if a parameter of the form does not belong to its
// type.
func (h Hasher) WithForm(f KeyForm) (Hasher, error) {
	kind := uint64(f.Type)<<10 | uint64(f.Scale)<<16 | uint64(f.Width)<<24
	if f.Trim {
		kind |= 1 << 8
	}
	if f.Lower {
		kind |= 2 << 8
	}
	h.kind = h.kind&^formBits | kind&formBits
	return h, f.check()
}

// Form returns the form of the keys.
func (h Hasher) Form() KeyForm {
	flags := h.kind >> 8
	return KeyForm{Trim: flags&1 != 0, Lower: flags&2 != 0, Type: KeyType(flags >> 2 & 63), Scale: uint8(h.kind >> 16),
		Width: uint8(h.kind >> 24)}
}

// AppendUint64 appends the key of an integer to dst: for KeyBytes and the types without a sign the bytes of the number,
// for KeyText its decimal digits, and for the other types the key of int64(key), which may be negative: a number of
// days for KeyDate, a whole number for decimals. The error wraps ErrKeyType if the type has no such value; dst is then
// returned.
func (f KeyForm) AppendUint64(dst []byte, key uint64) ([]byte, error) {
	signed := int64(key)
	switch f.Type {
	case KeyBytes, KeyInt64, KeyUint64:
		return binary.LittleEndian.AppendUint64(dst, key), nil
	case KeyText:
		return strconv.AppendUint(dst, key, 10), nil
	case KeyDecimal32, KeyDecimal64, KeyDecimal:
		return f.AppendText(dst, strconv.FormatInt(signed, 10))
	}
	if low := uint32(key); f.Type == KeyUint32 && uint64(low) == key ||
		(f.Type == KeyInt32 || f.Type == KeyDate) && int64(int32(low)) == signed {
		return binary.LittleEndian.AppendUint32(dst, low), nil
	}
	return dst, fmt.Errorf("%d is %w: %s", signed, ErrKeyType, f)
}

// AppendText appends the key of a value in text form to dst: for KeyBytes and KeyText the text itself, else a number
// such as -12 or, for decimals, 12.50, and a date such as 2026-11-29. A text for KeyFixed must have Width bytes. The
// error wraps ErrKeyType if the type has no such value; dst is then returned.
func (f KeyForm) AppendText(dst []byte, text string) ([]byte, error) {
	le, number, width := binary.LittleEndian, text, 64
	switch f.Type {
	case KeyBytes, KeyText:
		return append(dst, text...), nil
	case KeyFixed:
		if len(text) == int(f.Width) {
			return append(dst, text...), nil
		}
	case KeyDate:
		if day, err := time.Parse(time.DateOnly, text); err == nil {
			return le.AppendUint32(dst, uint32(day.Unix()/(24*60*60))), nil
		}
	case KeyUint32, KeyUint64:
		if f.Type == KeyUint32 {
			width = 32
		}
		if v, err := strconv.ParseUint(text, 10, width); err == nil {
			return le.AppendUint64(dst, v)[:len(dst)+width/8], nil
		}
	case KeyDecimal32, KeyDecimal64, KeyDecimal:
		if number = unscaled(text, int(f.Scale)); f.Type == KeyDecimal {
			if dst, ok := f.appendBig(dst, number); ok {
				return dst, nil
			}
			break
		}
		fallthrough
	default:
		if f.Type == KeyInt32 || f.Type == KeyDecimal32 {
			width = 32
		}
		if v, err := strconv.ParseInt(number, 10, width); err == nil {
			return le.AppendUint64(dst, uint64(v))[:len(dst)+width/8], nil
		}
	}
	return dst, fmt.Errorf("%.80q is %w: %s", text, ErrKeyType, f)
}

// unscaled returns the digits of a decimal number times 10^scale, or an invalid number if that is not whole.
func unscaled(text string, scale int) string {
	whole, rest, _ := strings.Cut(text, ".")
	rest = strings.TrimRight(rest, "0")
	if len(rest) > scale || strings.ContainsAny(rest, "+-") || strings.Trim(whole, "+-")+rest == "" {
		return ""
	}
	return whole + rest + strings.Repeat("0", scale-len(rest))
}

// appendBig appends a whole number in two's complement, big endian, in Width bytes or in the fewest. It does without
// math/big, which every program that opens a filter would link.
func (f KeyForm) appendBig(dst []byte, number string) ([]byte, bool) {
	var b [math.MaxUint8 + 1]byte // one byte more than the longest key
	digits, isNegative := strings.CutPrefix(number, "-")
	if !isNegative {
		digits, _ = strings.CutPrefix(digits, "+")
	}
	if digits == "" || len(number) > 1000 { // longer than every Width, and slow to read
		return dst, false
	}
	for _, c := range []byte(digits) {
		carry := uint(c) - '0'
		if carry > 9 {
			return dst, false
		}
		for i := len(b) - 1; i >= 0; i-- {
			carry += 10 * uint(b[i])
			b[i], carry = byte(carry), carry>>8
		}
		if b[0] != 0 {
			return dst, false
		}
	}

	sign := byte(0)
	if isNegative && b != [len(b)]byte{} {
		sign = math.MaxUint8
		carry := uint(1)
		for i := len(b) - 1; i >= 0; i-- {
			carry += uint(^b[i])
			b[i], carry = byte(carry), carry>>8
		}
	}
	start := 1 // of the fewest bytes: a byte that only repeats the sign is not needed
	for start < len(b)-1 && b[start] == sign && (b[start+1]^sign) < 0x80 {
		start++
	}
	width := cmp.Or(int(f.Width), len(b)-start)
	if width < len(b)-start || (b[start]^sign) >= 0x80 {
		return dst, false
	}
	return append(dst, b[len(b)-width:]...), true
}
