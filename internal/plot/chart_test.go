package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// hostile is a text that does harm unless it is escaped.
const hostile = "<script>alert(\"1\")</script> & 'a',"

// TestSVG requires valid XML that contains the texts of the chart.
func TestSVG(t *testing.T) {
	chart := Chart{Title: hostile, X: hostile, Y: "rate", Asked: 0.03, Pick: &[2]float64{0.02, 0.3}, Curves: []Curve{
		{Name: hostile, Label: hostile, Points: [][2]float64{{0.02, 0.5}, {0.04, 0.25}}},
		{Name: "line", Style: 1, Points: [][2]float64{{0.01, 0.1}, {0.04, 0.9}}},
		{Name: "bound", Label: "bound", Bound: true, Points: [][2]float64{{0.01, 0.2}, {0.04, 0.1}}},
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

// TestSpread checks that names do not overlap, stay within the plot, and keep their order.
func TestSpread(t *testing.T) {
	const high, low = 50.0, 250.0
	for _, wanted := range [][]float64{
		{}, {100}, {300}, {10}, {250, 249, 248, 247}, {60, 55, 53, 52, 51, 50}, {200, 200, 199, 120, 119, 40},
	} {
		at := spread(wanted, high, low)
		for i, y := range at {
			if y < high-1e-9 || y > low+1e-9 || i > 0 && at[i-1]-y < labelGap-1e-9 {
				t.Errorf("%g: %g", wanted, at)
			}
		}
	}
	if at := spread([]float64{200, 150, 100}, high, low); at[0] != 200 || at[1] != 150 || at[2] != 100 {
		t.Errorf("names with enough room moved to %g", at)
	}
}

// TestLogTicks checks that short and long axes have 3 to 13 labels, which suffice to read values and do not overlap.
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
