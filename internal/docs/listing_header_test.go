package docs_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	cComment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cName     = regexp.MustCompile(`\b(?:bloomery_[a-z0-9_]+|BLOOMERY_[A-Z0-9_]+)\b`)
	cFunction = regexp.MustCompile(`(?m)^(?:static inline|BLOOMERY_APART) ([^;{}]*?\b(bloomery_\w+)\([^)]*\)) \{`)
	cType     = regexp.MustCompile(`(?m)^(?:/\*([^/]*)\*/\n)?typedef struct \{\n((?:  .*\n)*)\} (bloomery_\w+);`)
	cEnum     = regexp.MustCompile(`(?m)^enum \{\n((?:  .*\n)*)\};`)
	cMacro    = regexp.MustCompile(`(?m)^#define (BLOOMERY_VERSION\w*) `)
)

// headerLines returns the sorted lines of what c/bloomery.h documents as public: the names in its first page, the
// types of these functions with their fields, unless the fields are private, and the constants. The version changes
// with each release.
func (s *sources) headerLines() []string {
	text := s.read("c/bloomery.h")
	page, code, _ := strings.Cut(text, "#ifndef BLOOMERY_H")
	lines := map[string]bool{}

	public := map[string]bool{}
	for _, name := range cName.FindAllString(page, -1) {
		public[name] = true
		if name != "BLOOMERY_OK" && strings.HasPrefix(name, "BLOOMERY_") {
			lines["macro "+name] = true // which the user defines
		}
	}
	for _, m := range cMacro.FindAllStringSubmatch(code, -1) {
		lines["macro "+m[1]] = true
	}
	plain := func(text string) string {
		return strings.Join(strings.Fields(cComment.ReplaceAllString(text, "")), " ")
	}

	for _, m := range cFunction.FindAllStringSubmatch(code, -1) {
		if public[m[2]] {
			lines[plain(m[1])] = true
			for _, name := range cName.FindAllString(m[1], -1) {
				public[name] = true
			}
		}
	}

	all := cType.FindAllStringSubmatch(code, -1)
	for _, m := range slices.Backward(all) { // a type stands before the types that have it as a field
		if !public[m[3]] {
			continue
		}
		lines["type "+m[3]] = true
		if strings.Contains(m[1], "private") {
			continue
		}
		for field := range strings.SplitSeq(plain(m[2]), ";") {
			if field = strings.TrimSpace(field); field != "" {
				lines["field "+m[3]+": "+field] = true
			}
			for _, name := range cName.FindAllString(field, -1) {
				public[name] = true
			}
		}
	}

	for _, m := range cEnum.FindAllStringSubmatch(code, -1) {
		next := 0
		for one := range strings.SplitSeq(plain(m[1]), ",") {
			name, value, ok := strings.Cut(strings.TrimSpace(one), " = ")
			if ok {
				if _, err := fmt.Sscan(value, &next); err != nil {
					s.t.Fatalf("c/bloomery.h: %s: %v", one, err)
				}
			}
			lines[fmt.Sprintf("constant %s = %d", name, next)] = true
			next++
		}
	}
	return slices.Sorted(maps.Keys(lines))
}
