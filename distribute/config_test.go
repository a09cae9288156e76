package distribute

import (
	"reflect"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/steps"
)

// TestOptions: every field of Options reaches the steps, and none of theirs is forgotten.
func TestOptions(t *testing.T) {
	o := Options{
		Secret: filter.NewSecret(), Workers: 1, Memory: 2, TempDir: "t",
		Progress: func(float64) {}, Removed: func(string) {},
	}
	if v := reflect.ValueOf(o); v.NumField() != 6 {
		t.Errorf("%d fields: test the new ones, too", v.NumField())
	}
	got := reflect.ValueOf(o.options())
	for i := range got.NumField() {
		if name := got.Type().Field(i).Name; got.Field(i).IsZero() != (name == "Formats") {
			t.Errorf("field %s is %v", name, got.Field(i))
		}
	}
	if reflect.TypeFor[Object]() != reflect.TypeFor[steps.Object]() {
		t.Error("Object is another type than in the steps")
	}
}
