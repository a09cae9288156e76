package plot

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// scale is the number of pixels per point in PNG: two per CSS pixel, for high-density screens.
const scale = 2 * shownWidth / width

// raster is a canvas of pixels.
type raster struct{ *image.RGBA }

func newRaster(width, height float64) raster {
	return raster{image.NewRGBA(image.Rect(0, 0, int(math.Ceil(width*scale)), int(math.Ceil(height*scale))))}
}

func (r raster) fill(path []point, c color.RGBA) { r.polygons([][]point{path}, c) }

func (r raster) circle(at point, radius float64, c color.RGBA) {
	r.polygons([][]point{circle(at, radius)}, c)
}

// circle returns a polygon that is close to a circle.
func circle(at point, radius float64) []point {
	const corners = 32
	path := make([]point, corners)
	for i := range path {
		path[i] = at.polar(radius, 2*math.Pi*float64(i)/corners)
	}
	return path
}

func (r raster) stroke(path []point, s stroke) {
	var all [][]point
	for _, part := range dashed(path, s.dash) {
		for i, to := range part[1:] {
			from := part[i]
			d := to.minus(from)
			if d.length() == 0 {
				continue
			}
			d = d.times(s.width / 2 / d.length())
			side := point{d.y, -d.x}
			// The rectangle has the orientation of circle, so that areas shared by polygons are filled once.
			all = append(all, []point{from.minus(side), to.minus(side), to.plus(side), from.plus(side)})
			if i > 0 {
				all = append(all, circle(from, s.width/2))
			}
		}
	}
	r.polygons(all, s.color)
}

// dashed cuts lines into dashes.
func dashed(path []point, dash []float64) (parts [][]point) {
	if dash == nil {
		return [][]point{path}
	}
	left, on := dash[0], true
	part := []point{path[0]}
	for i, to := range path[1:] {
		for from := path[i]; from != to; {
			d := to.minus(from)
			if d.length() <= left {
				left -= d.length()
				from = to
			} else {
				from = from.plus(d.times(left / d.length()))
				left = 0
			}
			part = append(part, from)
			if left > 0 {
				continue
			}
			if on {
				parts = append(parts, part)
			}
			on = !on
			left = dash[map[bool]int{true: 0, false: 1}[on]]
			part = []point{from}
		}
	}
	if on && len(part) > 1 {
		parts = append(parts, part)
	}
	return parts
}

// polygons fills polygons of one orientation.
func (r raster) polygons(all [][]point, c color.RGBA) {
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, path := range all {
		for _, p := range path {
			low = point{min(low.x, p.x), min(low.y, p.y)}
			high = point{max(high.x, p.x), max(high.y, p.y)}
		}
	}
	box := image.Rect(int(low.x*scale)-1, int(low.y*scale)-1, int(high.x*scale)+2, int(high.y*scale)+2)
	box = box.Intersect(r.Bounds())
	if len(all) == 0 || box.Empty() {
		return
	}
	v := vector.NewRasterizer(box.Dx(), box.Dy())
	v.DrawOp = draw.Over
	for _, path := range all {
		for i, p := range path {
			x, y := float32(p.x*scale)-float32(box.Min.X), float32(p.y*scale)-float32(box.Min.Y)
			if i == 0 {
				v.MoveTo(x, y)
			} else {
				v.LineTo(x, y)
			}
		}
		v.ClosePath()
	}
	v.Draw(r.RGBA, box, image.NewUniform(c), image.Point{})
}

func (r raster) text(at point, t text) {
	write := func(to *image.RGBA, dot fixed.Point26_6) {
		d := font.Drawer{Dst: to, Src: image.NewUniform(t.color), Face: face(t.size * scale), Dot: dot}
		d.DrawString(t.text)
	}
	t.text = strings.ReplaceAll(t.text, "\n", " ")
	if !t.up {
		x := (at.x - t.at*t.width()) * scale * 64
		write(r.RGBA, fixed.Point26_6{X: fixed.Int26_6(x), Y: fixed.Int26_6(at.y * scale * 64)})
		return
	}
	high, wide := int(2*t.size*scale), int(math.Ceil(t.width()*scale))+2
	flat, up := image.NewRGBA(image.Rect(0, 0, wide, high)), image.NewRGBA(image.Rect(0, 0, high, wide))
	base := high * 3 / 4
	write(flat, fixed.P(0, base))
	for x := range wide {
		for y := range high {
			up.SetRGBA(y, wide-1-x, flat.RGBAAt(x, y))
		}
	}
	corner := image.Pt(int(at.x*scale)-base, int((at.y+t.at*t.width())*scale)-wide)
	draw.Draw(r.RGBA, up.Bounds().Add(corner), up, image.Point{}, draw.Over)
}
