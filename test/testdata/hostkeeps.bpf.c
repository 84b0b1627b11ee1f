/*
 * Stands for a host that keeps a core for itself: in one of so many interrupts of a timer nothing else runs there for a
 * while. The machine counts neither an interrupt nor stolen time.
 */
typedef unsigned int u32;
typedef unsigned long long u64;

static u64 (*bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*bpf_get_prandom_u32)(void) = (void *)7;
static long (*bpf_loop)(u32 turns, void *turn, void *end, u64 flags) = (void *)181;

volatile const u64 length, one_in;
volatile u64 kept; /* ns */

static long on_turn(u32 i, u64 *end) { return bpf_ktime_get_ns() >= *end; }

__attribute__((section("perf_event"), used)) int keep(void *ctx) {
  u64 begin = bpf_ktime_get_ns(), end = begin + length;

  if (bpf_get_prandom_u32() % one_in)
    return 0;
  bpf_loop(1 << 23, on_turn, &end, 0);
  __sync_fetch_and_add(&kept, bpf_ktime_get_ns() - begin);
  return 0;
}

__attribute__((section("license"), used)) char terms[] = "GPL";
