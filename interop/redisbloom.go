package interop

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/family/redisbloom"
	"github.com/bloomery/bloomery/filter"
)

// redisBloom is what BF.SCANDUMP gives, all of its data one after the other and nothing between: the header, whose length
// follows from its first 20 bytes, then the bit arrays of all links, whose lengths follow from the header. Words are little endian.
//
// A key is the bytes of the item; Redis has integers as their decimal digits.
var redisBloom = codec{
	format: RedisBloom, family: redisbloom.Family, hash: filter.Murmur64A, want: "redisbloom",
	head: func(r *reader) (*header, error) {
		start, err := r.more(nil, redisbloom.ChainHeader)
		if err != nil {
			return nil, err
		}
		links, err := redisbloom.HeaderLinks(start)
		if errors.Is(err, redisbloom.ErrOldForm) {
			return nil, r.fail(ErrForm, "%v", err)
		} else if err != nil {
			return nil, r.fail(ErrFormat, "%v", err)
		}
		whole, err := r.more(start, links*redisbloom.LinkHeader)
		if err != nil {
			return nil, err
		}
		spec, section, words, err := redisbloom.EncodedHeader(whole)
		switch {
		case errors.Is(err, redisbloom.ErrOldForm):
			return nil, r.fail(ErrForm, "%v", err)
		case errors.Is(err, filter.ErrTooLarge):
			return nil, r.fail(filter.ErrTooLarge, "%v", err)
		case err != nil:
			return nil, r.fail(container.ErrCorrupt, "%v", err)
		}
		keys := section[0]
		return &header{spec: spec, before: [][]uint64{section}, words: words, keys: func([]uint64) uint64 { return keys }}, nil
	},
	marshal: func(f filter.Filter) ([]byte, error) { return f.(*redisbloom.Filter).Header(), nil },
}

// maxChunk is the most data that BF.SCANDUMP gives at once.
const maxChunk = 16 << 20

// Chunks gives the iterator and the data of each BF.LOADCHUNK that makes the filter in a Redis, in their order: what
// BF.SCANDUMP would give. It fails with an error wrapping ErrFormat for other filters.
//
//	chunks, err := interop.Chunks(set)
//	for at, data := range chunks {
//		client.BFLoadChunk(ctx, key, at, data)
//	}
func Chunks(s *bloomery.Set) (iter.Seq2[int64, []byte], error) {
	if err := redisBloom.check(s); err != nil {
		return nil, err
	}
	f := s.Filter().(*redisbloom.Filter)
	return func(yield func(int64, []byte) bool) {
		if !yield(1, f.Header()) {
			return
		}
		words := f.Encode().Sections[1]
		at := int64(1)
		links, _ := f.Links()
		for _, l := range links {
			for left := l.Bits / 8; left > 0; {
				n := min(left, maxChunk)
				var b bytes.Buffer
				_ = writeWords(&b, words[:n/8], false) // a Buffer takes all
				words, left = words[n/8:], left-n
				at += int64(n)
				if !yield(at, b.Bytes()) {
					return
				}
			}
		}
	}, nil
}

// commands is how what WriteCommands writes begins.
const commands = "*4\r\n$12\r\nBF.LOADCHUNK\r\n"

// HasCommands reports whether a file begins as WriteCommands does.
func HasCommands(r io.ReaderAt) bool {
	var b [len(commands)]byte
	_, _ = r.ReadAt(b[:], 0)
	return string(b[:]) == commands
}

// WriteCommands writes a RedisBloom filter as the commands that make it in a Redis under a key that it does not have yet, in Redis's
// own protocol: what redis-cli --pipe takes.
func WriteCommands(w io.Writer, s *bloomery.Set, key string) error {
	chunks, err := Chunks(s)
	if err != nil {
		return err
	}
	for at, data := range chunks {
		_, err := fmt.Fprintf(w, commands+"$%d\r\n%s\r\n$%d\r\n%d\r\n$%d\r\n%s\r\n", len(key), key, len(strconv.FormatInt(at, 10)), at, len(data), data)
		if err != nil {
			return err
		}
	}
	return nil
}
