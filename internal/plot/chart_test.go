package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// hostile does harm if it is not escaped.
const hostile = "<script>alert(\"1\")</script> & 'a',"

// TestSVG requires XML with the texts of the chart.
func TestSVG(t *testing.T) {
	chart := Chart{Title: hostile, X: hostile, Y: "rate", Curves: []Curve{
		{Name: hostile, Points: [][2]float64{{2, 0.5}, {4, 0.25}}},
		{Name: "line", Points: [][2]float64{{1, 0.1}, {4, 0.9}}},
		{Name: "bound", Bound: true, Points: [][2]float64{{1, 0.2}, {4, 0.1}}},
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
	if elements["script"] > 0 || elements["title"] != 1 || strings.Contains(b.String(), "NaN") {
		t.Errorf("%v, %q", elements, texts)
	}
}

// TestLegendRows checks that no row of the legend is wider than the picture, unless it has a single entry.
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

// TestLogTicks counts the labels of short and long axes: 3 to 13 are enough to read values and do not overlap.
func TestLogTicks(t *testing.T) {
	for _, axis := range [][2]float64{{0.0125, 0.022}, {0.0081, 0.026}, {0.0091, 0.046}, {0.007, 0.022}, {0.01, 0.1},
		{0.2, 30}, {1, 1e4}, {1, 1e7}, {2e-9, 1}, {1e-30, 1}} {
		labels := 0
		for _, tick := range logTicks(axis[0], axis[1]) {
			if tick.Value < axis[0]*(1-1e-6) || tick.Value > axis[1]*(1+1e-6) {
				t.Errorf("%g: a mark at %g", axis, tick.Value)
			}
			if tick.Label != "" {
				labels++
			}
		}
		if labels < 3 || labels > 13 {
			t.Errorf("%g: %d labels", axis, labels)
		}
	}
}
