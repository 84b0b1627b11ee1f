/* SPDX-License-Identifier: MIT */
/*
 * The agent in Java VMs that a profiled program starts. whatif preloads the agent's library into the
 * program, and into all that this one runs. In other programs it does nothing. In a java command it
 * stands before libjli's JLI_Launch, and adds the option -agentpath: so the agent is there before
 * main is, with no word in the program's output, which the environment variables for options of the
 * VM would cost.
 *
 * A program that goes on when whatif has ended may start VMs yet. Then the socket's name is free, and
 * another user may listen there: the agent obeys only root and its own user.
 *
 * WHATIF_JAVA has what follows "-agentpath:", which is the library's path, "=" and the agent's
 * options. Once the VM is complete, and before main runs, the agent begins a session for points, and
 * waits until whatif has named all points and changed the classes that are loaded:
 *	S	let the program run
 */
#ifndef START_H
#define START_H

enum { START_PATIENCE = 10000 /* ms */ };

extern void *dlsym(void *handle, const char *name) __attribute__((weak));
extern char **environ __attribute__((weak));

static struct {
	java_vm machine;
	char options[256];
} early;

static s32 begin_session(java_vm machine, const char *options, u32 early, struct session **begun);

static int begins_with(const char *text, const char *with)
{
	while (*with && *text == *with)
		text++, with++;
	return !*with;
}

/* Copies a text if there is room; the place behind it, 0: there is none. */
static char *copy_text(char *to, const char *end, const char *text)
{
	while (*text && to < end - 1)
		*to++ = *text++;
	*to = 0;
	return *text ? 0 : to;
}

/* The VM is complete. */
static void vm_begins(jvmti_env vm, jni_env jni, object thread)
{
	struct session *s = 0;
	u32 i;

	(void)jni;
	(void)thread;
	if (!begin_session(early.machine, early.options, 1, &s))
		for (i = 0; i < START_PATIENCE && s->fd >= 0 && !s->go; i++)
			sleep_ms(1);
	(*vm)->DisposeEnvironment(vm);
}

/* Called by the VM when it begins. An error would end the program, so there is none. */
EXPORTED s32 Agent_OnLoad(java_vm machine, char *options, void *reserved)
{
	struct callbacks c = { { 0 } };
	jvmti_env vm;

	(void)reserved;
	if (!options || !copy_text(early.options, early.options + sizeof(early.options), options) ||
	    (*machine)->GetEnv(machine, &vm, JVMTI_1_2))
		return 0;
	early.machine = machine;
	c.functions[EVENT_VM_INIT - FIRST_EVENT] = (void *)vm_begins;
	if (!(*vm)->SetEventCallbacks(vm, &c, LAST_CALLBACK * sizeof(void *)))
		(*vm)->SetEventNotificationMode(vm, EVENT_ON, EVENT_VM_INIT, 0);
	return 0;
}

/* The option for the VM; 0: there is none. */
static char *option(void)
{
	static char text[512];
	const char *end = text + sizeof(text);
	char **e;

	for (e = &environ ? environ : 0; e && *e; e++)
		if (begins_with(*e, "WHATIF_JAVA=")) {
			char *to = copy_text(text, end, "-agentpath:");

			return to && copy_text(to, end, *e + sizeof("WHATIF_JAVA=") - 1) ? text : 0;
		}
	return 0;
}

typedef int launch(int argc, char **argv, int jargc, const char **jargv, int appclassc,
		   const char **appclassv, const char *full_version, const char *dot_version,
		   const char *name, const char *launcher, u8 java_args, u8 wildcard, u8 javaw,
		   s32 ergo);

/* With java_args it is a tool, such as javac, whose arguments are not those of the VM. */
EXPORTED int JLI_Launch(int argc, char **argv, int jargc, const char **jargv, int appclassc,
			const char **appclassv, const char *full_version, const char *dot_version,
			const char *name, const char *launcher, u8 java_args, u8 wildcard, u8 javaw,
			s32 ergo)
{
	launch *next = &dlsym ? (launch *)dlsym((void *)-1 /* RTLD_NEXT */, "JLI_Launch") : 0;
	char *added = option(), **all;
	int i;

	if (!next)
		return 1;
	/* The launcher may run itself once more, with these arguments. */
	if (added && !java_args && argc > 0 && !(argc > 1 && begins_with(argv[1], added))) {
		all = map_memory((argc + 2) * sizeof(*all));
		if (all) {
			all[0] = argv[0];
			all[1] = added;
			for (i = 1; i < argc; i++)
				all[i + 1] = argv[i];
			argv = all; /* map_memory gives zeros: it has its end */
			argc++;
		}
	}
	return next(argc, argv, jargc, jargv, appclassc, appclassv, full_version, dot_version, name,
		    launcher, java_args, wildcard, javaw, ergo);
}

#endif
