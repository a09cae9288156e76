package plot

import (
	"fmt"
	"image/color"
	"strings"
)

// Diagram is a picture of boxes in columns, and of arrows between them.
type Diagram struct {
	Columns []Column `json:"columns"`
	Arrows  []Arrow  `json:"arrows"`
}

// Column is a column of boxes below a name. At least one box must be in it.
type Column struct {
	Name  string `json:"name"`
	Boxes []Box  `json:"boxes"`
}

// Box is a box with a line of text.
type Box struct {
	Text  string `json:"text"`
	Color int    `json:"color"` // a color of curves, from 1 on; 0: the color of texts
	Full  bool   `json:"full,omitempty"`
}

// Arrow leads from a box to another one, each a column and a box of it.
type Arrow struct {
	From  [2]int `json:"from"`
	To    [2]int `json:"to"`
	Color int    `json:"color"` // as of a Box
}

const (
	rowHigh   = 26.0 // distance of boxes in the column with the most texts
	smallHigh = 10.0 // distance of boxes without text
	padding   = 7.0  // beside the text of a box
	headSize  = 6.0  // length of the head of an arrow
)

// high returns the height of the diagram without its title.
func (g Diagram) high() (most float64) {
	for _, c := range g.Columns {
		most = max(most, float64(len(c.Boxes))*c.pitch())
	}
	return axisSize*2 + most + legendMargin
}

// pitch returns the least distance of two boxes of the column.
func (c Column) pitch() float64 {
	for _, b := range c.Boxes {
		if b.Text != "" {
			return rowHigh
		}
	}
	return smallHigh
}

// wide returns the width of the boxes of the column.
func (c Column) wide() (most float64) {
	for _, b := range c.Boxes {
		most = max(most, text{text: b.Text, size: tickSize}.wide())
	}
	return most + 2*padding
}

// drawDiagram draws the diagram below the line top.
func (d *drawing) drawDiagram(top float64) {
	g := d.Diagram
	free := width - 2*legendMargin
	for _, c := range g.Columns {
		free -= c.wide()
	}
	gap := free / float64(max(1, len(g.Columns)-1))
	colorOf := func(i int) color.RGBA {
		if i == 0 {
			return d.ink
		}
		return d.curve(i - 1)
	}

	at := map[[2]int]rect{}
	left := legendMargin
	for i, c := range g.Columns {
		wide, first := c.wide(), top+axisSize*2
		name := text{text: c.Name, size: axisSize, color: d.ink, at: middle}
		center := min(max(left+wide/2, 2+name.wide()/2), width-2-name.wide()/2)
		d.text(point{center, top + axisSize}, name)
		pitch := (d.bottom - legendMargin - first) / float64(len(c.Boxes))
		half := min(c.pitch(), pitch) * 0.4
		for j := range c.Boxes {
			y := first + pitch*(float64(j)+0.5)
			at[[2]int{i, j}] = rect{point{left, y - half}, point{left + wide, y + half}}
		}
		left += wide + gap
	}
	for _, a := range g.Arrows {
		from, to := at[a.From], at[a.To]
		tail := point{from.max.x, (from.min.y + from.max.y) / 2}
		tip := point{to.min.x, (to.min.y + to.max.y) / 2}
		along := tip.minus(tail)
		along = along.times(headSize / max(along.length(), 1))
		side := point{along.y, -along.x}.times(0.4)
		neck := tip.minus(along)
		d.stroke([]point{tail, neck}, stroke{color: colorOf(a.Color), width: 1.4})
		d.fill([]point{tip, neck.plus(side), neck.minus(side)}, colorOf(a.Color))
	}
	for i, c := range g.Columns {
		for j, b := range c.Boxes {
			r, inside := at[[2]int{i, j}], d.back
			if b.Full {
				inside = colorOf(b.Color)
			}
			corners := []point{r.min, {r.max.x, r.min.y}, r.max, {r.min.x, r.max.y}}
			d.fill(corners, inside)
			d.stroke(append(corners, r.min), stroke{color: colorOf(b.Color), width: 1})
			if b.Text != "" {
				line := text{text: b.Text, size: tickSize, color: d.ink, at: middle}
				d.text(point{(r.min.x + r.max.x) / 2, (r.min.y+r.max.y)/2 + tickSize*0.36}, line)
			}
		}
	}
}

// alt returns a text alternative: the columns.
func (g Diagram) alt(title string) string {
	var names []string
	for _, c := range g.Columns {
		names = append(names, c.Name)
	}
	return fmt.Sprintf("%s. Diagram with arrows between %s.", title, strings.Join(names, ", "))
}
