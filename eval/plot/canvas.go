package plot

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"math"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// canvas is the surface of a picture. Lengths are in points, from the left upper corner.
type canvas interface {
	fill(polygon []point, c color.RGBA)
	stroke(path []point, s stroke) // lines from each point to the next
	circle(at point, radius float64, c color.RGBA)
	text(at point, t text) // a line whose baseline begins, is centered, or ends at a point
}

type point struct{ x, y float64 }

func (p point) plus(q point) point    { return point{p.x + q.x, p.y + q.y} }
func (p point) minus(q point) point   { return point{p.x - q.x, p.y - q.y} }
func (p point) times(f float64) point { return point{p.x * f, p.y * f} }
func (p point) length() float64       { return math.Hypot(p.x, p.y) }
func (p point) polar(r, angle float64) point {
	return p.plus(point{r * math.Cos(angle), -r * math.Sin(angle)})
}

// stroke is the style of a line.
type stroke struct {
	color color.RGBA
	width float64
	dash  []float64 // lengths of a line and of a gap; nil: no gaps
}

// text is a line of text.
type text struct {
	text  string
	size  float64
	color color.RGBA
	at    float64 // the part of the text before its point: start, middle or end
	up    bool    // written from below to above
}

const start, middle, end = 0.0, 0.5, 1.0

// width returns the width of the text in the Go font, which is about as wide as the usual sans-serif fonts.
func (t text) width() float64 { return float64(font.MeasureString(face(t.size), t.text)) / 64 }

// wide returns the width of the text in fonts that are wider than ours, such as DejaVu Sans.
func (t text) wide() float64 { return t.width() * 8 / 7 }

// wrap splits a text between words into lines of at most the given width, unless a word is longer. It keeps line
// breaks.
func wrap(s string, size, most float64) (lines []string) {
	for _, part := range strings.Split(s, "\n") {
		words := strings.Split(part, " ")
		line := words[0]
		for _, word := range words[1:] {
			if longer := line + " " + word; (text{text: longer, size: size}.wide()) <= most {
				line = longer
			} else {
				lines, line = append(lines, line), word
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// balanced splits a text like wrap, into lines of about the same width, and keeps equations such as n = 1000 in a line.
func balanced(s string, size, most float64) (lines []string) {
	s = strings.ReplaceAll(s, " = ", "\u00a0=\u00a0")
	n := len(wrap(s, size, most))
	for part := 0.5; part < 1 && len(lines) != n; part += 0.05 {
		lines = wrap(s, size, most*part)
	}
	if len(lines) != n {
		lines = wrap(s, size, most)
	}
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, "\u00a0", " ")
	}
	return lines
}

// Parts of the size of a font above and below the baseline, for digits and letters.
const ascent, descent = 0.74, 0.22

var goFont = sync.OnceValue(func() *opentype.Font {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic(err) // the font is compiled in
	}
	return f
})

// face returns the Go font in the given size in pixels.
func face(size float64) font.Face {
	f, err := opentype.NewFace(goFont(), &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		panic(err) // never returned by x/image
	}
	return f
}

// svg is a canvas that writes SVG.
type svg struct{ bytes.Buffer }

// put writes a line. In format, %s stands for lengths, colors, paths, and texts, which are escaped.
func (s *svg) put(format string, args ...any) {
	for i, arg := range args {
		switch v := arg.(type) {
		case float64:
			args[i] = number(v)
		case color.RGBA:
			args[i] = fmt.Sprintf("#%02x%02x%02x", v.R, v.G, v.B)
		case []point:
			var b strings.Builder
			for _, p := range v {
				b.WriteString("L" + number(p.x) + " " + number(p.y))
			}
			args[i] = "M" + b.String()[1:]
		case string:
			args[i] = html.EscapeString(v)
		}
	}
	fmt.Fprintf(s, format+"\n", args...)
}

// number formats a length in points.
func number(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
}

// begin begins a picture with a title for screen readers, and with the colors that replace the light ones on dark
// pages.
func (s *svg) begin(width, height float64, title string) {
	s.put(`<svg role="img" xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s"`+
		` font-family="Liberation Sans,Arimo,Arial,Helvetica,sans-serif">`, shownWidth, height*shownWidth/width, width, height)
	s.put("<title>%s</title>", title)
	s.put("<style>@media screen and (prefers-color-scheme:dark){")
	night := dark.all()
	for i, c := range light.all() {
		s.put(`[fill="%s"]{fill:%s}[stroke="%s"]{stroke:%s}`, c, night[i], c, night[i])
	}
	s.put("}</style>")
}

func (s *svg) fill(polygon []point, c color.RGBA) { s.put(`<path d="%sZ" fill="%s"/>`, polygon, c) }

func (s *svg) stroke(path []point, l stroke) {
	format, args := `<path d="%s" fill="none" stroke="%s" stroke-width="%s"`, []any{path, l.color, l.width}
	if l.dash != nil {
		format, args = format+` stroke-dasharray="%s %s"`, append(args, l.dash[0], l.dash[1])
	}
	s.put(format+"/>", args...)
}

func (s *svg) circle(at point, radius float64, c color.RGBA) {
	s.put(`<circle cx="%s" cy="%s" r="%s" fill="%s"/>`, at.x, at.y, radius, c)
}

func (s *svg) text(at point, t text) {
	format, args := `<text x="%s" y="%s"`, []any{at.x, at.y}
	if t.up {
		format, args = format+` transform="rotate(-90 %s %s)"`, append(args, at.x, at.y)
	}
	if t.at != start {
		format += ` text-anchor="` + map[float64]string{middle: "middle", end: "end"}[t.at] + `"`
	}
	s.put(format+` font-size="%s" fill="%s">%s</text>`, append(args, t.size, t.color, t.text)...)
}
