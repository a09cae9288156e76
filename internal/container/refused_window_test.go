package container

import "encoding/binary"

// windowRefusals adds files of package window, whose answers depend on the time: no reader of filters opens them. It
// also adds a file of a family that no reader knows.
func windowRefusals(f forger) {
	for _, name := range []string{"few", "keyed", "new"} {
		f.with("window", "../../../window/testdata/"+name+".window").edit(name, true, func([]byte) {})
	}
	few, standard := f.with("window", "../../../window/testdata/few.window"), f.with("window", "standard-0.bloom")
	standard.edit("the magic with a filter", true, func(b []byte) { copy(b, windowMagic) })
	few.edit("the magic of a filter", true, func(b []byte) { copy(b, magic) })

	standard.edit("an unknown family", true, func(b []byte) { binary.LittleEndian.PutUint16(b[10:], 11) })
	(*f.cases)[len(*f.cases)-1].Unknown = true
}
