package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ribbonSums emits code that computes the sums of up to eight columns: the parities of the selected bits of two or
// three blocks. Other columns are not read.
type ribbonSums interface {
	// coefficients emits code that loads the words that select the bits of the blocks, one word per block.
	coefficients(by []GPVirtual)

	// columns emits code that selects the columns that are set in r.mask.
	columns(r ribbon)

	// first emits code that selects the first n columns, or all eight if n is larger.
	first(n GPVirtual)

	// sums emits code that computes the sums, and returns the register that has them in its lowest bits. at[i] is the
	// address of the first column of block i.
	sums(r ribbon, at []Mem) GPVirtual

	// clear emits the instruction, if any, that must follow the use of vector registers.
	clear()
}

// sums512 uses AVX-512: the sum of a column is the lowest bit of its POPCNT. Registers above 15 need no VZEROUPPER.
type sums512 struct{}

var (
	wide512 = []VecPhysical{Z16, Z17, Z18}
	keep512 = K2
)

func (sums512) coefficients(by []GPVirtual) {
	for i, c := range by {
		VPBROADCASTQ(c, wide512[i])
	}
}

func (sums512) columns(r ribbon) { KMOVB(r.mask(), keep512) }

func (sums512) first(n GPVirtual) {
	mask := GP32()
	MOVL(U32(0xff), mask)
	BZHIL(n.As32(), mask, mask)
	KMOVB(mask, keep512)
}

func (sums512) sums(r ribbon, at []Mem) GPVirtual {
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

func (sums512) clear() {}

// sums256 uses AVX2. It folds each column to the highest four bits of a lane of 32 bits, and shifts the parity of these
// four from a table to the highest bit. With POPCNT of each column a query took 12.1 ns instead of 7.8 (r=8, 10,000
// keys, Zen 4).
type sums256 struct{}

var (
	wide256 = []VecPhysical{Y0, Y1, Y2}
	sum256  = []VecPhysical{Y3, Y4} // columns 0 to 3 and 4 to 7
	keep256 = []VecPhysical{Y5, Y6} // masks of these
)

func (sums256) coefficients(by []GPVirtual) {
	for i, c := range by {
		VMOVQ(c, wide256[i].AsX())
		VPBROADCASTQ(wide256[i].AsX(), wide256[i])
	}
}

func (sums256) columns(r ribbon) {
	VMOVDQU(r.keep(0), keep256[0])
	VMOVDQU(r.keep(4), keep256[1])
}

func (sums256) first(n GPVirtual) {
	VMOVQ(n, X7)
	VPBROADCASTQ(X7, Y7)
	VPCMPGTQ(NewDataAddr(Symbol{Name: "·ribbonNumbers"}, 0), Y7, keep256[0])
	VPCMPGTQ(NewDataAddr(Symbol{Name: "·ribbonNumbers"}, 32), Y7, keep256[1])
}

func (sums256) sums(_ ribbon, at []Mem) GPVirtual {
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

func (sums256) clear() { VZEROUPPER() }
