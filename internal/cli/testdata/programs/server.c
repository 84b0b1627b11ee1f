/* The README's server: again and again it parses a request, mostly on the line parse.c:118, and answers. */
#include <fcntl.h>
#include <unistd.h>
#include "whatif.h"
static volatile unsigned long odd = 0x9e3779b97f4a7c15;

__attribute__((noinline)) void request_done(void) { __asm__ volatile(""); }

#line 114 "parse.c"
__attribute__((noinline)) static unsigned long parse_row(long n) {
  unsigned long x = 1, by = odd;
  while (n-- > 0)
    /* The line that the README talks about. */
    x = (((x * by ^ by) * by ^ by) * by ^ by) * by ^ by;
  return x;
}
#line 18 "server.c"
__attribute__((noinline)) static unsigned long handle_put(void) { return parse_row(60000) + 1; }

int main(void) {
  unsigned long x = 0;
  int client = open("/dev/null", O_WRONLY);
  while (x != 42) {
    WHATIF_BEGIN("request");
    x += handle_put();
    if (write(client, "done", 4) != 4)
      return 1;
    request_done();
    WHATIF_PROGRESS("requests");
    WHATIF_END("request");
  }
  return 0;
}
