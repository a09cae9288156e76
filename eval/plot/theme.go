package plot

import "image/color"

// theme lists the colors of a picture.
type theme struct {
	back   color.RGBA
	ink    color.RGBA // texts and axes
	soft   color.RGBA // levels and bounds
	grid   color.RGBA
	curves []color.RGBA
}

// all returns all colors of the theme, in the same order for each theme.
func (t theme) all() []color.RGBA {
	return append([]color.RGBA{t.back, t.ink, t.soft, t.grid}, t.curves...)
}

// light is for white pages. Its curves have a contrast of at least 3:1, as WCAG 2.2 requires of graphics, and are
// distinguishable with red-green color blindness. The first four are colors of Okabe and Ito (2008), whose other colors
// are too bright.
var light = theme{
	back: color.RGBA{255, 255, 255, 255},
	ink:  color.RGBA{A: 255},
	soft: color.RGBA{90, 90, 90, 255},
	grid: color.RGBA{225, 225, 225, 255},
	curves: []color.RGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255},
		{204, 121, 167, 255}, {70, 30, 110, 255}, {100, 70, 0, 255},
	},
}

// dark is for dark pages. Its curves have a contrast of at least 4.5:1, as WCAG 2.2 requires of small texts.
var dark = theme{
	back: color.RGBA{29, 36, 40, 255},
	ink:  color.RGBA{228, 233, 236, 255},
	soft: color.RGBA{163, 176, 184, 255},
	grid: color.RGBA{54, 66, 74, 255},
	curves: []color.RGBA{
		{80, 160, 255, 255}, {255, 126, 60, 255}, {40, 190, 145, 255},
		{232, 150, 196, 255}, {150, 218, 250, 255}, {242, 192, 84, 255},
	},
}

// curve returns the color of curve i.
func (t theme) curve(i int) color.RGBA { return t.curves[i%len(t.curves)] }
