package admission

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestPrintHidesSecret prints, logs and marshals a Doorkeeper and searches the text for the words of its secret and of
// the hash of a key, in hexadecimal and decimal.
func TestPrintHidesSecret(t *testing.T) {
	secret := filter.Secret{
		0xd3, 0x91, 0xa7, 0x5c, 0xe6, 0x2b, 0x84, 0xf9, 0x1d, 0xb8, 0x63, 0x4e, 0xc5, 0x97, 0x7a, 0xe2,
	}
	d := newTest(t, Config{Keys: 1_000_000, Hasher: filter.NewKeyedHasher(secret)})
	key := d.Hasher().SumString("a key")
	d.AdmitHash(key)
	words := []uint64{
		binary.LittleEndian.Uint64(secret[:8]), binary.LittleEndian.Uint64(secret[8:]),
		binary.BigEndian.Uint64(secret[:8]), binary.BigEndian.Uint64(secret[8:]), key.Hi, key.Lo,
	}
	var forbidden []string
	for _, w := range words {
		forbidden = append(forbidden, fmt.Sprintf("%x", w), fmt.Sprint(w), fmt.Sprint(int64(w)))
	}
	var text, lines bytes.Buffer
	logs := []*slog.Logger{slog.New(slog.NewTextHandler(&text, nil)), slog.New(slog.NewJSONHandler(&lines, nil))}
	for name, v := range map[string]any{
		"pointer": d, "value": *d, "slice": []Doorkeeper{*d},
		"field": struct{ Door *Doorkeeper }{d}, "field value": struct{ Door Doorkeeper }{*d},
	} {
		packed, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		text.Reset()
		lines.Reset()
		for _, l := range logs {
			l.Info("door", "door", v)
		}
		shown := map[string]string{"json": string(packed), "text log": text.String(), "json log": lines.String()}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%#x", "%80v"} {
			shown[verb] = fmt.Sprintf(verb, v)
		}
		for how, got := range shown {
			for _, f := range forbidden {
				if strings.Contains(strings.ToLower(got), f) {
					t.Errorf("%s of %s shows the secret: %s", how, name, got)
				}
			}
		}
	}

	const want = "admission.Doorkeeper(shards=62, bytes=2892672, keys=1000060)"
	for _, got := range []string{d.String(), d.GoString(), fmt.Sprint(d), fmt.Sprint(*d), fmt.Sprintf("%#v", d)} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	const object = `{"shards":62,"bytes":2892672,"keys":1000060}`
	if got, err := json.Marshal(d); err != nil || string(got) != object {
		t.Errorf("%s, %v, want %s", got, err, object)
	}
	text.Reset()
	logs[0].Info("", "door", d)
	if !strings.Contains(text.String(), "door.shards=62 door.bytes=2892672 door.keys=1000060") {
		t.Error(text.String())
	}
	if got := fmt.Sprint(Doorkeeper{}); got != "admission.Doorkeeper(shards=0, bytes=0, keys=0)" {
		t.Errorf("zero Doorkeeper: %s", got)
	}
	if got := fmt.Sprint((*Doorkeeper)(nil)); got != "<nil>" {
		t.Errorf("nil: %s", got)
	}
}
