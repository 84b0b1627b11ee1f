#include "textflag.h"

TEXT emulated<>(SB), NOSPLIT|NOFRAME, $0-0
	BYTE $0x90 // nop
	RET

TEXT stepped<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVL AX, AX
	RET

TEXT longNop<>(SB), NOSPLIT|NOFRAME, $0-0
	LONG $0x00441f0f // nopl 0(ax)(ax*1)
	BYTE $0x00
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

TEXT ·callLongNop(SB), NOSPLIT, $8-8
	MOVQ n+0(FP), CX
again:
	CALL longNop<>(SB)
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

TEXT ·longNopPC(SB), NOSPLIT, $0-8
	LEAQ longNop<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET
