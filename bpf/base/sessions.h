/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Other sessions. A session that stops cores owns a map by this name. The kernel frees it when the
 * session ends, in whatever way.
 */
#ifndef WHATIF_SESSIONS_H
#define WHATIF_SESSIONS_H

#include "program.h"

#define SESSION_NAME "whatif_stops"

struct bpf_map {
	u32 id;
	char name[16];
} TARGET_IN_KERNEL;

/*
 * User space runs this and reads the numbers of all such maps. To list them itself it would need
 * more rights.
 */
SEC("iter/bpf_map")
int list_sessions(struct bpf_iter__bpf_map *ctx)
{
	struct bpf_map *map = ctx->map;
	char name[16] __attribute__((aligned(8))) = {},
		      wanted[16] __attribute__((aligned(8))) = SESSION_NAME;
	u32 id;

	if (!map)
		return 0;
	bpf_probe_read_kernel(name, sizeof(name), map->name);
	if (((u64 *)name)[0] != ((u64 *)wanted)[0] || ((u64 *)name)[1] != ((u64 *)wanted)[1])
		return 0;
	id = map->id;
	bpf_seq_write(ctx->meta->seq, &id, sizeof(id));
	return 0;
}

#endif
