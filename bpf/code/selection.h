/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * What the experiment speeds up: the weight of each piece of code and of each wait. Nothing else
 * looks at the selection. Several units, all code, and classes of waiting can be sped up at once.
 */
#ifndef WHATIF_SELECTION_H
#define WHATIF_SELECTION_H

#include "../base/page.h"

/* Classes of waiting, a bit each. */
SETTING waits_followed = 0;
SETTING waits_counted = 0; /* those that count as their unit's time */

/* The weight of a unit by itself; 0: it is not selected. */
SUBPROGRAM u32 weight_of_unit(u32 unit)
{
	u32 units = control.selected_units;

	for (u32 i = 0; i < MAX_SELECTED && i < units; i++)
		if (control.selected[i].unit == unit)
			return control.selected[i].weight;
	return 0;
}

/* The weight of code that is in units of this weight. */
static __always_inline u32 weight_of_code(u32 units)
{
	return weight_on_top(control.code_weight, units, control.scale);
}

/* The weight of waiting of a class in the code of a unit. */
static __always_inline u32 weight_of_wait(u32 unit, u32 class)
{
	u32 own = unit && waits_counted >> class & 1 ? weight_of_unit(unit) : 0;

	return weight_on_top(control.wait_weight[class & (WAIT_CLASSES - 1)], own, control.scale);
}

/*
 * The largest weight of what threads wait for now. Of a selected unit's waits the class is not
 * known: it is taken to be the one that is sped up most.
 */
SUBPROGRAM u32 weight_of_waiting(void)
{
	u32 of_class = 0, of_unit = 0, units = control.selected_units;

	for (u32 i = 0; i < WAIT_CLASSES; i++)
		if (control.waiting[i] && control.wait_weight[i] > of_class)
			of_class = control.wait_weight[i];
	for (u32 i = 0; i < MAX_SELECTED && i < units; i++)
		if (unit_waits[control.selected[i].unit & (MAX_UNITS - 1)].now &&
		    control.selected[i].weight > of_unit)
			of_unit = control.selected[i].weight;
	return weight_on_top(of_class, of_unit, control.scale);
}

#endif
