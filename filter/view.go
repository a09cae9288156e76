package filter

import "unsafe"

// view returns the bytes of a string without copying them. They must not be changed. Hash functions written
// for []byte would otherwise copy every string of more than 32 bytes to the heap.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
