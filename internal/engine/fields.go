package engine

import (
	"fmt"
	"reflect"
	"strings"
)

// FieldsOf returns the fields of a struct that are set. It shows no pointers and functions, so no secrets.
func FieldsOf(v reflect.Value) string {
	var shown []string
	for i := range v.NumField() {
		field, name := v.Field(i), v.Type().Field(i).Name
		switch {
		case field.IsZero():
		case field.Kind() == reflect.Pointer || field.Kind() == reflect.Func:
			shown = append(shown, name+":...")
		case field.Kind() == reflect.Struct:
			shown = append(shown, name+":"+FieldsOf(field))
		default:
			shown = append(shown, fmt.Sprintf("%s:%+v", name, field.Interface()))
		}
	}
	return "{" + strings.Join(shown, " ") + "}"
}
