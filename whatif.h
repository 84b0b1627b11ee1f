/* SPDX-License-Identifier: MIT */
/*
 * Progress points in the source of a C or C++ program, for the profiler whatif.
 *
 *	WHATIF_PROGRESS("requests");     one more unit of useful work is done
 *
 *	WHATIF_BEGIN("request");         one begins ...
 *	WHATIF_END("request");           ... and ends, for its latency
 *
 *	WHATIF_BEGIN_ID("request", id);  the same where several are under way and
 *	WHATIF_END_ID("request", id);    a number or a pointer tells them apart
 *
 * This header is all there is: no library, nothing to link, to start or to set.
 * A visit adds one to a number in the program's own memory, whether it is
 * profiled or not. The profiler finds these numbers from outside, by notes in the
 * program's file, and reads them.
 *
 * The name is a string literal without quotes, backslashes, percent signs or
 * braces. Several visits of one name, wherever they are, are one point.
 *
 * It works with gcc and clang, for x86-64 and arm64 with Linux; elsewhere the
 * macros do nothing.
 */
#ifndef WHATIF_H
#define WHATIF_H

#if defined(__linux__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))

/*
 * The numbers are defined by the assembler, each where it is used, because that
 * works the same in inline functions, templates, shared libraries and with
 * link-time optimisation. "?" puts them, and the note, into the section group of
 * the function, if it has one, so that they go when the linker drops its copies.
 *
 * Threads that visit a point often would fight for one cache line. So there are
 * 16 numbers on lines of their own, which are added up when they are read. They
 * lie within one page: either all can be read, or none was ever written.
 * The mark behind the first tells the reader that it reads what it means to.
 *
 * The note's addresses are relative to themselves: no relocation is needed.
 */
#define WHATIF_DESCRIBE_(event, keyed, name) \
	".pushsection .data.whatif,\"aw?\",\"progbits\"\n" \
	".balign 1024\n" \
	"992: .8byte 0, 0, 0x9d3f5a41c6e27b18\n" \
	".zero 1000\n" \
	".popsection\n" \
	".pushsection .note.whatif,\"a?\",\"note\"\n" \
	".balign 4\n" \
	".4byte 7, 994f - 993f, 1\n" \
	".asciz \"whatif\"\n" \
	".balign 4\n" \
	"993: .4byte " #event ", 16, 64, " #keyed "\n" \
	".8byte 992b - .\n" \
	".8byte 991b - .\n" \
	".asciz \"" name "\"\n" \
	"994: .balign 4\n" \
	".popsection\n"

/*
 * The site is an instruction that does nothing. It is where a profiler that has
 * to know the moment of each event puts a probe. On x86-64 it has one byte. Linux
 * 6.18 replaces a probed no-op of five bytes by a call, which kills children of
 * fork. The id is in rax or x0 there.
 */
#if defined(__x86_64__)
#define WHATIF_SITE_ \
	"991: nop\n" \
	"lea {992f(%%rip), %0|%0, [rip + 992f]}\n"
#define WHATIF_ID_SITE_ WHATIF_SITE_
#define WHATIF_ID_(id) "a"((unsigned long)(id))
#else
#define WHATIF_SITE_ \
	"991: nop\n" \
	"adrp %0, 992f\n" \
	"add %0, %0, :lo12:992f\n"
#define WHATIF_ID_SITE_ "mov x0, %1\n" WHATIF_SITE_
#define WHATIF_ID_(id) "r"((unsigned long)(id)) : "x0"
#endif

/*
 * Which of the numbers: by the thread's own address, which differs from those of
 * its neighbours by the size of a stack. A program without a C library may not
 * have one, and takes its stack's.
 */
#if defined(__x86_64__) && __STDC_HOSTED__
#define WHATIF_THREAD_(to) __asm__("mov {%%fs:0, %0|%0, QWORD PTR fs:0}" : "=r"(to))
#elif defined(__x86_64__)
#define WHATIF_THREAD_(to) __asm__("mov {%%rsp, %0|%0, rsp}" : "=r"(to))
#elif __STDC_HOSTED__
#define WHATIF_THREAD_(to) __asm__("mrs %0, tpidr_el0" : "=r"(to))
#else
#define WHATIF_THREAD_(to) __asm__("mov %0, sp" : "=r"(to))
#endif

/* Without it a compiler takes the note for code, and may not inline the function. */
#if defined(__clang__) ? __clang_major__ >= 11 : __GNUC__ >= 9
#define WHATIF_ASM_ __asm__ __volatile__ __inline__
#else
#define WHATIF_ASM_ __asm__ __volatile__
#endif

#define WHATIF_ADD_() do { \
	unsigned long whatif_thread_; \
	WHATIF_THREAD_(whatif_thread_); \
	__atomic_fetch_add((unsigned long *)(void *)(whatif_numbers_ + (((whatif_thread_ >> 12) + (whatif_thread_ >> 21)) & 15) * 64), \
			   1UL, __ATOMIC_RELAXED); \
} while (0)

#define WHATIF_EVENT_(event, name) do { \
	char *whatif_numbers_; \
	WHATIF_ASM_(WHATIF_SITE_ WHATIF_DESCRIBE_(event, 0, name) : "=r"(whatif_numbers_)); \
	WHATIF_ADD_(); \
} while (0)

#define WHATIF_EVENT_ID_(event, name, id) do { \
	char *whatif_numbers_; \
	WHATIF_ASM_(WHATIF_ID_SITE_ WHATIF_DESCRIBE_(event, 1, name) : "=r"(whatif_numbers_) : WHATIF_ID_(id)); \
	WHATIF_ADD_(); \
} while (0)

#define WHATIF_PROGRESS(name) WHATIF_EVENT_(1, name)
#define WHATIF_BEGIN(name) WHATIF_EVENT_(2, name)
#define WHATIF_END(name) WHATIF_EVENT_(3, name)
#define WHATIF_BEGIN_ID(name, id) WHATIF_EVENT_ID_(2, name, id)
#define WHATIF_END_ID(name, id) WHATIF_EVENT_ID_(3, name, id)

#else

#define WHATIF_PROGRESS(name) do { } while (0)
#define WHATIF_BEGIN(name) do { } while (0)
#define WHATIF_END(name) do { } while (0)
#define WHATIF_BEGIN_ID(name, id) do { (void)(id); } while (0)
#define WHATIF_END_ID(name, id) do { (void)(id); } while (0)

#endif
#endif
