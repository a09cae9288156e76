package plot

import (
	"bytes"
	"image/color"
	"math"
	"regexp"
	"strings"
	"testing"
)

// TestThemes requires legible texts and curves, and curves that differ from each other.
func TestThemes(t *testing.T) {
	for name, th := range map[string]theme{"light": light, "dark": dark} {
		least := map[string]float64{"light": 3, "dark": 4.5}[name]
		if c := contrast(th.ink, th.back); c < 10 {
			t.Errorf("%s: texts have a contrast of %.1f", name, c)
		}
		if c := contrast(th.soft, th.back); c < 4.5 {
			t.Errorf("%s: levels have a contrast of %.1f", name, c)
		}
		if c := contrast(th.grid, th.back); c < 1.2 || c > 2 {
			t.Errorf("%s: the grid has a contrast of %.1f", name, c)
		}
		if len(th.curves) != len(light.curves) {
			t.Errorf("%s: %d colors of curves", name, len(th.curves))
		}
		for i, c := range th.curves {
			if got := contrast(c, th.back); got < least {
				t.Errorf("%s: curve %d has a contrast of %.1f", name, i, got)
			}
			for j, other := range th.curves[:i] {
				if d := math.Abs(float64(c.R)-float64(other.R)) + math.Abs(float64(c.G)-float64(other.G)) +
					math.Abs(float64(c.B)-float64(other.B)); d < 90 {
					t.Errorf("%s: curves %d and %d have nearly the same color", name, j, i)
				}
			}
		}
	}
}

// TestContrast compares contrast with known values.
func TestContrast(t *testing.T) {
	if c := contrast(light.ink, light.back); math.Abs(c-21) > 1e-9 {
		t.Errorf("black on white: %g", c)
	}
	if c := contrast(color.RGBA{119, 119, 119, 255}, light.back); math.Abs(c-4.48) > 0.005 { // #777
		t.Errorf("gray on white: %g", c)
	}
}

// TestDark requires that each color of a picture is a color of the light theme and has a rule for dark pages.
func TestDark(t *testing.T) {
	var b bytes.Buffer
	if err := madeUp().Draw(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	style, picture, ok := strings.Cut(b.String(), "}</style>")
	if !ok {
		t.Fatal("a picture without a style")
	}
	used := regexp.MustCompile(`(fill|stroke)="(#[0-9a-f]{6})"`).FindAllStringSubmatch(picture, -1)
	for _, m := range used {
		rule := regexp.MustCompile(`\[` + m[1] + `="` + m[2] + `"\]\{` + m[1] + `:(#[0-9a-f]{6})\}`).FindStringSubmatch(style)
		if rule == nil || rule[1] == m[2] {
			t.Errorf("no rule for %s", m[0])
		}
	}
	if len(used) < 50 {
		t.Errorf("%d colors", len(used))
	}
}

// contrast returns the ratio of the luminances of two opaque colors, from 1 to 21, as WCAG 2.2 defines it.
func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		if s := float64(v) / 255; s > 0.04045 {
			return math.Pow((s+0.055)/1.055, 2.4)
		} else {
			return s / 12.92
		}
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
