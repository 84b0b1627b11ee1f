/* SPDX-License-Identifier: MIT */
/*
 * The part of JNI and JVMTI that the agent uses. A function's place in a table is its number in the
 * specification, and the same in all versions. TestVMHeader compares all of this with the JDK's
 * headers. The agent is compiled without these, so that building it needs no JDK.
 */
#ifndef VM_H
#define VM_H

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef __INT32_TYPE__ s32;
typedef __INT64_TYPE__ s64;

typedef void *object; /* a local reference */
typedef void *method_id;

struct jni;
struct native;
struct jvmti;
struct vm;
typedef const struct jni *const *jni_env;
typedef const struct jvmti *const *jvmti_env;
typedef const struct vm *const *java_vm;

union value {
	u64 j;
	object l;
};

struct vm {
	void *unused0[6];
	s32 (*GetEnv)(java_vm, void *env, s32 version);
};

struct jni {
	void *unused0[5];
	object (*DefineClass)(jni_env, const char *name, object loader, const u8 *bytes, s32 size);
	object (*FindClass)(jni_env, const char *name);
	void *unused7[10];
	void (*ExceptionClear)(jni_env);
	void *unused18[1];
	s32 (*PushLocalFrame)(jni_env, s32 capacity);
	object (*PopLocalFrame)(jni_env, object result);
	void *unused21[2];
	void (*DeleteLocalRef)(jni_env, object);
	void *unused24[2];
	s32 (*EnsureLocalCapacity)(jni_env, s32 capacity);
	void *unused27[3];
	object (*NewObjectA)(jni_env, object class, method_id, const union value *);
	void *unused31[2];
	method_id (*GetMethodID)(jni_env, object class, const char *name, const char *signature);
	void *unused34[79];
	method_id (*GetStaticMethodID)(jni_env, object class, const char *name, const char *signature);
	void *unused114[29];
	void (*CallStaticVoidMethodA)(jni_env, object class, method_id, const union value *);
	void *unused144[23];
	object (*NewStringUTF)(jni_env, const char *);
	void *unused168[47];
	s32 (*RegisterNatives)(jni_env, object class, const struct native *, s32 n);
};

struct native {
	const char *name, *signature;
	const void *function;
};

struct line {
	s64 location;
	s32 line;
};

struct stack {
	object thread;
	s32 state;
	struct frame *frames;
	s32 count;
};

struct frame {
	method_id method;
	s64 location;
};

struct capabilities {
	u64 bits[2];
};

struct callbacks {
	void *functions[64]; /* by the event's number less 50 */
};

/* The comment is the function's number in the specification, from which its place follows. */
struct jvmti {
	void *unused0[1];
	s32 (*SetEventNotificationMode)(jvmti_env, s32 mode, s32 event, object thread, ...); /* 2 */
	void *unused2[9];
	s32 (*RunAgentThread)(jvmti_env, object thread, void *function, const void *arg,
			      s32 priority); /* 12 */
	void *unused12[32];
	s32 (*IsModifiableClass)(jvmti_env, object class, u8 *can);			     /* 45 */
	s32 (*Allocate)(jvmti_env, s64 size, u8 **);					     /* 46 */
	s32 (*Deallocate)(jvmti_env, void *); /* 47 */
	s32 (*GetClassSignature)(jvmti_env, object class, char **signature,
				 char **generic); /* 48 */
	void *unused48[1];
	s32 (*GetSourceFileName)(jvmti_env, object class, char **name); /* 50 */
	void *unused50[13];
	s32 (*GetMethodName)(jvmti_env, method_id, char **name, char **signature,
			     char **generic); /* 64 */
	s32 (*GetMethodDeclaringClass)(jvmti_env, method_id, object *class); /* 65 */
	void *unused65[4];
	s32 (*GetLineNumberTable)(jvmti_env, method_id, s32 *n, struct line **); /* 70 */
	s32 (*GetMethodLocation)(jvmti_env, method_id, s64 *start, s64 *end); /* 71 */
	void *unused71[3];
	s32 (*GetBytecodes)(jvmti_env, method_id, s32 *n, u8 **bytecodes); /* 75 */
	void *unused75[2];
	s32 (*GetLoadedClasses)(jvmti_env, s32 *n, object **); /* 78 */
	void *unused78[12];
	s32 (*IsMethodObsolete)(jvmti_env, method_id, u8 *obsolete); /* 91 */
	void *unused91[8];
	s32 (*GetAllStackTraces)(jvmti_env, s32 most, struct stack **, s32 *n); /* 100 */
	void *unused100[21];
	s32 (*SetEventCallbacks)(jvmti_env, const struct callbacks *, s32 size); /* 122 */
	s32 (*GenerateEvents)(jvmti_env, s32 event); /* 123 */
	void *unused123[3];
	s32 (*DisposeEnvironment)(jvmti_env); /* 127 */
	void *unused127[5];
	s32 (*GetPhase)(jvmti_env, s32 *); /* 133 */
	void *unused133[8];
	s32 (*AddCapabilities)(jvmti_env, const struct capabilities *); /* 142 */
	void *unused142[4];
	s32 (*GetEnvironmentLocalStorage)(jvmti_env, void **); /* 147 */
	s32 (*SetEnvironmentLocalStorage)(jvmti_env, const void *); /* 148 */
	void *unused148[3];
	s32 (*RetransformClasses)(jvmti_env, s32 n, const object *); /* 152 */
};

enum {
	JNI_1_6 = 0x00010006,
	JVMTI_1_2 = 0x30010200,

	EVENT_OFF = 0,
	EVENT_ON = 1,
	FIRST_EVENT = 50,
	EVENT_VM_INIT = 50,
	EVENT_VM_DEATH = 51,
	EVENT_CLASS_FILE_LOAD_HOOK = 54,
	EVENT_COMPILED_METHOD_LOAD = 68,
	EVENT_COMPILED_METHOD_UNLOAD = 69,
	EVENT_DYNAMIC_CODE_GENERATED = 70,

	CAN_GET_BYTECODES = 3,
	CAN_GET_SOURCE_FILE_NAME = 11,
	CAN_GET_LINE_NUMBERS = 12,
	CAN_GENERATE_ALL_CLASS_HOOK_EVENTS = 26,
	CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS = 27,
	CAN_RETRANSFORM_CLASSES = 37,

	LOWEST_PRIORITY = 1,
	PHASE_LIVE = 4,
};

/* What CompiledMethodLoad tells of code: the methods at each address, one inlined in the next. */
struct places_header {
	s32 kind;
	s32 major, minor;
	const struct places_header *next;
};

enum { INLINE_INFO = 2 };

struct place {
	void *address;
	s32 depth;
	method_id *methods; /* the innermost first */
	s32 *bytecodes;
};

struct places {
	struct places_header header;
	s32 count;
	struct place *places;
};

struct address_location {
	const void *address;
	s64 location;
};

#endif
