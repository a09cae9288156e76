package interop

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/redisbloom"
)

// redisBloom is the data of all replies of BF.SCANDUMP, concatenated: the header, whose length follows from its first
// 20 bytes, then the bit arrays of all links, whose lengths follow from the header. See redisbloom.Filter.Header.
// Words are little endian.
//
// A key has the bytes of the item. Redis passes integers as their decimal digits.
var redisBloom = codec{
	format: RedisBloom, hash: filter.Murmur64A,
	head: func(r *reader) header {
		check := func(err, as error) {
			switch {
			case err == nil:
				return
			case errors.Is(err, redisbloom.ErrOldForm):
				as = ErrForm
			case errors.Is(err, filter.ErrTooLarge):
				as = filter.ErrTooLarge
			}
			r.fail(as, "%v", err)
		}
		start := r.appendBytes(nil, redisbloom.ChainHeader)
		links, err := redisbloom.HeaderLinks(start)
		check(err, ErrFormat)
		if r.err == nil {
			r.end = redisbloom.ChainHeader + links*redisbloom.LinkHeader
		}
		whole := r.appendBytes(start, links*redisbloom.LinkHeader)
		spec, section, words, err := redisbloom.EncodedHeader(whole)
		check(err, filter.ErrCorrupt)
		stored := func([]uint64) uint64 { return section[0] }
		return header{spec: spec, before: [][]uint64{section}, words: words, keys: stored}
	},
	marshal: func(e *container.File) ([]byte, error) {
		f, err := decodedChain(e.Encoded)
		if err != nil {
			return nil, err
		}
		return f.Header(), nil
	},
}

// decodedChain returns the filter of a stored form.
func decodedChain(e family.Encoded) (*redisbloom.Filter, error) {
	f, err := families.Decode(e)
	if err != nil {
		return nil, err
	}
	return f.(*redisbloom.Filter), nil
}

// maxChunk is the largest reply of BF.SCANDUMP, in bytes of data.
const maxChunk = 16 << 20

// Chunks returns the arguments of the BF.LOADCHUNK commands, in order, that load the filter into Redis: iterator and
// data, as BF.SCANDUMP would return them, each of at most 16 MiB after the header. It copies the filter, so that the
// Set may change during the iteration. The error wraps ErrFormat if the Set is not of family redisbloom, and otherwise
// comes from Set.MarshalBinary. See LoadRedis.
func Chunks(s *bloomery.Set) (iter.Seq2[int64, []byte], error) {
	if err := redisBloom.checkSet(s); err != nil {
		return nil, err
	}

	e, err := storedForm(s)
	if err != nil {
		return nil, err
	}

	f, err := decodedChain(e.Encoded)
	if err != nil {
		return nil, err
	}
	return func(yield func(int64, []byte) bool) {
		if !yield(1, f.Header()) {
			return
		}
		words := e.Sections[1]
		at := int64(1)
		links, _ := f.Links()
		for _, l := range links {
			for left := l.Bits / 8; left > 0; {
				n := min(left, maxChunk)
				var b bytes.Buffer
				_ = writeWords(&b, words[:n/8], false) // a Buffer never fails
				words, left = words[n/8:], left-n
				at += int64(n)
				if !yield(at, b.Bytes()) {
					return
				}
			}
		}
	}, nil
}

// commands is the beginning of the output of WriteCommands.
const commands = "*4\r\n$12\r\nBF.LOADCHUNK\r\n"

// HasCommands reports whether r begins like the output of WriteCommands. It reads 23 bytes.
func HasCommands(r io.ReaderAt) bool {
	var b [len(commands)]byte
	_, _ = r.ReadAt(b[:], 0)
	return string(b[:]) == commands
}

// WriteCommands writes the commands that load a RedisBloom filter into Redis under a key that must not exist there. The
// output is in the Redis protocol, for redis-cli --pipe. Errors come from Chunks and w.
//
// Never load over a key in use: Redis refuses the header but accepts chunks that fit, and the existing filter then
// lacks keys. redis-cli --pipe continues after errors, so load under a new key and rename it only if redis-cli reports
// no error:
//
//	redis-cli --pipe < seen.resp && redis-cli RENAME seen.new seen
func WriteCommands(w io.Writer, s *bloomery.Set, key string) error {
	chunks, err := Chunks(s)
	if err != nil {
		return err
	}

	for at, data := range chunks {
		_, err := fmt.Fprintf(w, commands+"$%d\r\n%s\r\n$%d\r\n%d\r\n$%d\r\n%s\r\n",
			len(key), key, len(strconv.FormatInt(at, 10)), at, len(data), data)
		if err != nil {
			return err
		}
	}
	return nil
}

// LoadRedis loads a RedisBloom filter into Redis under the key fresh, which must not exist there, and renames it to key
// after Redis has taken every chunk. RENAME replaces a filter under key atomically: clients see the old or the new one.
// In a cluster both keys must have the same slot, as {seen}.new and seen do. If the new filter was made from a dump of
// the old one, keys that clients added after the dump are lost.
//
// do sends one command and returns the error of Redis or of the connection. With go-redis:
//
//	do := func(args ...any) error { return client.Do(ctx, args...).Err() }
//	err := interop.LoadRedis(set, "{seen}.new", "seen", do)
//
// The first error of do ends the load and is returned. key is then unchanged, unless the connection broke during
// RENAME. LoadRedis deletes fresh if it had created it and the connection still works. Other errors come from Chunks,
// before any command is sent, and from s.Err.
func LoadRedis(s *bloomery.Set, fresh, key string, do func(args ...any) error) error {
	chunks, err := Chunks(s)
	if err != nil {
		return err
	}

	created := false
	for at, data := range chunks {
		if err = do("BF.LOADCHUNK", fresh, at, data); err != nil {
			err = fmt.Errorf("BF.LOADCHUNK %s %d, %d bytes: %w", fresh, at, len(data), err)
			break
		}
		created = true
	}
	if err == nil {
		err = s.Err() // the iteration ends early if the file was changed
	}
	if err == nil {
		if err = do("RENAME", fresh, key); err != nil {
			err = fmt.Errorf("RENAME %s %s: %w", fresh, key, err)
		}
	}
	if err != nil && created {
		// The first error says why the load failed; an error of DEL would only hide it.
		_ = do("DEL", fresh)
	}
	return err
}
