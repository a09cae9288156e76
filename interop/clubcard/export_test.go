package clubcard

// Names for the tests, which are in a package of their own, as the code of a user is.

type Index = index

var ReadIndex = readIndex

// Covering returns the names of the files to ask.
func (x *index) Covering(scts ...SCT) []string { return x.covering(scts...) }

// Files returns the names of all files, in their order in the index.
func (x *index) Files() []string { return x.names }
