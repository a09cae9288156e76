package parquetmeta

import (
	"math"

	"github.com/bloomery/bloomery/filter"
)

// element is a leaf of the schema. It has what the form of its keys depends on.
type element struct {
	physical, length int64 // Type; bytes of a FIXED_LEN_BYTE_ARRAY
	scale            int64
	decimal, date    bool
	unsigned         bool // of an integer
}

// The values of ConvertedType that are read. Every writer of logical types also writes them, except for some decimals.
const (
	convertedDecimal = 5
	convertedDate    = 6
	convertedUint8   = 11 // to 14, UINT_64
	convertedUint64  = 14
)

// readElement reads a SchemaElement:
//
//	1 type, 2 type_length, 5 num_children, 6 converted_type, 7 scale, 10 logicalType: a union of
//	   5 DECIMAL (1 scale), 6 DATE, 10 INTEGER (2 isSigned)
func (f *footer) readElement(in *input) {
	e, leaf := element{physical: -1}, true
	in.structure(func(in *input, id int, kind byte) bool {
		switch {
		case id == 1 && kind == kindI32:
			e.physical = in.readInt()
		case id == 2 && kind == kindI32:
			e.length = in.readInt()
		case id == 5 && kind == kindI32:
			leaf = in.readInt() == 0 && e.physical >= 0
		case id == 6 && kind == kindI32:
			n := in.readInt()
			e.decimal, e.date = e.decimal || n == convertedDecimal, e.date || n == convertedDate
			e.unsigned = e.unsigned || n >= convertedUint8 && n <= convertedUint64
		case id == 7 && kind == kindI32:
			e.scale = in.readInt()
		case id == 10 && kind == kindStruct:
			in.structure(e.readLogical)
		default:
			return false
		}
		return true
	})
	if leaf {
		f.leaves = append(f.leaves, e.form())
	}
}

// readLogical reads a field of LogicalType.
func (e *element) readLogical(in *input, id int, kind byte) bool {
	if kind != kindStruct || id != 5 && id != 6 && id != 10 {
		return false
	}
	e.decimal, e.date = e.decimal || id == 5, e.date || id == 6
	in.structure(func(in *input, field int, kind byte) bool {
		if id == 5 && field == 1 && kind == kindI32 {
			e.scale = in.readInt()
			return true
		}
		e.unsigned = e.unsigned || id == 10 && field == 2 && kind == kindFalse
		return false
	})
	return true
}

// form returns the form of the keys: the plain encoding of the values, without the length of a BYTE_ARRAY.
func (e *element) form() filter.KeyForm {
	fixed := [...]int64{0: 1, 3: 12, 4: 4, 5: 8, 7: e.length}
	types := map[int64][3]filter.KeyType{ // signed, unsigned, decimal
		1: {filter.KeyInt32, filter.KeyUint32, filter.KeyDecimal32},
		2: {filter.KeyInt64, filter.KeyUint64, filter.KeyDecimal64},
		6: {filter.KeyText, filter.KeyText, filter.KeyDecimal},
		7: {filter.KeyFixed, filter.KeyFixed, filter.KeyDecimal},
	}[e.physical]
	f := filter.KeyForm{Type: types[0]}
	switch {
	case e.physical < 0 || e.physical > 7:
		return filter.KeyForm{}
	case e.decimal && types[2] != 0 && e.scale >= 0 && e.scale <= math.MaxUint8:
		f = filter.KeyForm{Type: types[2], Scale: uint8(e.scale)}
	case e.date && e.physical == 1:
		f.Type = filter.KeyDate
	case e.unsigned:
		f.Type = types[1]
	case types == [3]filter.KeyType{}:
		f.Type = filter.KeyFixed
	}
	if f.Type != filter.KeyFixed && (f.Type != filter.KeyDecimal || e.physical == 6) {
		return f
	}
	if n := fixed[e.physical]; n > 0 && n <= math.MaxUint8 {
		f.Width = uint8(n)
		return f
	}
	return filter.KeyForm{} // longer than a form can say
}
