package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// figures maps names to the numbers in some files. A name is the file, heading, row and column of a table, or the path
// in a JSON file.
type figures map[string]float64

// figuresOf reads the files that match patterns below root.
func figuresOf(root string, patterns []string) (figures, error) {
	all := figures{}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			name := filepath.Base(path)
			if strings.HasSuffix(path, ".json") {
				var v any
				if err := json.Unmarshal(b, &v); err != nil {
					return nil, fmt.Errorf("%s: %w", path, err)
				}
				all.addJSON(name, v)
			} else {
				all.addTables(name, b)
			}
		}
	}
	return all, nil
}

// addJSON adds the numbers of a JSON value. An object with a number of keys and a rate is named after them.
func (f figures) addJSON(name string, v any) {
	switch v := v.(type) {
	case float64:
		f[name] = v
	case []any:
		for i, e := range v {
			if o, ok := e.(map[string]any); ok && o["keys"] != nil && o["fpr"] != nil {
				f.addJSON(fmt.Sprintf("%s, %v keys at %v", name, o["keys"], o["fpr"]), e)
			} else {
				f.addJSON(fmt.Sprintf("%s[%d]", name, i), e)
			}
		}
	case map[string]any:
		for k, e := range v {
			if k != "keys" && k != "fpr" {
				f.addJSON(name+", "+k, e)
			}
		}
	}
}

var number = regexp.MustCompile(`^-?\d+(\.\d+)?(e-?\d+)?`)

// addTables adds the first number of each cell of the tables of a Markdown page.
func (f figures) addTables(name string, page []byte) {
	var heading string
	var header []string
	for line := range bytes.Lines(page) {
		text := strings.TrimSpace(string(line))
		switch {
		case strings.HasPrefix(text, "#"):
			heading, header = strings.TrimLeft(text, "# "), nil
		case !strings.HasPrefix(text, "|"):
			header = nil
		default:
			row := strings.Split(strings.Trim(text, "| "), "|")
			for i := range row {
				row[i] = strings.TrimSpace(row[i])
			}
			switch {
			case header == nil:
				header = row
			case len(row) == len(header) && !strings.HasPrefix(row[0], "-"):
				for i, cell := range row[1:] {
					if n, err := strconv.ParseFloat(number.FindString(cell), 64); err == nil {
						f[strings.Join([]string{name, heading, row[0], header[i+1]}, ", ")] = n
					}
				}
			}
		}
	}
}

// moved describes the figures whose ratio to before differs from 1 by more than share, largest change first, and
// figures that were added or removed.
func moved(before, after figures, share float64) (lines []string) {
	type move struct {
		text string
		by   float64
	}
	var moves []move
	for _, name := range slices.Sorted(maps.Keys(after)) {
		now := after[name]
		switch was, ok := before[name]; {
		case !ok:
			moves = append(moves, move{fmt.Sprintf("%s: %.4g, is new", name, now), math.Inf(1)})
		case was != now && math.Abs(now-was) > share*math.Abs(was):
			by := math.Inf(1)
			if was != 0 && now != 0 {
				by = math.Abs(math.Log(math.Abs(now / was)))
			}
			moves = append(moves, move{fmt.Sprintf("%s: %.4g, was %.4g", name, now, was), by})
		}
	}
	slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(b.by, a.by) })
	for _, m := range moves {
		lines = append(lines, m.text)
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[name]; !ok {
			lines = append(lines, name+": is gone")
		}
	}
	return lines
}
