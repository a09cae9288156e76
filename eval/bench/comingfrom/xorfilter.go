package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/FastFilter/xorfilter"
	"github.com/cespare/xxhash/v2"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
)

// fromXorfilter compares BinaryFuse8 of hashed strings, fuse of the strings, and the file of BinaryFuse8 in our hands.
func fromXorfilter(ctx context.Context, w io.Writer, dir string) error {
	present, absent := words("present"), words("absent")
	hashes := make([]uint64, len(present))
	for i, key := range present {
		hashes[i] = xxhash.Sum64String(key)
	}

	theirs, err := xorfilter.PopulateBinaryFuse8(slices.Clone(hashes)) // it may sort its argument
	if err != nil {
		return err
	}
	ours, err := bloomery.Build(ctx, slices.Values(present), bloomery.Config{Spec: "fuse(width=8)"})
	if err != nil {
		return err
	}

	var file bytes.Buffer
	if err := theirs.Save(&file); err != nil {
		return err
	}
	saved := bytes.Clone(file.Bytes())
	converted, err := interop.Read(&file, interop.XorFilter8, 1<<30)
	if err != nil {
		return err
	}
	integers := bloomery.Keyed[uint64](converted)
	stored, err := ours.MarshalBinary()
	if err != nil {
		return err
	}

	if err := compare(w, present, absent,
		side[string]{"xorfilter", func(key string) bool { return theirs.Contains(xxhash.Sum64String(key)) }, 1. / 256,
			len(saved)},
		side[string]{"fuse", ours.ContainsString, ours.Info().FPRPrior, len(stored)},
		side[string]{"xorfilter, opened", func(key string) bool { return integers.Contains(xxhash.Sum64String(key)) },
			converted.Info().FPRPrior, len(saved)},
	); err != nil {
		return err
	}
	for _, key := range absent {
		if h := xxhash.Sum64String(key); theirs.Contains(h) != integers.Contains(h) {
			return want("a file that was read gives the same answers", false)
		}
	}

	return errors.Join(xorFiles(ctx, hashes, converted, saved, filepath.Join(dir, "f.bloom")), xorDuplicates(ctx))
}

// xorFiles writes filters for their program: the one that was read, after a file of ours, and one that was built here.
func xorFiles(ctx context.Context, hashes []uint64, converted *bloomery.Set, saved []byte, path string) error {
	if err := converted.Save(ctx, path); err != nil {
		return err
	}
	again, err := bloomery.Open(ctx, path)
	if err != nil {
		return err
	}
	defer again.Close()
	var same bytes.Buffer
	if err := interop.Write(&same, again, interop.XorFilter8); err != nil {
		return err
	}
	if err := want("the same bytes", bytes.Equal(same.Bytes(), saved)); err != nil {
		return err
	}

	built, err := bloomery.Build(ctx, slices.Values(hashes), bloomery.Config{
		Spec: "fuse(width=8)", Hashing: bloomery.Hashing{ID: filter.Uint64},
	})
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := interop.Write(&file, built, interop.XorFilter8); err != nil {
		return err
	}
	theirs, err := xorfilter.LoadBinaryFuse8(&file)
	if err != nil {
		return err
	}
	for _, h := range hashes {
		if !theirs.Contains(h) {
			return want("their program reads ours", false)
		}
	}
	return nil
}

// xorDuplicates builds from a list with duplicates, asks for a key and adds one.
func xorDuplicates(ctx context.Context) error {
	list := []uint64{3, 1, 3, 2, 3}
	keys := slices.Values(list)
	ours, err := bloomery.Build(ctx, keys, bloomery.Config{Spec: "fuse(width=16)"})
	if err != nil {
		return err
	}
	low, err := bloomery.Build(ctx, keys, bloomery.Config{Spec: "fuse", FPR: 1e-6})
	if err != nil {
		return err
	}
	theirs, err := xorfilter.NewBinaryFuse[uint16](list)
	if err != nil {
		return err
	}

	integers := bloomery.Keyed[uint64](ours)
	return errors.Join(
		want("duplicates", ours.Len() == 3), want("FPR", low.Info().FPRPrior <= 1e-6),
		want("Contains", theirs.Contains(2) && integers.Contains(2)),
		want("static", errors.Is(integers.Add(4), errors.ErrUnsupported)),
	)
}
