package clubcard

import "errors"

var (
	// ErrFormat means that bytes are not of the format, or of a version that this package does not read.
	ErrFormat = errors.New("not a Clubcard of version 4")
	// ErrIndex means that bytes are not an index of Clubcards, or of a version that this package does not
	// read.
	ErrIndex = errors.New("not an index of Clubcards of version upkiidx1")
	// ErrNoneCovers means that the files which the index names for a timestamp do not cover it: the folder
	// is damaged, or is being replaced.
	ErrNoneCovers = errors.New("the index names files for the certificate, but none of them covers it")
)
