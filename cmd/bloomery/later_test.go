package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLater builds filters for all pairs of needs with many options. Every later change that the output of the build
// promises must work. A build that is refused must fail before it writes.
func TestLater(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		mustWrite(t, path, content)
		return path
	}
	keys, one := write("keys", trialKeys("key", 300)), write("one", "key-300\n")
	known, value := write("known", "key-5\n"), write("value", "key-5\t1\n")
	allowed := write("allowed", trialKeys("allowed", 300))
	secret := write("secret", "000102030405060708090a0b0c0d0e0f\n")
	try := func(args ...string) (code int, text string) {
		var out bytes.Buffer
		code = run(context.Background(), args, strings.NewReader(""), io.Discard, &out)
		return code, out.String()
	}
	needs := append(needNames(), "")
	options := [][]string{
		{}, {"--allow", allowed}, {"--capacity", "1000"}, {"--shards", "3"}, {"--counting"}, {"--value-bits", "4"},
		{"--for", "size"}, {"--for", "speed"}, {"--fpr", "1e-12"}, {"--bits-per-key", "48"}, {"--bytes", "64KiB"},
		{"--capacity", "1000", "--allow", allowed}, {"--value-bits", "4", "--allow", allowed},
		{"--shards", "3", "--allow", allowed}, {"--seed", "7"},
	}
	promise := regexp.MustCompile(`later it can: (.*)`)
	promised, refused := map[string]int{}, 0
	for i, a := range needs {
		for j, b := range needs[i:] {
			for at, option := range options {
				if every := 6; (i+j+at)%every != 0 && a != b && !*long || testing.Short() && at > 3 {
					continue
				}
				path := filepath.Join(dir, fmt.Sprintf("f-%s-%s-%d", a, b, at))
				args := slices.Concat([]string{"build", "-o", path}, option)
				words := slices.DeleteFunc([]string{a, b}, func(s string) bool { return s == "" })
				if len(words) > 0 {
					args = append(args, "--needs", strings.Join(words, ","))
				}
				var keyed []string
				if slices.Contains(words, "adversarial") {
					keyed = []string{"--secret-file", secret}
				}
				args = slices.Concat(args, keyed, []string{keys})
				code, text := try(args...)
				if code != 0 {
					if _, err := os.Stat(path); err == nil {
						t.Errorf("%v: refused, and written: %s", args, text)
					}
					refused++
					continue
				}
				found := promise.FindStringSubmatch(text)
				exact := slices.Contains(option, "--allow")
				if exact && (found != nil || slices.ContainsFunc(words, func(s string) bool {
					return strings.Contains("add remove count merge writers", s)
				})) {
					t.Errorf("%v: promises what exceptions refuse:\n%s", args, text)
				}
				if found == nil {
					for _, s := range words {
						if strings.Contains("add remove count merge", s) {
							t.Errorf("%v: is asked for %s, and does not say that it can:\n%s", args, s, text)
						}
					}
					continue
				}
				if slices.Contains(words, "add") && !strings.Contains(found[1], "take keys") {
					t.Errorf("%v: is asked for add, and does not say that it can:\n%s", args, text)
				}
				for _, can := range strings.Split(found[1], ", ") {
					promised[can]++
					var code int
					var text string
					switch can {
					case "take keys after the build":
						code, text = try(slices.Concat([]string{"add", path}, keyed, []string{one})...)
					case "remove keys":
						code, text = try(slices.Concat([]string{"remove", "--all", path}, keyed, []string{known})...)
						if code == 0 {
							code, text = try(slices.Concat([]string{"add", path}, keyed, []string{known})...)
						}
					case "count keys":
						code, text = try(slices.Concat([]string{"count", path}, keyed, []string{known})...)
					case "keep values":
						code, text = try(slices.Concat([]string{"put", path}, keyed, []string{value})...)
					case "merge":
						other, both := path+"-2", path+"-both"
						args = slices.Clone(args)
						args[2] = other
						if code, text = try(args...); code == 0 {
							code, text = try(slices.Concat([]string{"merge", "-o", both, path, other}, keyed)...)
						}
					default:
						t.Errorf("%v: %q: what is that?", args, can)
					}
					if code != 0 {
						t.Errorf("%v: %q is promised and refused:\n%s", args, can, text)
					}
				}
			}
		}
	}
	if len(promised) < 3 || refused == 0 {
		t.Errorf("promised %v, %d refused", promised, refused)
	}
	t.Logf("promised %v, %d refused", promised, refused)
}
