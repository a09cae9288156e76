package plot

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"strconv"
	"strings"
)

// svg is a canvas that writes SVG.
type svg struct{ bytes.Buffer }

// newSVG begins a picture with a title for screen readers.
func newSVG(width, height float64, title string) *svg {
	s := &svg{}
	fmt.Fprintf(s, `<svg role="img" xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %s %s"`,
		number(width), number(height), number(width), number(height))
	fmt.Fprintf(s, ` font-family="Liberation Sans,Arimo,Arial,Helvetica,sans-serif">`+"\n<title>%s</title>\n",
		html.EscapeString(title))
	return s
}

func (s *svg) end() { s.WriteString("</svg>\n") }

// number formats a length in points.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// path formats points as the attribute d of a path.
func path(points []point) string {
	var b strings.Builder
	for i, p := range points {
		b.WriteString(map[bool]string{true: "M", false: "L"}[i == 0])
		b.WriteString(number(p.x) + " " + number(p.y))
	}
	return b.String()
}

func (s *svg) fill(points []point, c color.RGBA) {
	fmt.Fprintf(s, `<path d="%sZ" fill="%s"/>`+"\n", path(points), hex(c))
}

func (s *svg) stroke(points []point, l stroke) {
	dash := ""
	if l.dash != nil {
		dash = fmt.Sprintf(` stroke-dasharray="%s %s"`, number(l.dash[0]), number(l.dash[1]))
	}
	fmt.Fprintf(s, `<path d="%s" fill="none" stroke="%s" stroke-width="%s"%s/>`+"\n",
		path(points), hex(l.color), number(l.width), dash)
}

func (s *svg) circle(at point, radius float64, c color.RGBA) {
	fmt.Fprintf(s, `<circle cx="%s" cy="%s" r="%s" fill="%s"/>`+"\n",
		number(at.x), number(at.y), number(radius), hex(c))
}

func (s *svg) text(at point, t text) {
	where := fmt.Sprintf(`x="%s" y="%s"`, number(at.x), number(at.y))
	if t.up {
		where += fmt.Sprintf(` transform="rotate(-90 %s %s)"`, number(at.x), number(at.y))
	}
	if t.at != start {
		where += fmt.Sprintf(` text-anchor="%s"`, map[float64]string{middle: "middle", end: "end"}[t.at])
	}
	fmt.Fprintf(s, `<text %s font-size="%s" fill="%s">%s</text>`+"\n",
		where, number(t.size), hex(t.color), html.EscapeString(t.text))
}
