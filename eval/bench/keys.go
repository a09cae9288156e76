package main

import "math/rand/v2"

// firstAbsent is the index of the first absent key.
const firstAbsent = 1 << 40

// keyAt returns the i-th key. The mapping is a bijection, because each step of splitmix64 is a bijection. Therefore
// present keys are distinct and differ from absent keys.
func keyAt(i uint64) uint64 {
	x := (i + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// keysFrom returns n keys, starting with index first.
func keysFrom(first uint64, n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = keyAt(first + uint64(i))
	}
	return keys
}

// some returns a random sample of min(n, len(keys)) keys in random order.
func some(keys []uint64, n int) []uint64 {
	r := rand.New(rand.NewPCG(5, 6))
	part := make([]uint64, min(n, len(keys)))
	if len(part) < len(keys)/4 { // stratified: a permutation of 100M keys would take longer than the queries
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
