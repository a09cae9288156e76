package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
)

// errPanic means that the library failed otherwise than by an error.
var errPanic = errors.New("panic in the library")

// askLibrary answers the keys by the Go library in this process. The error says that the file was refused, or that a
// query failed, as in a damaged shard.
func (s *subject) askLibrary() (records []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	secret, err := s.secretBytes()
	if err != nil {
		return nil, err
	}
	if s.exact {
		return s.askExact(secret)
	}
	set, err := bloomery.Open(context.Background(), s.path, bloomery.WithSecret(secret))
	if err != nil {
		return nil, err
	}
	defer set.Close()
	le := binary.LittleEndian
	records = make([]byte, recordSize*len(s.keys))
	for i, k := range s.keys {
		b := records[recordSize*i:][:recordSize]
		if set.Contains(k.bytes) {
			b[0] = 1
		}
		if s.counts {
			n, _, err := set.Count(k.bytes)
			if err != nil {
				return nil, err
			}
			le.PutUint64(b[1:], n)
		}
		if s.values {
			value, ok, err := set.Get(k.bytes)
			if err != nil {
				return nil, err
			}
			if ok {
				b[9] = 1
				le.PutUint64(b[10:], value)
			}
		}
	}
	return records, set.Err()
}

// askExact is askLibrary for an exact set.
func (s *subject) askExact(secret *filter.Secret) (records []byte, err error) {
	set, err := exact.Open(context.Background(), s.path, exact.WithSecret(secret))
	if err != nil {
		return nil, err
	}
	records = make([]byte, recordSize*len(s.keys))
	for i, k := range s.keys {
		if partition, name := k.apart(); set.Contains(name, partition) {
			records[recordSize*i] = 1
		}
	}
	return records, nil
}
