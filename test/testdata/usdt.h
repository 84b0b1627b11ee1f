/*
 * A static probe as programs have them for SystemTap, bpftrace and GDB: a no-op, a note that says where it
 * is, and a counter (the semaphore). A tracer keeps the counter above zero in each process that it traces.
 */
#ifndef USDT_H
#define USDT_H

#define USDT_SEMAPHORE(provider, name) \
  __attribute__((section(".probes"), used, visibility("hidden"))) volatile unsigned short provider##_##name##_semaphore

/* Notes repeat this address. It tells by how much the program was moved since it was linked. */
__asm__(".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
        ".weak _.stapsdt.base\n"
        ".hidden _.stapsdt.base\n"
        "_.stapsdt.base: .space 1\n"
        ".size _.stapsdt.base, 1\n"
        ".popsection\n");

#define USDT_NOTE(provider, name, semaphore) \
  __asm__ volatile("1: nop\n" \
                   ".pushsection .note.stapsdt, \"\", \"note\"\n" \
                   ".balign 4\n" \
                   ".4byte 8, 3f - 2f, 3\n" \
                   ".asciz \"stapsdt\"\n" \
                   "2: .8byte 1b, _.stapsdt.base, " semaphore "\n" \
                   ".asciz \"" #provider "\"\n" \
                   ".asciz \"" #name "\"\n" \
                   ".asciz \"\"\n" \
                   "3: .balign 4\n" \
                   ".popsection\n")

/* A probe that costs a no-op, and one that is passed only while a tracer asks for it. */
#define USDT(provider, name) USDT_NOTE(provider, name, "0")
#define USDT_IF_ENABLED(provider, name) \
  do { \
    if (__builtin_expect(provider##_##name##_semaphore, 0)) \
      USDT_NOTE(provider, name, #provider "_" #name "_semaphore"); \
  } while (0)

#endif
