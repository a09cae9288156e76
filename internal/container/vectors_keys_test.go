package container

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// vector is one key of a file of vectors.
type vector struct {
	filtertest.VectorKey
	sum       filter.Hash
	positions []uint64
	answer
}

// line returns the vector as JSON without a line end.
func (v vector) line() string {
	texts := make([]string, len(v.positions))
	for i, at := range v.positions {
		texts[i] = strconv.Quote(strconv.FormatUint(at, 10))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{%s, "positions": [%s], "has": %t`, v.JSON(v.sum), strings.Join(texts, ", "), v.has)
	if v.counts {
		fmt.Fprintf(&b, `, "count": "%d"`, v.count)
	}
	if v.excepted {
		b.WriteString(`, "excepted": true`)
	}
	if v.saturated {
		b.WriteString(`, "saturated": true`)
	}
	if v.hasValue {
		fmt.Fprintf(&b, `, "value": "%d"`, v.value)
	}
	b.WriteString("}")
	return b.String()
}
