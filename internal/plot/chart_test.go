package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// hostile does harm if it is not escaped.
const hostile = "<script>alert(\"1\")</script> & 'a',"

// TestSVG requires XML with the texts of the chart, and nothing for points that cannot be drawn.
func TestSVG(t *testing.T) {
	chart := Chart{Title: hostile, X: hostile, Y: "rate", Curves: []Curve{
		{Name: hostile, Points: [][2]float64{{1, 0}, {2, 0.5}, {3, math.NaN()}, {4, 0.25}, {math.Inf(1), 1}}},
		{Name: "line", Points: [][2]float64{{1, 0.1}, {4, 0.9}}},
		{Name: "bound", Bound: true, Points: [][2]float64{{1, 0.2}, {4, 0.1}}},
		{Name: "empty"}, {Name: "none above zero", Points: [][2]float64{{1, -1}}},
	}}
	var b bytes.Buffer
	if err := chart.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}

	title, texts, elements, inTitle := "", "", map[string]int{}, false
	for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.CharData:
			if inTitle {
				title += string(e)
			} else {
				texts += string(e) + "|"
			}
		case xml.StartElement:
			elements[e.Name.Local]++
			inTitle = e.Name.Local == "title"
		case xml.EndElement:
			inTitle = false
		}
	}
	if strings.Count(texts, hostile) != 3 || !strings.Contains(texts, "bound|") ||
		!strings.Contains(title, "Plot of rate over <script>") {
		t.Errorf("%q, %q", title, texts)
	}
	if strings.Contains(texts, "empty") || strings.Contains(texts, "none above") || elements["script"] > 0 ||
		elements["title"] != 1 || strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Errorf("%v, %q", elements, texts)
	}
}

func TestDrawNothing(t *testing.T) {
	for _, c := range []Chart{{}, {Curves: []Curve{{Name: "empty"}, {Points: [][2]float64{{1, 0}}}}}} {
		if err := c.WriteSVG(io.Discard); err == nil {
			t.Error("a picture of nothing")
		}
	}
}

// TestLegendRows: no row of the legend is wider than the picture, unless it has a single entry.
func TestLegendRows(t *testing.T) {
	var curves []Curve
	for i := range 12 {
		curves = append(curves, Curve{Name: strings.Repeat("x", 7*i)})
	}

	seen := 0
	for _, row := range legendRows(curves) {
		total := -legendGap
		for _, i := range row {
			if i != seen {
				t.Errorf("curve %d is where curve %d belongs", i, seen)
			}
			seen++
			total += legendWidth(curves[i])
		}
		if len(row) > 1 && total > width-2*right {
			t.Errorf("a row of %g points", total)
		}
	}
	if seen != len(curves) {
		t.Errorf("%d curves of %d", seen, len(curves))
	}
}
