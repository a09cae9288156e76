package plot

import (
	"bytes"
	"strings"
	"testing"
)

// TestDiagram requires boxes and arrows within the picture, escaped texts, and both formats.
func TestDiagram(t *testing.T) {
	p := Plot{Name: "boxes", Title: "Two <columns>", Diagram: &Diagram{
		Columns: []Column{
			{"left & long name of a narrow column", []Box{{Text: "a"}}},
			{"right", []Box{{}, {Full: true, Color: 1}, {}}},
		},
		Arrows: []Arrow{{From: [2]int{0, 0}, To: [2]int{1, 2}, Color: 2}},
	}}
	var s, png bytes.Buffer
	if err := p.Draw(&s, "svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Two &lt;columns&gt;", "left &amp; long", `fill="#0072b2"`, `stroke="#d55e00"`, "Diagram with arrows",
	} {
		if !strings.Contains(s.String(), want) {
			t.Errorf("no %s", want)
		}
	}
	if n := strings.Count(s.String(), `fill="none"`); n != 5 { // an arrow and four boxes
		t.Errorf("%d lines", n)
	}
	if strings.Contains(s.String(), `d="M-`) {
		t.Error("a path begins outside of the picture")
	}
	if err := p.Draw(&png, "png"); err != nil || png.Len() < 1000 {
		t.Errorf("%d bytes of PNG, %v", png.Len(), err)
	}
	if err := p.Draw(&png, "gif"); err == nil {
		t.Error("an unknown format")
	}
}
