package clubcard

// Names for the tests, which are in a separate package, like the code of a user.

type Index = index

var ReadIndex = readIndex

// Covering returns the names of the files to query.
func (x *index) Covering(scts ...SCT) []string { return x.covering(scts...) }

// Files returns the names of all files, in their order in the index.
func (x *index) Files() []string { return x.names }
