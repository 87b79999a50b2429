#include "textflag.h"

// func timeStampCounter() int64
TEXT ·timeStampCounter(SB), NOSPLIT, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET
