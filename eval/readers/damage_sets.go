package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/shard"
)

// sharded damages a shard of a set in ways that change a checksum or the length, and then the manifest.
func (d *damager) sharded(ctx context.Context, s *subject) error {
	paths, err := filepath.Glob(filepath.Join(s.path, "*.bloom"))
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("%s has no shards: %v", s.path, err)
	}
	path := paths[d.r.IntN(len(paths))]
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for range 4 {
		changed := append([]byte(nil), file...)
		switch d.r.IntN(3) {
		case 0:
			changed = changed[:d.r.IntN(len(changed))]
		case 1:
			changed = append(changed, 0)
		default:
			changed[d.r.IntN(len(changed))] ^= 1 << d.r.IntN(8)
		}
		if err := d.check(ctx, s, path, changed, "a shard"); err != nil {
			return err
		}
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		return err
	}
	return d.manifest(ctx, s)
}

// manifest damages the manifest of a set. The C header does not read manifests.
func (d *damager) manifest(ctx context.Context, s *subject) error {
	path := filepath.Join(s.path, shard.ManifestName)
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	all := d.readers
	defer func() { d.readers = all }()
	d.readers = slices.DeleteFunc(slices.Clone(all), func(r reader) bool { return r.name() == "c" })
	for range 25 {
		if err := d.check(ctx, s, path, []byte(d.text(string(file))), "a manifest"); err != nil {
			return err
		}
	}
	return nil
}

// text changes a few characters of a manifest, a number, a line, or the white space.
func (d *damager) text(s string) string {
	lines := strings.SplitAfter(s, "\n")
	i := d.r.IntN(len(lines) - 1)
	switch d.r.IntN(8) {
	case 0:
		lines[i] = ""
	case 1:
		lines[i] += lines[i]
	case 2:
		j := d.r.IntN(len(lines) - 1)
		lines[i], lines[j] = lines[j], lines[i]
	case 3:
		lines[i] = strings.ReplaceAll(lines[i], ":", " : ")
	case 4, 5:
		digits := regexp.MustCompile(`[0-9]+`).FindAllStringIndex(s, -1)
		at := digits[d.r.IntN(len(digits))]
		var n uint64
		_, _ = fmt.Sscan(s[at[0]:at[1]], &n)
		values := []string{"-1", "1e3", "1.0", "007", "null", "18446744073709551616", fmt.Sprint(d.interesting(n))}
		return s[:at[0]] + values[d.r.IntN(len(values))] + s[at[1]:]
	default:
		return randomEdit(d.r, s)
	}
	return strings.Join(lines, "")
}
