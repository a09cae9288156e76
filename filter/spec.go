package filter

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxSpecLen is the length in bytes of the longest Spec that ParseSpec accepts.
const MaxSpecLen = 512

// Spec describes a filter as text: a family and parameters, such as
//
//	standard(bits_per_key=10,k=7)
//
// Names consist of a-z, 0-9 and _ and begin with a letter. Values consist of A-Z, a-z, 0-9 and "_.+-". No parameter
// appears twice. A family without parameters is written without parentheses. The canonical form, which String
// returns, has no spaces and sorts parameters by name. ParseSpec(s.String()) returns s.
//
// ParseSpec also reads a rate, fpr= or target=, in percent: fpr=0.1% becomes fpr=0.001.
//
// Two Specs are equal (==) if they have the same canonical form. Values are compared as text: 1e-3 and 0.001 differ.
//
// A Spec prints in its canonical form and is that form in JSON and text. The zero Spec is the empty text.
//
// The package comment lists the parameters that a family takes. The Spec of a built filter fixes its geometry: all
// sizes follow from it. A Spec is immutable: With returns another one.
type Spec struct {
	text string // the canonical form
}

// Param is one parameter of a Spec.
type Param struct {
	Name, Value string
}

// ParseSpec parses a Spec. Spaces around names, values and punctuation are allowed. The error wraps ErrSpec and gives
// the byte offset at which parsing failed.
func ParseSpec(text string) (Spec, error) {
	fail := func(at int, why string) (Spec, error) {
		if len(text) > 80 {
			text = text[:80] + "..."
		}
		return Spec{}, fmt.Errorf("%w %q: at byte %d: %s", ErrSpec, text, at, why)
	}
	if len(text) > MaxSpecLen {
		return fail(MaxSpecLen, fmt.Sprintf("longer than %d bytes", MaxSpecLen))
	}

	head, list, open := strings.Cut(text, "(")
	family := strings.Trim(head, " ")
	if !isName(family) {
		return fail(0, "want the name of a family, of a-z, 0-9 and _, such as standard")
	}
	if !open {
		return Spec{family}, nil
	}

	at := len(head) + 1
	list, rest, closed := strings.Cut(list, ")")
	if !closed {
		return fail(len(text), "want a closing parenthesis")
	}
	if strings.Trim(rest, " ") != "" {
		return fail(at+len(list)+1, "want nothing after the closing parenthesis")
	}
	if strings.Trim(list, " ") == "" {
		return Spec{family}, nil
	}

	var params []Param // sorted by name
	for item := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(item, "=")
		name, value = strings.Trim(name, " "), asNumber(strings.Trim(name, " "), strings.Trim(value, " "))
		i, twice := find(params, name)
		switch {
		case !isName(name):
			return fail(at, "want the name of a parameter, of a-z, 0-9 and _, with a letter first")
		case !ok || !isValue(value):
			return fail(at, fmt.Sprintf("parameter %s: want a value of A-Z, a-z, 0-9 and _.+-", name))
		case twice:
			return fail(at, fmt.Sprintf("parameter %s is given twice", name))
		}
		params = slices.Insert(params, i, Param{name, value})
		at += len(item) + 1
	}

	s := newSpec(family, params)
	if len(s.text) > MaxSpecLen { // a rate in percent is shorter than the number
		return fail(MaxSpecLen, fmt.Sprintf("longer than %d bytes", MaxSpecLen))
	}
	return s, nil
}

// asNumber returns a rate in percent, such as 0.1%, as a number, 0.001, and other values as they are.
func asNumber(name, value string) string {
	percent, ok := strings.CutSuffix(value, "%")
	if !ok || name != "fpr" && name != "target" || strings.Trim(percent, "0123456789.") != "" {
		return value
	}

	// Two decimal places less in the text are exact; a division by 100 would round 0.7% to 0.006999999999999999.
	rate, err := strconv.ParseFloat(percent+"e-2", 64)
	if err != nil {
		return value
	}
	return strconv.FormatFloat(rate, 'g', -1, 64)
}

// newSpec returns the Spec with these parameters, which are sorted by name.
func newSpec(family string, params []Param) Spec {
	var b strings.Builder
	b.WriteString(family)
	for i, p := range params {
		b.WriteByte("(,"[min(i, 1)])
		b.WriteString(p.Name)
		b.WriteByte('=')
		b.WriteString(p.Value)
	}
	if len(params) > 0 {
		b.WriteByte(')')
	}
	return Spec{b.String()}
}

// find returns the index of a parameter in a list sorted by name, and whether the list has it.
func find(params []Param, name string) (int, bool) {
	return slices.BinarySearchFunc(params, name, func(p Param, n string) int { return strings.Compare(p.Name, n) })
}

// String returns the canonical form.
func (s Spec) String() string { return s.text }

// Family returns the name of the family.
func (s Spec) Family() string {
	family, _, _ := strings.Cut(s.text, "(")
	return family
}

// Params returns the parameters, sorted by name.
func (s Spec) Params() []Param {
	_, list, ok := strings.Cut(s.text, "(")
	if !ok {
		return nil
	}
	params := make([]Param, 0, strings.Count(list, ",")+1)
	for item := range strings.SplitSeq(strings.TrimSuffix(list, ")"), ",") {
		name, value, _ := strings.Cut(item, "=")
		params = append(params, Param{name, value})
	}
	return params
}

// Param returns the value of a parameter, and whether it is given. It does not allocate.
func (s Spec) Param(name string) (value string, ok bool) {
	_, list, _ := strings.Cut(s.text, "(")
	for item := range strings.SplitSeq(strings.TrimSuffix(list, ")"), ",") {
		if is, value, ok := strings.Cut(item, "="); ok && is == name {
			return value, true
		}
	}
	return "", false
}

// With returns a copy of s with one parameter set to value. Values are strings, integers or floats. With does not check
// them: ParseSpec(s.String()) does.
func (s Spec) With(name string, value any) Spec {
	var v string
	switch value := value.(type) {
	case string:
		v = value
	case float64:
		v = strconv.FormatFloat(value, 'g', -1, 64)
	default:
		v = fmt.Sprint(value)
	}

	params := s.Params()
	i, ok := find(params, name)
	if ok {
		params[i].Value = v
	} else {
		params = slices.Insert(params, i, Param{name, v})
	}
	return newSpec(s.Family(), params)
}

// MarshalText returns the canonical form.
func (s Spec) MarshalText() ([]byte, error) { return []byte(s.text), nil }

// UnmarshalText sets s to ParseSpec of text, or to the zero Spec if text is empty. On error s is unchanged.
func (s *Spec) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = Spec{}
		return nil
	}
	p, err := ParseSpec(string(text))
	if err == nil {
		*s = p
	}
	return err
}

// The characters of names and values.
const (
	letters    = "abcdefghijklmnopqrstuvwxyz"
	nameChars  = letters + "0123456789_"
	valueChars = nameChars + "ABCDEFGHIJKLMNOPQRSTUVWXYZ.+-"
)

func isName(s string) bool {
	return s != "" && strings.Contains(letters, s[:1]) && strings.Trim(s, nameChars) == ""
}

func isValue(s string) bool { return s != "" && strings.Trim(s, valueChars) == "" }

// Effort limits the search of a family that fits its filter to the keys: by name, by passes over all keys, by time,
// or by the rate to reach. Set at most one field. The zero Effort is the level Default.
type Effort struct {
	Level  Level
	Passes int // over all keys, 1 to MaxPasses
	// Budget is the time for the whole Build, at least half of it for the search. The filter then depends
	// on the speed of the machine.
	Budget time.Duration
	Target float64 // the posterior false-positive rate to reach, with as few passes as possible, in (0, 1)
}

// Level names an Effort.
type Level string

// The levels. They search for 24, 64 and 2,500 passes over all keys: more passes give a lower false-positive rate.
const (
	Fast    Level = "fast"
	Default Level = "default"
	Max     Level = "max"
)

// Keep is the level without a search: the filter keeps the choices of the search of an earlier filter, so that filters
// of similar keys have similar bits. Only bloomery.Set.Optimizer takes it; other builds return an error wrapping
// ErrConfig.
const Keep Level = "keep"

// MaxPasses is the largest Effort.Passes. Searches stop improving far below it.
const MaxPasses = 1_000_000

// UselessFPR is the rate above which a filter without a planned rate counts as useless.
const UselessFPR = 0.5

// Limits of a false-positive rate.
const (
	// rateSlack is the factor by which a rate may exceed another without being counted as higher. With 2% more keys than
	// planned, a Bloom filter with a rate of 1% exceeds it by 10%.
	rateSlack = 1.1
	// spread bounds the natural logarithm of posterior/prior rate, times sqrt(keys/log2(1/rate)). One standard
	// deviation is 0.46 in a Bloom filter, since the number of set bits varies. It is larger in a blocked filter, whose
	// rate depends on its fullest blocks: the largest value seen was 8.6.
	spread = 12
)

// Exceeded reports whether the filter's false-positive rate is above FPRPlanned by more than a tenth. Without a planned
// rate it reports whether the rate is above UselessFPR, except for ValuesOnly filters, whose rate is always 1.
//
// The natural spread of a filter does not count: if few keys set more bits than usual, FPRPosterior can be a multiple
// of the rate although the size is right. FPRPrior is then not above the rate. Both must be above it, unless the
// posterior is far outside the spread for this number of keys. In families with a search only the posterior counts.
//
// To compare with another rate, set FPRPlanned first.
func (i Info) Exceeded() bool {
	rate := i.FPRPlanned
	if rate == 0 {
		return i.FPRPosterior > UselessFPR && !i.ValuesOnly()
	}

	high := rate * rateSlack
	switch {
	case i.FPRPosterior <= high:
		return false
	case i.FPRPrior > high || i.FillSearched > 0:
		return true
	}
	natural := spread * math.Sqrt(math.Log2(1/rate)/float64(max(i.Keys, 1)))
	return math.Log(i.FPRPosterior/rate) > natural
}
