//go:build !purego

#include "textflag.h"

// func prefetch(words []uint64, at []uint64, shift uint64)
TEXT ·prefetch(SB), NOSPLIT, $0-56
	MOVQ words_base+0(FP), AX
	MOVQ at_base+24(FP), BX
	MOVQ at_len+32(FP), SI
	MOVQ shift+48(FP), CX
	JMP  check

loop:
	MOVQ       (BX), DX
	SHRQ       CX, DX
	PREFETCHT0 (AX)(DX*8)
	ADDQ       $8, BX
	DECQ       SI

check:
	TESTQ SI, SI
	JNZ   loop
	RET
