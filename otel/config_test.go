package otel

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

func TestConfigStruct(t *testing.T) {
	check(t, componenttest.CheckConfigStruct(NewFactory().CreateDefaultConfig()))
}

// TestConfig reads configurations as the Collector does.
func TestConfig(t *testing.T) {
	good := map[string]any{"ttl": "24h", "keys": 1000, "key": `attributes["id"]`}
	with := func(changes ...any) map[string]any {
		all := map[string]any{}
		for k, v := range good {
			all[k] = v
		}
		for i := 0; i < len(changes); i += 2 {
			if all[changes[i].(string)] = changes[i+1]; changes[i+1] == nil {
				delete(all, changes[i].(string))
			}
		}
		return all
	}
	for _, c := range []struct {
		in   map[string]any
		says string
	}{
		{good, ""},
		{with("key", "trace_id, span_id"), ""},
		{with("key", []any{`resource.attributes["a,b"]`, "body"}, "refresh", true, "state", "/x", "fpr", 1e-9), ""},
		{with("ttl", nil), "ttl is missing"},
		{with("ttl", "1us"), "ttl 1µs: want 1ms or more"},
		{with("ttl", "-1h"), "ttl -1h0m0s"},
		{with("keys", nil), "keys is missing"},
		{with("keys", uint64(1)<<40), "keys 1099511627776: want at most 68719476736"},
		{with("keys", []any{"id"}), "keys"},
		{with("fpr", 0), "fpr 0: want"},
		{with("fpr", 0.6), "fpr 0.6: want"},
		{with("fpr", math.NaN()), "fpr NaN: want"},
		{with("save_interval", 0), "save_interval 0s"},
		{with("key", nil), "key is missing"},
		{with("key", "event.id"), "key: event.id: want attributes["},
		{with("key", "attributes[id]"), "key: attributes[id]: want"},
		{with("key", `attributes[""]`), "want"},
		{with("key", `attributes["id"`), "want"},
		{with("key", `resource.body`), "want"},
		{with("time_to_live", "1h"), "time_to_live"},
		{with("ttl", nil, "keys", nil, "key", "x"), "ttl is missing"},
		{with("ttl", nil, "keys", nil, "key", "x"), "keys is missing"},
		{with("ttl", nil, "keys", nil, "key", "x"), "key: x: want"},
	} {
		config := defaultConfig()
		err := confmap.NewFromStringMap(c.in).Unmarshal(config)
		if err == nil {
			err = config.Validate()
		}
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.in, err, c.says)
		}
	}

	config := defaultConfig()
	check(t, confmap.NewFromStringMap(with("key", `trace_id, attributes["a"]`)).Unmarshal(config))
	if config.TTL != 24*time.Hour || config.Keys != 1000 || config.FPR != 0.001 || config.SaveInterval != 30*time.Second ||
		!slices.Equal(config.Key, []string{"trace_id", ` attributes["a"]`}) {
		t.Errorf("%+v", config)
	}
}

// TestKeys compares the keys of records: equal texts in equal places are equal keys, and nothing else is.
func TestKeys(t *testing.T) {
	record := func(set func(resource, attributes pcommon.Map, body pcommon.Value)) fields {
		f := fields{resource: pcommon.NewMap(), attributes: pcommon.NewMap(), body: pcommon.NewValueEmpty()}
		set(f.resource, f.attributes, f.body)
		return f
	}
	strings := func(a, b string) fields {
		return record(func(r, m pcommon.Map, body pcommon.Value) {
			r.PutStr("a", a)
			m.PutStr("b", b)
			body.SetStr(a + b)
		})
	}
	number := record(func(r, m pcommon.Map, body pcommon.Value) {
		r.PutInt("a", 1)
		m.PutDouble("b", 2)
		body.SetInt(12)
	})
	ordered := func(names ...string) fields {
		return record(func(_, _ pcommon.Map, body pcommon.Value) {
			m := body.SetEmptyMap()
			for _, name := range names {
				m.PutStr(name, "of "+name)
			}
		})
	}
	empty := record(func(_, m pcommon.Map, _ pcommon.Value) { m.PutEmpty("b") })
	traced := fields{resource: pcommon.NewMap(), attributes: pcommon.NewMap(), trace: pcommon.TraceID{0xab}}

	both := []string{`resource.attributes["a"]`, `attributes["b"]`}
	for _, c := range []struct {
		key   []string
		x, y  fields
		equal bool
	}{
		{both, strings("1", "2"), strings("1", "2"), true},
		{both, strings("1", "2"), number, true}, // by their text
		{both, strings("1", "23"), strings("12", "3"), false},
		{both, strings("1", "2"), strings("1", "3"), false},
		{[]string{"body"}, strings("1", "23"), strings("12", "3"), true},
		{[]string{"body"}, strings("1", "2"), number, true},
		{[]string{"body"}, ordered("p", "q"), ordered("q", "p"), true},
		{[]string{"body"}, ordered("p", "q"), ordered("p"), false},
	} {
		k, err := newKeyReader(c.key)
		check(t, err)
		x, ok, _ := k.hash(c.x, nil)
		y, also, _ := k.hash(c.y, []byte("room"))
		if !ok || !also || (x == y) != c.equal {
			t.Errorf("%v: %v and %v", c.key, x, y)
		}
	}

	for _, c := range []struct {
		key  string
		f    fields
		text string // of the key; empty if there is none
	}{
		{"body", empty, ""}, {`attributes["b"]`, empty, ""}, {`attributes["c"]`, strings("1", "2"), ""},
		{`attributes["b"]`, strings("1", ""), ""}, {"trace_id", empty, ""}, {"span_id", traced, ""},
		{"body", number, "12"}, {"trace_id", traced, "ab000000000000000000000000000000"},
		{`attributes["b"]`, strings("1", "text"), "text"},
	} {
		k, err := newKeyReader([]string{c.key})
		check(t, err)
		h, ok, _ := k.hash(c.f, nil)
		if ok != (c.text != "") || ok && h != k.hasher.SumString(c.text) {
			t.Errorf("%s: %v, want the key %q", c.key, ok, c.text)
		}
	}
}

// TestReadme reads the configurations in README.md.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	check(t, err)
	blocks := strings.Split(string(text), "```yaml\n")[1:]
	if len(blocks) != 2 {
		t.Fatalf("%d blocks", len(blocks))
	}
	config := defaultConfig()
	for i, from := range []string{"processors::dedup", ""} {
		yaml, _, _ := strings.Cut(blocks[i], "```")
		got, err := confmap.NewRetrievedFromYAML([]byte(yaml))
		check(t, err)
		conf, err := got.AsConf()
		if err == nil && from != "" {
			conf, err = conf.Sub(from)
		}
		check(t, err)
		check(t, conf.Unmarshal(config))
		check(t, config.Validate())
	}
	if config.Keys != dayKeys || config.TTL != 24*time.Hour || config.State == "" || len(config.Key) != 2 {
		t.Errorf("%+v", config)
	}
}
