package main

import "math/rand/v2"

// firstAbsent is the number of the first key that no filter holds.
const firstAbsent = 1 << 40

// keyAt returns the i-th key. The mapping is one to one (the steps of splitmix64's output are), so that all present keys are
// distinct and none is absent.
func keyAt(i uint64) uint64 {
	x := (i + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// keysFrom returns n keys from the first on.
func keysFrom(first uint64, n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = keyAt(first + uint64(i))
	}
	return keys
}

// some returns n of the keys, or all, from all over and in a random order.
func some(keys []uint64, n int) []uint64 {
	r := rand.New(rand.NewPCG(5, 6))
	part := make([]uint64, min(n, len(keys)))
	if len(part) < len(keys)/4 { // in strata: a permutation of a hundred million would take longer than the questions
		for i := range part {
			lo, hi := i*len(keys)/len(part), (i+1)*len(keys)/len(part)
			part[i] = keys[lo+r.IntN(hi-lo)]
		}
	} else {
		for i, at := range r.Perm(len(keys))[:len(part)] {
			part[i] = keys[at]
		}
	}
	r.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	return part
}
