package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bits-and-blooms/bloom/v3"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
)

// fromBitsAndBlooms compares bits-and-blooms, standard, and the file of bits-and-blooms in our hands.
func fromBitsAndBlooms(ctx context.Context, w io.Writer, dir string) error {
	present, absent := words("present"), words("absent")

	theirs := bloom.NewWithEstimates(keys, 0.01)
	for _, key := range present {
		theirs.AddString(key)
	}

	ours, err := bloomery.New(bloomery.Config{Keys: keys, FPR: 0.01})
	if err != nil {
		return err
	}
	for _, key := range present {
		if err := ours.AddString(key); err != nil {
			return err
		}
	}

	var file bytes.Buffer
	if _, err := theirs.WriteTo(&file); err != nil {
		return err
	}
	length := file.Len()
	converted, err := interop.Read(bytes.NewReader(file.Bytes()), interop.BitsAndBlooms, 1<<30)
	if err != nil {
		return err
	}
	stored, err := ours.MarshalBinary()
	if err != nil {
		return err
	}

	m, k := float64(theirs.Cap()), float64(theirs.K())
	rate := math.Pow(1-math.Exp(-k*keys/m), k)
	if err := compare(w, present, absent,
		side[string]{"bits-and-blooms", theirs.TestString, rate, length},
		side[string]{"standard", ours.ContainsString, ours.Info().FPRPrior, len(stored)},
		side[string]{"bits-and-blooms, opened", converted.ContainsString, converted.Info().FPRPrior, length},
	); err != nil {
		return err
	}
	for _, key := range absent {
		if theirs.TestString(key) != converted.ContainsString(key) {
			return want("a file that was read gives the same answers", false)
		}
	}

	return errors.Join(bitsRates(ctx, theirs, ours), bitsCalls(theirs, ours), bitsFiles(ctx, theirs, dir),
		bitsEncodings(theirs), bitsCrawler(ctx, filepath.Join(dir, "seen.bloom"), present))
}

// bitsCalls makes the other calls of the table on filters of the same keys.
func bitsCalls(theirs *bloom.BloomFilter, ours *bloomery.Set) error {
	extra, fresh := []byte("extra.example"), []byte("fresh.example")
	theirs.Add(extra)
	if err := errors.Join(ours.Add(extra), want("Add", theirs.Test(extra) && ours.Contains(extra))); err != nil {
		return err
	}
	added, err := ours.TestAndAdd(fresh)
	was := theirs.TestOrAdd(fresh)
	if err := errors.Join(err, want("TestAndAdd", was == added)); err != nil {
		return err
	}
	again, err := bloomery.Keyed[string](ours).TestAndAdd("fresh.example")
	if err := errors.Join(err, want("TestAndAdd again", theirs.TestAndAddString("fresh.example") && again)); err != nil {
		return err
	}

	copied := theirs.Copy()
	clone, err := ours.Clone()
	if err := errors.Join(err, want("Copy", copied.Equal(theirs)), want("Clone", clone.Equal(ours))); err != nil {
		return err
	}
	copied.ClearAll()
	if err := errors.Join(clone.Reset(), want("Reset", !copied.Test(fresh) && !clone.Contains(fresh))); err != nil {
		return err
	}

	// Both unite filters of equal sizes only.
	if err := errors.Join(copied.Merge(theirs), clone.Merge(ours)); err != nil {
		return err
	}
	err = clone.Merge(must(bloomery.New(bloomery.Config{Keys: 99_999, FPR: 0.01})))
	if err := want("Merge", copied.Test(fresh) && clone.Contains(fresh) && errors.Is(err, filter.ErrMismatch) &&
		copied.Merge(bloom.NewWithEstimates(99_999, 0.01)) != nil); err != nil {
		return err
	}

	n := keys + 2.0
	estimate, err := ours.EstimateInterval()
	if err := errors.Join(err, want("EstimateInterval", math.Abs(estimate.Keys-n) < 0.01*n),
		want("ApproximatedSize", math.Abs(float64(theirs.ApproximatedSize())-n) < 0.01*n)); err != nil {
		return err
	}

	// A key that is hashed once and asked for in several filters.
	hash := ours.Hash(fresh)
	return want("hashes", ours.ContainsHash(hash) && theirs.TestLocations(bloom.Locations(fresh, theirs.K())))
}

// bitsRates compares the rates of filters of 100,000 keys. Their function measures a new filter, with keys of its own.
func bitsRates(ctx context.Context, theirs *bloom.BloomFilter, ours *bloomery.Set) error {
	rate := bloom.EstimateFalsePositiveRate(theirs.Cap(), theirs.K(), keys)

	v, err := ours.Verifier(bloomery.JobConfig{})
	if err != nil {
		return err
	}
	defer v.Close()
	if err := v.AskRandom(ctx, 100_000, 1, nil); err != nil {
		return err
	}
	seen, err := v.Commit(ctx)
	if err != nil {
		return err
	}

	info := ours.Info()
	near := func(x, y float64) bool { return math.Abs(x-y) < 0.0025 } // six standard deviations
	return errors.Join(want("rates", near(rate, info.FPRPosterior) && near(rate, seen.Rate.Observed)),
		want("Cap", math.Abs(float64(info.Bits)/float64(theirs.Cap())-1) < 0.01),
		want("K", strings.Contains(ours.Spec().String(), fmt.Sprintf("(k=%d,", theirs.K()))))
}

// bitsFiles moves a filter through a file, in their format and in ours.
func bitsFiles(ctx context.Context, theirs *bloom.BloomFilter, dir string) error {
	old, path := filepath.Join(dir, "old.bin"), filepath.Join(dir, "new.bloom")
	file, err := os.Create(old)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(file)
	_, err = theirs.WriteTo(buffered)
	if err := errors.Join(err, buffered.Flush(), file.Close()); err != nil {
		return err
	}

	if file, err = os.Open(old); err != nil {
		return err
	}
	defer file.Close()
	set, err := interop.Read(bufio.NewReader(file), interop.BitsAndBlooms, 1<<30)
	if err != nil {
		return err
	}
	if err := set.Save(ctx, path); err != nil {
		return err
	}

	again, err := bloomery.Open(ctx, path)
	if err != nil {
		return err
	}
	defer again.Close()
	var back bytes.Buffer
	if err := interop.Write(&back, again, interop.BitsAndBlooms); err != nil {
		return err
	}
	var read bloom.BloomFilter
	if _, err := read.ReadFrom(&back); err != nil {
		return err
	}

	_, magic := bloomery.Open(ctx, old)
	_, writers := bloomery.Open(ctx, path, bloomery.WithConcurrent())
	return errors.Join(want("ReadFrom", read.Equal(theirs)), want("Open", errors.Is(magic, filter.ErrMagic)),
		want("WithConcurrent", errors.Is(writers, errors.ErrUnsupported)))
}

// bitsEncodings checks which of their encodings we read.
func bitsEncodings(theirs *bloom.BloomFilter) error {
	text, err := json.Marshal(theirs)
	if err != nil {
		return err
	}
	var stream bytes.Buffer
	if err := gob.NewEncoder(&stream).Encode(theirs); err != nil {
		return err
	}
	for kind, b := range map[string][]byte{"JSON of bits-and-blooms": text, "gob": stream.Bytes()} {
		_, err := interop.Read(bytes.NewReader(b), interop.BitsAndBlooms, 1<<30)
		if err := want(kind, err != nil && strings.Contains(err.Error(), kind)); err != nil {
			return err
		}
	}

	// The advice of these errors.
	var decoded bloom.BloomFilter
	if err := json.Unmarshal(text, &decoded); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := decoded.WriteTo(&b); err != nil {
		return err
	}
	_, err = interop.Read(&b, interop.BitsAndBlooms, 1<<30)
	return err
}

// bitsCrawler is a program that had a BloomFilter, its file and a mutex: several goroutines keep what is new.
func bitsCrawler(ctx context.Context, path string, links []string) error {
	for round := range 2 {
		seen, err := bloomery.Open(ctx, path, bloomery.WithConcurrent())
		if errors.Is(err, fs.ErrNotExist) {
			seen, err = bloomery.New(bloomery.Config{Keys: keys, FPR: 0.001, Concurrent: true})
		}
		if err != nil {
			return err
		}

		fresh, errs := make([]int, 4), make([]error, 4)
		var all sync.WaitGroup
		for i := range fresh {
			all.Go(func() {
				for _, link := range links {
					present, err := bloomery.Keyed[string](seen).TestAndAdd(link)
					if err != nil {
						errs[i] = err
						return
					}
					if !present {
						fresh[i]++
					}
				}
			})
		}
		all.Wait()
		if err := errors.Join(errors.Join(errs...), seen.Save(ctx, path), seen.Close()); err != nil {
			return err
		}

		// A few links are false positives when they come.
		n := fresh[0] + fresh[1] + fresh[2] + fresh[3]
		if err := want("a link is new once", round == 0 && n <= keys && n > 0.999*keys || round == 1 && n == 0); err != nil {
			return err
		}
	}
	return nil
}

// must returns v. It panics if err is not nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
