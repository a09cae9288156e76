package bloomery_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestFollow changes Sets whose first change replaces the filter, in every way, and asks for the new key.
func TestFollow(t *testing.T) {
	key, spec := []byte("a new key"), "rankindexed(capacity=100000,value_bits=8)"
	empty, err := bloomery.New(bloomery.Config{Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	file, err := empty.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "f.bloom")
	big, err := bloomery.New(bloomery.Config{Spec: "rankindexed(capacity=1000000,value_bits=8)"})
	if err != nil {
		t.Fatal(err)
	}
	if err := big.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	forms := map[string]func() (*bloomery.Set, error){
		"borrowed": func() (*bloomery.Set, error) { return bloomery.FromBytes(bytes.Clone(file)) },
		"mapped":   func() (*bloomery.Set, error) { return bloomery.Open(t.Context(), path) },
		"writers":  func() (*bloomery.Set, error) { return bloomery.FromBytes(file, bloomery.WithConcurrent()) },
	}
	ways := map[string]func(s *bloomery.Set) error{
		"Add":     func(s *bloomery.Set) error { return s.Add(key) },
		"AddMany": func(s *bloomery.Set) error { return bloomery.Keyed[[]byte](s).AddMany([][]byte{key}) },
		"AddHashes": func(s *bloomery.Set) error {
			return bloomery.Keyed[filter.Hash](s).AddMany([]filter.Hash{s.Hasher().Sum(key)})
		},
		"TestAndAdd": func(s *bloomery.Set) error { _, err := s.TestAndAdd(key); return err },
		"AddValue":   func(s *bloomery.Set) error { return s.AddValue(key, 1) },
		"Upsert":     func(s *bloomery.Set) error { return s.Upsert(key, 1) },
		"Remove":     func(s *bloomery.Set) error { _ = s.Remove([]byte("absent")); return s.Add(key) },
		"Reset":      func(s *bloomery.Set) error { return firstOf(s.Reset(), s.Add(key)) },
		"Addition": func(s *bloomery.Set) error {
			a, err := s.Addition(bloomery.JobConfig{})
			if err != nil {
				return err
			}
			return firstOf(a.AddMany([][]byte{key}), a.Commit(t.Context()), a.Close())
		},
		"UnmarshalBinary": func(s *bloomery.Set) error {
			o, err := empty.Clone()
			if err != nil {
				return err
			}
			err = o.Add(key)
			b, err2 := o.MarshalBinary()
			return firstOf(err, err2, s.UnmarshalBinary(b))
		},
	}
	for form, open := range forms {
		for way, change := range ways {
			s, err := open()
			if err != nil {
				t.Fatal(err)
			}
			if s.Contains(key) {
				t.Fatalf("%s: the key is present", form)
			}
			if err := change(s); err != nil {
				t.Fatalf("%s of %s: %v", way, form, err)
			}
			if !s.Contains(key) || !s.ContainsHash(s.Hasher().Sum(key)) {
				t.Errorf("%s of %s: the key is absent", way, form)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// firstOf returns the first error.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
