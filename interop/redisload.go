package interop

import (
	"fmt"

	"github.com/bloomery/bloomery"
)

// LoadRedis loads a RedisBloom filter into Redis under the key fresh, which must not exist there, and renames it to key
// after Redis has taken every chunk. RENAME replaces a filter under key at once: clients see the old or the new one. In
// a cluster both keys must have the same slot, as {seen}.new and seen do. Keys that clients add to the old filter after
// the dump that the new one was made from are lost.
//
// do sends one command and returns the error of Redis or of the connection. With go-redis:
//
//	do := func(args ...any) error { return client.Do(ctx, args...).Err() }
//	err := interop.LoadRedis(set, "{seen}.new", "seen", do)
//
// The first error of do ends the load and is returned. key then keeps what it had, unless the connection broke in the
// RENAME. fresh is deleted if the load had created it, as far as the connection allows. Other errors come from
// Chunks, before any command is sent, and of s.Err.
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
		_ = do("DEL", fresh) // the error that counts is the first
	}
	return err
}
