package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ribbonSums is code for the sums of up to eight columns: the parities of the selected bits of two or three blocks.
type ribbonSums interface {
	// coefficients takes the coefficients of the blocks.
	coefficients(by []GPVirtual)

	// masks prepares calls of few: it reads r.mask.
	masks(r ribbon)

	// few returns a register with the sums of the columns of r.mask, from these addresses on, in its lowest bits.
	few(r ribbon, at []Mem) GPVirtual

	// some does the same for the first n columns, or the first eight if there are more.
	some(r ribbon, at []Mem, n GPVirtual) GPVirtual

	// clear ends the use of vector registers.
	clear()
}

// sums512 uses AVX-512: the sum of a column is the lowest bit of its POPCNT. Registers above 15 need no VZEROUPPER.
type sums512 struct{}

var (
	wide512 = []VecPhysical{Z16, Z17, Z18}
	keep512 = K2
)

func (sums512) clear() {}

func (sums512) coefficients(by []GPVirtual) {
	for i, c := range by {
		VPBROADCASTQ(c, wide512[i])
	}
}

func (sums512) masks(r ribbon) { KMOVB(r.mask(), keep512) }

func (s sums512) few(r ribbon, at []Mem) GPVirtual { return s.masked(r, at) }

func (s sums512) some(r ribbon, at []Mem, n GPVirtual) GPVirtual {
	mask := GP32()
	MOVL(U32(0xff), mask)
	BZHIL(n.As32(), mask, mask)
	KMOVB(mask, keep512)
	return s.masked(r, at)
}

func (sums512) masked(r ribbon, at []Mem) GPVirtual {
	odd, bits := K(), GP32()
	VPANDQ_Z(at[0], wide512[0], keep512, Z19)
	for i := 1; i < len(at); i++ {
		VPTERNLOGQ_Z(U8(0x78), at[i], wide512[i], keep512, Z19)
	}
	VPOPCNTQ(Z19, Z19)
	VPTESTMQ_BCST(r.one(), Z19, odd)
	KMOVB(odd, bits)
	return bits
}

// sums256 uses AVX2. It folds each column to the highest four bits of a lane of 32 bits and shifts to its highest bit
// their parity from a table.
type sums256 struct{}

var (
	wide256 = []VecPhysical{Y0, Y1, Y2}
	sum256  = []VecPhysical{Y3, Y4} // columns 0 to 3 and 4 to 7
	keep256 = []VecPhysical{Y5, Y6} // masks of these
)

func (sums256) clear() { VZEROUPPER() }

func (sums256) coefficients(by []GPVirtual) {
	for i, c := range by {
		VMOVQ(c, wide256[i].AsX())
		VPBROADCASTQ(wide256[i].AsX(), wide256[i])
	}
}

func (sums256) masks(r ribbon) {
	VMOVDQU(r.keep(0), keep256[0])
	VMOVDQU(r.keep(4), keep256[1])
}

func (s sums256) few(_ ribbon, at []Mem) GPVirtual { return s.masked(at) }

func (s sums256) some(_ ribbon, at []Mem, n GPVirtual) GPVirtual {
	VMOVQ(n, X7)
	VPBROADCASTQ(X7, Y7)
	VPCMPGTQ(NewDataAddr(Symbol{Name: "·ribbonNumbers"}, 0), Y7, keep256[0])
	VPCMPGTQ(NewDataAddr(Symbol{Name: "·ribbonNumbers"}, 32), Y7, keep256[1])
	return s.masked(at)
}

func (sums256) masked(at []Mem) GPVirtual {
	for half, sum := range sum256 {
		for i, a := range at {
			a.Disp += 32 * half
			to := []VecPhysical{sum, Y7}[min(i, 1)]
			VPMASKMOVQ(a, keep256[half], to)
			VPAND(wide256[i], to, to)
			if i > 0 {
				VPXOR(Y7, sum, sum)
			}
		}
	}
	bits := GP32()
	VSHUFPS(U8(0x88), sum256[1], sum256[0], Y7) // columns 0, 1, 4, 5, 2, 3, 6, 7
	VSHUFPS(U8(0xdd), sum256[1], sum256[0], Y3)
	VPXOR(Y7, Y3, Y3)
	VPERMQ(U8(0xd8), Y3, Y3)
	for _, by := range []uint64{16, 8, 4} {
		VPSLLD(Imm(by), Y3, Y7)
		VPXOR(Y7, Y3, Y3)
	}
	VPSRLD(Imm(28), Y3, Y3)
	VMOVDQU(NewDataAddr(Symbol{Name: "·ribbonParities"}, 0), Y7)
	VPSLLVD(Y3, Y7, Y3)
	VMOVMSKPS(Y3, bits)
	return bits
}
