//go:build !linux

package bitvec

func memory() uint64 { return 0 }

func adviseHuge([]uint64) {}

func release([]uint64) {}
