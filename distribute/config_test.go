package distribute

import (
	"reflect"
	"testing"

	"github.com/bloomery/bloomery/internal/steps"
)

// TestObject: a Store is one of the steps.
func TestObject(t *testing.T) {
	if reflect.TypeFor[Object]() != reflect.TypeFor[steps.Object]() {
		t.Error("Object is another type than in the steps")
	}
}
