package measure

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/bloomery/bloomery/internal/costs"
)

// Write writes a table as JSON, a point a line.
func Write(w io.Writer, c costs.Table) error {
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	// Lines of a point have at least three spaces.
	points := strings.NewReplacer("{\n    ", "{", ",\n    ", ", ", "\n   }", "}")
	_, err = points.WriteString(w, string(text)+"\n")
	return err
}
