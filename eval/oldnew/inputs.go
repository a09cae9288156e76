package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// input returns the path of an input. Both versions read the same files, since a plan of a sharded set has their paths.
func (x *exchange) input(name string) string { return filepath.Join(x.dir, "in", name) }

// writeInputs writes the lists of keys for all kinds. Of the queried keys, half are present.
func (x *exchange) writeInputs(asked int) error {
	x.report.Old, x.report.New = x.old.name, x.new.name
	if err := os.Mkdir(filepath.Join(x.dir, "in"), 0o755); err != nil {
		return err
	}
	n := asked / 2
	lists := map[string]*strings.Builder{}
	add := func(name, format string, args ...any) {
		if lists[name] == nil {
			lists[name] = &strings.Builder{}
		}
		fmt.Fprintf(lists[name], format+"\n", args...)
	}
	letters := []rune("abcxyz.-_é漢😀ßж")
	word := func(i int) string {
		text := fmt.Sprintf("%d", i)
		for x := mixed(i); x%7 != 0; x /= 7 {
			text += string(letters[x%uint64(len(letters))])
		}
		return text
	}
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

	add("secret", "000102030405060708090a0b0c0d0e0f")
	add("timed.csv", "at,key")
	add("later.csv", "at,key")
	add("parts.csv", "part,key")
	add("all.csv", "part,key")
	for i := range n {
		key := word(i)
		add("present", "%s", key)
		add("values", "%s\t%d", key, mixed(i)%200)
		add("odd", "  %s\t", upper(key))
		add("asked", "%s\n%s", key, word(n+i))
		hex := binary.LittleEndian.AppendUint64(nil, mixed(i))
		add("hex", "%x", hex)
		add("asked.hex", "%x\n%x", hex, binary.LittleEndian.AppendUint64(nil, mixed(n+i)))
		add("bits", "%s\t%d", key, mixed(i)%2)
		add("decimals", "%d.%02d", i-n/2, mixed(i)%100)
		add("numbers", "%d\n%d", i-n/2, int32(mixed(i)))
		add("timed.csv", "%s,%s", begin.Add(time.Duration(i)*time.Second).Format(time.RFC3339), key)
		add("universe", "%s\n%s", key, word(n+i))
		add("all.csv", "p%d,%s\np%d,%s", i%7, key, i%7, word(n+i))
		add("parts.csv", "p%d,%s", i%7, key)
		switch i % 10 {
		case 0:
			add("first", "%s", key) // a tenth of the members
			add("more1", "%s", word(2*n+i))
			add("values1", "%s\t%d", word(2*n+i), 1)
			add("asked", "%s", word(2*n+i))
			add("later.csv", "%s,%s", begin.Add(time.Duration(n+i)*time.Second).Format(time.RFC3339), word(2*n+i))
		case 1:
			add("more2", "%s", word(3*n+i))
			add("values2", "%s\t%d", word(3*n+i), 0)
			add("asked", "%s", word(3*n+i))
		case 2:
			add("gone1", "%s", key)
		case 3:
			add("gone2", "%s", key)
		default:
			add("kept", "%s", key)
		}
		if i%2 == 0 {
			add("half", "%s", key)
		} else {
			add("other", "%s", key)
		}
		add("absent", "%s", word(n+i))
	}

	x.lines = map[string]int{}
	for name, list := range lists {
		x.lines[name] = strings.Count(list.String(), "\n")
		if err := os.WriteFile(x.input(name), []byte(list.String()), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// upper returns a text with a to z as A to Z, the letters that --lower knows.
func upper(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}, text)
}

// mixed maps numbers one to one to numbers that look random: the finalizer of SplitMix64.
func mixed(i int) uint64 {
	x := uint64(i) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
