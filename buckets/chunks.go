package buckets

import (
	"fmt"
	"hash/maphash"

	"github.com/bloomery/bloomery/shard"
)

// chunkSize is the number of bytes that a checksum of chunks covers.
const chunkSize = 4096

// chunks are checksums of a shard, one for each chunkSize bytes from its start on. They depend on a random seed, so
// that nobody else can make other bytes that have them. It is the Writer of the bytes until end.
type chunks struct {
	seed maphash.Seed
	sums []uint64
	rest []byte
}

func (c *chunks) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		take := min(len(p), chunkSize-len(c.rest))
		if c.rest, p = append(c.rest, p[:take]...), p[take:]; len(c.rest) == chunkSize {
			c.end()
		}
	}
	return n, nil
}

// end adds the checksum of the bytes that were written last.
func (c *chunks) end() {
	if len(c.rest) > 0 {
		c.sums = append(c.sums, maphash.Bytes(c.seed, c.rest))
		c.rest = c.rest[:0]
	}
}

// around returns the range of whole chunks that has the bytes from from to to of a shard of size bytes.
func (c *chunks) around(from, to, size int64) (int64, int64) {
	return from / chunkSize * chunkSize, min((to+chunkSize-1)/chunkSize*chunkSize, size)
}

// check returns an error wrapping shard.ErrChanged unless b, from an offset of around on, has the checksums.
func (c *chunks) check(offset int64, b []byte) error {
	for i := offset / chunkSize; len(b) > 0; i++ {
		n := min(len(b), chunkSize)
		if i >= int64(len(c.sums)) || maphash.Bytes(c.seed, b[:n]) != c.sums[i] {
			return fmt.Errorf("bytes %d to %d are not those that Verify has read: %w", i*chunkSize,
				i*chunkSize+int64(n)-1, shard.ErrChanged)
		}
		b = b[n:]
	}
	return nil
}
