//go:build !linux

package bitvec

func adviseHuge([]uint64) {}
