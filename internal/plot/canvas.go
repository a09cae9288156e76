package plot

import (
	"image/color"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// canvas is what a picture is drawn on. Lengths are in points of 1/72 inch, from the left upper corner.
type canvas interface {
	// fill fills a polygon.
	fill(path []point, c color.RGBA)
	// stroke draws lines from each point to the next.
	stroke(path []point, s stroke)
	// circle fills a circle.
	circle(at point, radius float64, c color.RGBA)
	// text writes a line whose baseline begins, has its middle, or ends at a point.
	text(at point, t text)
}

// point is a position.
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

const (
	start  = 0.0
	middle = 0.5
	end    = 1.0
)

// width returns the width of the text in the Go font, which is about that of the usual sans-serif fonts.
func (t text) width() float64 {
	return float64(font.MeasureString(face(t.size), t.text)) / 64
}

// Parts of the size of a font above and below the baseline, for digits and letters.
const (
	ascent  = 0.74
	descent = 0.22
)

// goFont returns the Go font.
var goFont = sync.OnceValue(func() *opentype.Font {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic(err) // it is compiled in
	}
	return f
})

// face returns the Go font in a size in pixels.
func face(size float64) font.Face {
	f, err := opentype.NewFace(goFont(), &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		panic(err) // never returned by x/image
	}
	return f
}
