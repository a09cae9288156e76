package figure

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strconv"
)

// csvHeader has the names of the columns.
var csvHeader = []string{
	"name", "source", "seed", "trials", "label", "published", "measured", "low", "high", "tolerance", "agrees", "note",
}

// WriteCSV writes a header and one line for each row. The fields published, tolerance and agrees are empty in rows
// without a published value.
func (r Result) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write(csvHeader) // Error below returns the first error of all writes
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

// digits formats a value so that parsing gives the same value.
func digits(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// WriteJSON writes the result as one indented JSON value. Values that are not finite are null.
func (r Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// MarshalJSON implements json.Marshaler. All fields are present. Values that are not finite are null; so are published,
// tolerance and agrees in a row without a published value.
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
	}{r.Label, finite(r.Published), finite(&r.Measured), finite(&r.Low), finite(&r.High), finite(tolerance), r.Agrees,
		r.Note})
}

// finite returns v, or nil if the value is NaN or infinite.
func finite(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}
