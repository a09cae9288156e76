package lab

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strconv"
)

// A result as files for other programs: JSON, with the keys that Result, Row and Plot name, and CSV, a line a row.

// csvHeader names the columns.
var csvHeader = []string{
	"name", "source", "seed", "trials", "label", "published", "measured", "low", "high", "tolerance", "agrees", "note",
}

// WriteCSV writes a header and one line a row. Without a published value, published, tolerance and agrees are empty.
func (r Result) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write(csvHeader) // Error below has the first error of all writes
	for _, row := range r.Rows {
		var published, tolerance, agrees string
		if row.Published != nil {
			published, tolerance = digits(*row.Published), digits(row.Tolerance)
		}
		if row.Agrees != nil {
			agrees = strconv.FormatBool(*row.Agrees)
		}
		_ = c.Write([]string{
			r.Name, r.Source, strconv.FormatUint(r.Seed, 10), strconv.Itoa(r.Trials), row.Label,
			published, digits(row.Measured), digits(row.Low), digits(row.High), tolerance, agrees, row.Note,
		})
	}
	c.Flush()
	return c.Error()
}

// digits writes a value so that it reads back the same.
func digits(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// WriteJSON writes the result as one indented JSON value. Values that are not finite, which JSON does not know, are null.
func (r Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// MarshalJSON writes the row with all its fields: null for values that are not finite, and for published, tolerance and
// agrees where nobody published a value.
func (r Row) MarshalJSON() ([]byte, error) {
	tolerance := &r.Tolerance
	if r.Published == nil {
		tolerance = nil
	}
	return json.Marshal(struct {
		Label     string   `json:"label"`
		Published *float64 `json:"published"`
		Measured  *float64 `json:"measured"`
		Low       *float64 `json:"low"`
		High      *float64 `json:"high"`
		Tolerance *float64 `json:"tolerance"`
		Agrees    *bool    `json:"agrees"`
		Note      string   `json:"note"`
	}{r.Label, finite(r.Published), finite(&r.Measured), finite(&r.Low), finite(&r.High), finite(tolerance), r.Agrees, r.Note})
}

// finite returns nil for what is not finite.
func finite(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}
