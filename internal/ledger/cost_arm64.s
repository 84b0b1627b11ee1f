#include "textflag.h"

TEXT emulated<>(SB), NOSPLIT|NOFRAME, $0-0
	NOOP
	RET

TEXT stepped<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVD R0, R0
	RET

TEXT ·callEmulated(SB), NOSPLIT, $16-8
	MOVD n+0(FP), R9
again:
	CALL emulated<>(SB)
	SUB  $1, R9
	CBNZ R9, again
	RET

TEXT ·callStepped(SB), NOSPLIT, $16-8
	MOVD n+0(FP), R9
again:
	CALL stepped<>(SB)
	SUB  $1, R9
	CBNZ R9, again
	RET

TEXT ·emulatedPC(SB), NOSPLIT, $0-8
	MOVD $emulated<>(SB), R0
	MOVD R0, ret+0(FP)
	RET

TEXT ·steppedPC(SB), NOSPLIT, $0-8
	MOVD $stepped<>(SB), R0
	MOVD R0, ret+0(FP)
	RET

// All instructions of arm64 have the same length, so the long no-op is a no-op.
TEXT ·callLongNop(SB), NOSPLIT, $16-8
	MOVD n+0(FP), R9
again:
	CALL emulated<>(SB)
	SUB  $1, R9
	CBNZ R9, again
	RET

TEXT ·longNopPC(SB), NOSPLIT, $0-8
	MOVD $emulated<>(SB), R0
	MOVD R0, ret+0(FP)
	RET
