package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
)

// spec changes the spec but not the sections.
func (d *damager) spec(b []byte) []byte {
	p := takeApart(b)
	p.spec = d.hostile(p.spec)
	return p.join()
}

// specWithSections changes the spec, and the lengths of the sections accordingly.
func (d *damager) specWithSections(b []byte) []byte {
	p := takeApart(b)
	spec := p.spec
	for range 20 {
		p.spec = d.hostile(spec)
		if d.fit(&p) {
			break
		}
	}
	if d.r.IntN(4) == 0 {
		binary.LittleEndian.PutUint64(p.head[32:], 0)
	}
	return p.join()
}

// fit gives the sections the lengths that the spec requires, if these are small.
func (d *damager) fit(p *parts) bool {
	s, err := filter.ParseSpec(p.spec)
	if err != nil {
		return false
	}
	family, err := families.ByName(s.Family())
	if err != nil {
		return false
	}
	words, err := family.SectionWords(s)
	if err != nil {
		return false
	}
	sections := make([][]byte, len(words))
	for i, n := range words {
		if n > 1<<16 {
			return false
		}
		sections[i] = make([]byte, 8*n)
		if i < len(p.sections) && d.r.IntN(3) > 0 {
			copy(sections[i], p.sections[i])
		}
	}
	binary.LittleEndian.PutUint16(p.head[10:], family.ID)
	p.sections = sections
	return true
}

// hostile changes a parameter of a spec, or its text.
func (d *damager) hostile(spec string) string {
	name, list, _ := strings.Cut(strings.TrimSuffix(spec, ")"), "(")
	params := strings.Split(list, ",")
	i := d.r.IntN(len(params))
	parameter, value, _ := strings.Cut(params[i], "=")
	var number uint64
	_, _ = fmt.Sscan(value, &number)
	switch d.r.IntN(12) {
	case 0:
		return randomEdit(d.r, spec)
	case 1:
		params = append(params[:i], params[i+1:]...)
	case 2:
		params[i] = parameter + "=0" + value
	case 3: // a parameter that occurs in other filters of the family
		more := strings.Fields("growth counting value_bits trimmed pool2 cells2 length capacity width tail wide seed")
		params = append(params, more[d.r.IntN(len(more))]+"="+fmt.Sprint(d.r.IntN(4)))
		if s, err := filter.ParseSpec(name + "(" + strings.Join(params, ",") + ")"); err == nil {
			return s.String()
		}
	case 4, 5, 6:
		params[i] = parameter + "=" + fmt.Sprint(d.interesting(number))
	default:
		params[i] = parameter + "=" + fmt.Sprint(max(1, int64(number)+int64(d.r.IntN(9))-4))
	}
	return name + "(" + strings.Join(params, ",") + ")"
}

// randomEdit changes, adds or removes a character.
func randomEdit(r *rand.Rand, s string) string {
	const characters = "0123456789abcxyz=,(). +-_A\x00é"
	at, c := r.IntN(len(s)), string(characters[r.IntN(len(characters))])
	switch r.IntN(3) {
	case 0:
		return s[:at] + c + s[at:]
	case 1:
		return s[:at] + s[at+1:]
	}
	return s[:at] + c + s[at+1:]
}
