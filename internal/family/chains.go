package family

// ChainTable is a filter whose content is cells in the chains of buckets: rankindexed. Package delta reads and writes
// it bucket by bucket.
type ChainTable interface {
	Filter
	// ChainShape returns the sizes.
	ChainShape() ChainShape
	// BucketReader returns a function that reads bucket b and reuses the memory of to, for one goroutine.
	BucketReader() func(b uint64, to *ChainBucket)
	// CellsOf returns the number of cells in use of bucket b.
	CellsOf(b uint64) uint64
	// Extension returns the number of the bucket's extension of a level, 1 or 2, or false if it has none.
	Extension(b uint64, level int) (number uint64, ok bool)
	// SameShape returns an empty table of the same sizes. The error wraps ErrTooLarge.
	SameShape() (ChainTable, error)
	// BucketWriter returns a function that fills bucket b, which must be empty, for one goroutine at a time. It takes
	// the extensions that the bucket needs by their numbers, which must be free. The error wraps ErrFull if there are
	// too many cells.
	BucketWriter() func(b uint64, from *ChainBucket, extensions [ChainLevels]uint64) error
	// Stored returns the stored form, trimmed or not.
	Stored(trimmed bool) Encoded
}

// ChainLevels is the number of parts that a bucket may have: itself, and an extension of level 1 and of level 2.
const ChainLevels = 3

// ChainShape has the sizes of a ChainTable.
type ChainShape struct {
	Buckets, Chains uint64              // chains of a bucket
	Width, Payload  uint                // bits of a cell, and of these the lowest ones, which are not its remainder
	Room            [ChainLevels]uint64 // cells of a bucket, of an extension of level 1, of one of level 2
	Records         [ChainLevels]uint64 // number of buckets, of extensions of level 1, of extensions of level 2
}

// Most returns the number of cells of all buckets and extensions.
func (s ChainShape) Most() (n uint64) {
	for level, room := range s.Room {
		n += room * s.Records[level]
	}
	return n
}

// Levels returns the number of parts of a bucket with that number of cells in use: 1 to ChainLevels, or more if they do
// not fit.
func (s ChainShape) Levels(cells uint64) (n int) {
	for _, room := range s.Room {
		if n++; cells <= room {
			return n
		}
		cells -= room
	}
	return n + 1
}

// ChainBucket is the content of a bucket.
type ChainBucket struct {
	Lengths []uint16 // by chain: its number of cells
	Cells   []uint64 // chain by chain, each in order
	Numbers []uint16 // by cell: its number in the bucket as it is stored
}
