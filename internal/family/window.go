package family

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
)

// Window and WindowID are the name and the number in files of the filters of package window. They are no family of
// package families: their answers change with time.
const (
	Window   = "window"
	WindowID = 11
)

// ErrWindow is the error of readers of filters for a file of package window.
var ErrWindow = fmt.Errorf("%w %d: %s, a filter whose keys expire; open it with package window", filter.ErrFamily,
	WindowID, Window)
