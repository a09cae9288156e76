package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
)

// hostile is a text that does harm unless it is escaped.
const hostile = "<script>alert(\"1\")</script> & 'a',\n"

// madeUp returns a plot with a curve of every kind and points that cannot be drawn.
func madeUp() Plot {
	return Plot{
		Name: "made-up", Title: hostile, Names: []string{"one", "two\nlines", "three", "four"}, X: hostile, Y: "rate",
		LogY: true,
		Curves: []Curve{
			{
				Name:   hostile,
				Points: [][2]float64{{1, 0}, {2, 0.5}, {3, math.NaN()}, {4, 0.25}},
				Bars:   [][2]float64{{0, 0}, {0.4, 0.6}, {0, 0}, {-0.2, 0.3}},
				Labels: []string{"cut off", hostile, "cut off", "one beside a point"},
			},
			{Name: "line", Points: [][2]float64{{1, 0.1}, {4, 0.9}}},
			{Name: "marks", Dots: true, Points: [][2]float64{{1, 0.2}, {3, 0.3}}},
			{Name: "bound", Bound: true, Points: [][2]float64{{1, 0.2}, {4, 0.1}}},
			{Name: "empty", Dots: true}, {Name: "none above zero", Level: true, Points: [][2]float64{{1, -1}}},
			Level("as predicted", 1, 1),
		},
	}
}

// TestSVG requires valid XML whose texts are the texts of the plot, and no marks for points that cannot be drawn.
func TestSVG(t *testing.T) {
	var b bytes.Buffer
	if err := madeUp().Draw(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	texts, elements := "", map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.CharData:
			texts += string(e) + "|"
		case xml.StartElement:
			elements[e.Name.Local]++
		}
	}
	for _, want := range []string{
		hostile, "one beside a point", "as predicted", "two|", "lines|", "Plot of rate over <script>",
	} {
		if !strings.Contains(texts, want) {
			t.Errorf("no text %q in %q", want, texts)
		}
	}
	if strings.Contains(texts, "cut off") || strings.Contains(texts, "empty") || strings.Contains(texts, "none above") ||
		elements["script"] > 0 || elements["title"] != 1 || strings.Contains(b.String(), "NaN") {
		t.Errorf("%v, %q", elements, texts)
	}
}

// TestPNG checks the color and the ends of the line of a curve.
func TestPNG(t *testing.T) {
	var b bytes.Buffer
	p := Plot{Name: "line", Title: "a line", X: "x", Y: "y"}
	p.Curves = []Curve{{Name: "c", Points: [][2]float64{{0, 0}, {10, 5}}}}
	if err := p.Draw(&b, "png"); err != nil {
		t.Fatal(err)
	}
	pic, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if size := pic.Bounds().Size(); size != image.Pt(1120, 885) {
		t.Errorf("%v pixels", size)
	}
	line, found := light.curve(0), map[int]bool{} // columns with a pixel of the curve
	for x := range pic.Bounds().Dx() {
		for y := range pic.Bounds().Dy() - 70 {
			r, g, b, _ := pic.At(x, y).RGBA()
			if near(r, line.R) && near(g, line.G) && near(b, line.B) {
				found[x] = true
			}
		}
	}
	if len(found) < 900 {
		t.Errorf("a line of %d pixels", len(found))
	}
}

// near reports whether a color value of 16 bits is close to a value of 8 bits.
func near(a uint32, b uint8) bool { return max(a>>8, uint32(b))-min(a>>8, uint32(b)) <= 2 }

// TestDashed requires that the lengths of the dashes sum up to their share of the line, even if the line has corners.
func TestDashed(t *testing.T) {
	sum := 0.0
	parts := dashed([]point{{0, 0}, {3, 0}, {3, 20}, {40, 20}}, []float64{5, 3})
	for _, part := range parts {
		for i := range part[1:] {
			sum += part[i+1].minus(part[i]).length()
		}
	}
	if len(parts) != 8 || math.Abs(sum-(7*5+4)) > 1e-9 { // 60 = 7·(5+3) + 4
		t.Errorf("%d dashes of length %g: %v", len(parts), sum, parts)
	}
}

// TestGlyphs requires that the font of PNG files contains the characters that titles and labels use.
func TestGlyphs(t *testing.T) {
	for _, sign := range "ε²·≤≥±×–λσ→" {
		if i, err := goFont().GlyphIndex(nil, sign); err != nil || i == 0 {
			t.Errorf("no glyph for %c: %v", sign, err)
		}
	}
}

func TestDrawNothing(t *testing.T) {
	p := madeUp()
	p.Curves = p.Curves[4:]
	for _, format := range []string{"svg", "png"} {
		if err := p.Draw(&bytes.Buffer{}, format); err == nil {
			t.Error("a picture of nothing")
		}
	}
	if err := madeUp().Draw(&bytes.Buffer{}, "gif"); err == nil {
		t.Error("a picture in an unknown format")
	}
}
