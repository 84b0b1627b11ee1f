/* A program with a note of whatif's, cut short. */
__asm__(".pushsection .note.whatif,\"a\",@note\n"
        ".balign 4\n"
        ".long 7, 4, 1\n"
        ".asciz \"whatif\"\n"
        ".balign 4\n"
        ".long 0\n"
        ".popsection");

int main(void) { return 0; }
