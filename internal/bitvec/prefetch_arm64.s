//go:build !purego

#include "textflag.h"

// func prefetch(words []uint64, at []uint64, shift uint64)
TEXT ·prefetch(SB), NOSPLIT, $0-56
	MOVD words_base+0(FP), R0
	MOVD at_base+24(FP), R1
	MOVD at_len+32(FP), R2
	MOVD shift+48(FP), R5
	CBZ  R2, done

loop:
	MOVD.P 8(R1), R3
	LSR    R5, R3, R3
	ADD    R3<<3, R0, R4
	PRFM   (R4), PLDL1KEEP
	SUB    $1, R2
	CBNZ   R2, loop

done:
	RET
