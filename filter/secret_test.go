package filter

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
)

// testSecret consists of words that print with all their digits, so that a search for them finds nothing by chance.
var testSecret = Secret{
	0xA1, 0x9B, 0xC3, 0xD5, 0xE7, 0xF9, 0x8A, 0x9C, 0xB2, 0xC4, 0xD6, 0xE8, 0xFA, 0x8B, 0x9D, 0xAF,
}

// holder is a struct of a user. fmt prints its fields by reflection, without the methods of Hasher.
type holder struct {
	hidden Hasher
	ref    *Hasher
	list   []Hasher
	Shown  Hasher
	Any    any
}

// TestSecretIsNotPrinted prints hashers, and structs that contain one, in all formats of logs, and searches the output
// for the secret.
func TestSecretIsNotPrinted(t *testing.T) {
	h := NewKeyedHasher(testSecret)
	in := holder{hidden: h, ref: &h, list: []Hasher{h}, Shown: h, Any: h}
	var texts []string
	for _, v := range []any{
		h, &h, []Hasher{h}, [1]Hasher{h}, map[string]Hasher{"h": h}, map[Hasher]int{h: 1}, in, &in, []holder{in},
	} {
		for _, verb := range strings.Split("v +v #v T s q +q #q x X #x d +d o b c U t e p 40v -40s .3v", " ") {
			texts = append(texts, fmt.Sprintf("%"+verb, v))
		}
		texts = append(texts, fmt.Sprint(v), fmt.Errorf("hasher: %v", v).Error())
		var log bytes.Buffer
		o := &slog.HandlerOptions{AddSource: true}
		slog.New(slog.NewTextHandler(&log, o)).Info("m", "v", v, slog.Group("g", "v", v))
		slog.New(slog.NewJSONHandler(&log, o)).Info("m", "v", v, slog.Group("g", "v", v))
		texts = append(texts, log.String())
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%T: %v", v, err)
		}
		texts = append(texts, string(b))
	}

	var needles []string
	all := testSecret[:]
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, w := range []uint64{order.Uint64(all[:8]), order.Uint64(all[8:])} {
			for _, base := range []int{2, 8, 10, 16} {
				needles = append(needles, strconv.FormatUint(w, base), strconv.FormatInt(int64(w), base))
			}
		}
	}
	list := strings.Trim(fmt.Sprint(all), "[]")
	needles = append(needles, hex.EncodeToString(all), list, strings.ReplaceAll(list, " ", ","),
		base64.StdEncoding.EncodeToString(all), string(all[:8]), string(all[8:]))
	for _, text := range texts {
		low := strings.ToLower(text)
		for _, n := range needles {
			if strings.Contains(low, strings.ToLower(n)) {
				t.Errorf("%q has the secret as %q", text, n)
			}
		}
	}
}

// TestHasherPrints checks the text that a Hasher prints.
func TestHasherPrints(t *testing.T) {
	keyed, foreign := NewKeyedHasher(testSecret), Hasher{kind: uint64(Murmur3)}
	check := fmt.Sprintf("siphash-128(check=%016x)", keyed.KeyCheck())
	for want, h := range map[string]Hasher{
		"xxh3-128(seed=7)": NewHasher(7), check: keyed, "murmur3-x64-128": foreign, "hash(0)": {},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
			if got := fmt.Sprintf(verb, h); got != want {
				t.Errorf("%s prints %q, want %q", verb, got, want)
			}
		}
		if got := fmt.Sprintf("%30v|%-30s|", h, h); got != fmt.Sprintf("%30s|%-30s|", want, want) {
			t.Errorf("with a width: %q", got)
		}
		if got, err := json.Marshal(h); err != nil || string(got) != strconv.Quote(want) {
			t.Errorf("in JSON: %s, %v", got, err)
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", h)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "v", h)
		quoted := strconv.Quote(want)
		if !strings.Contains(want, "=") { // text logs quote values that contain "="
			quoted = want
		}
		for _, part := range []string{"v=" + quoted + "\n", `"v":` + strconv.Quote(want)} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("the logs lack %q: %s", part, log.String())
			}
		}
	}
}

// TestMask checks that the masks of two secrets differ, so that their XOR does not give the XOR of the secrets.
func TestMask(t *testing.T) {
	other := testSecret
	other[0]++
	x, y := NewKeyedHasher(testSecret), NewKeyedHasher(other)
	xa, xb := x.secret()
	if xa != binary.LittleEndian.Uint64(testSecret[:8]) || xb != binary.LittleEndian.Uint64(testSecret[8:]) {
		t.Error("the secret does not come back")
	}
	if x.a == xa || x.b == xb || x.a^y.a == 1 || x.b == y.b {
		t.Error("the words are not masked, or two secrets have one mask")
	}
	if again := NewKeyedHasher(testSecret); again != x || x == y {
		t.Error("hashers of one secret differ, or of two are equal")
	}
}

// TestSecretShown checks that a Secret is printed as REDACTED wherever its methods are called.
func TestSecretShown(t *testing.T) {
	s := testSecret
	for what, v := range map[string]any{
		"value": s, "pointer": &s, "field": struct{ S Secret }{s}, "field pointer": struct{ S *Secret }{&s},
		"slice": []Secret{s}, "map": map[string]*Secret{"k": &s},
	} {
		var shown bytes.Buffer
		slog.New(slog.NewTextHandler(&shown, nil)).Info("", "v", v)
		slog.New(slog.NewJSONHandler(&shown, nil)).Info("", "v", v)
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(b)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%b", "%08v"} {
			fmt.Fprintf(&shown, verb+"\n", v)
		}
		text := strings.ToLower(shown.String())
		for _, bytes := range []string{"a19bc3d5", "161 155", "161, 155", "161,155", "0xa1, 0x9b", "a1 9b", "oZvD1ef5"} {
			if strings.Contains(text, strings.ToLower(bytes)) {
				t.Errorf("%s shows %q in %s", what, bytes, text)
			}
		}
		if !strings.Contains(text, "redacted") {
			t.Errorf("%s is not shown as REDACTED: %s", what, text)
		}
	}
	if a, b := NewSecret(), NewSecret(); *a == *b {
		t.Error("two secrets are equal")
	}
}
