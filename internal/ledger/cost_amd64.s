#include "textflag.h"

TEXT emulated<>(SB), NOSPLIT|NOFRAME, $0-0
	BYTE $0x90 // nop
	RET

TEXT stepped<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVL AX, AX
	RET

TEXT ·callEmulated(SB), NOSPLIT, $8-8
	MOVQ n+0(FP), CX
again:
	CALL emulated<>(SB)
	DECQ CX
	JNZ  again
	RET

TEXT ·callStepped(SB), NOSPLIT, $8-8
	MOVQ n+0(FP), CX
again:
	CALL stepped<>(SB)
	DECQ CX
	JNZ  again
	RET

TEXT ·emulatedPC(SB), NOSPLIT, $0-8
	LEAQ emulated<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET

TEXT ·steppedPC(SB), NOSPLIT, $0-8
	LEAQ stepped<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET
