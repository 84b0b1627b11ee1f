/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * What is run at user space's probes. One link sets all of a file's, from Linux 6.6 on; before,
 * each has one of its own. The kernel wants programs for either kind, so each handler is two of
 * them.
 */
#ifndef WHATIF_PROBES_H
#define WHATIF_PROBES_H

/* Programs on_NAME and on_single_NAME. The expression has the registers as ctx. */
#define PROBE(name, result)                       \
	SEC("uprobe.multi")                       \
	int on_##name(struct pt_regs *ctx)        \
	{                                         \
		return result;                    \
	}                                         \
						  \
	SEC("uprobe")                             \
	int on_single_##name(struct pt_regs *ctx) \
	{                                         \
		return result;                    \
	}

#endif
