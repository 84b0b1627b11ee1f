package jvm

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"whatif/internal/code/jit"
	"whatif/internal/testing/committed"
	"whatif/internal/testing/jdk"
)

// TestGenerated compiles the agent again with the same compiler: the result is the committed one.
func TestGenerated(t *testing.T) { committed.Check(t, "load.go", "../../../bpf/compiler.txt", 2) }

// TestAgentFile: the agent needs no other library, as the VM's C library may be any.
func TestAgentFile(t *testing.T) {
	for _, name := range []string{"agent_amd64.so", "agent_arm64.so"} {
		f, err := elf.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		needed, err := f.ImportedLibraries()
		if err != nil || len(needed) > 0 {
			t.Errorf("%s needs %v: %v", name, needed, err)
		}
		symbols, err := f.DynamicSymbols()
		var names []string
		for _, s := range symbols {
			names = append(names, s.Name)
			// What the library asks for may be missing where it is preloaded.
			if s.Section == elf.SHN_UNDEF && elf.ST_BIND(s.Info) != elf.STB_WEAK {
				t.Errorf("%s needs %s", name, s.Name)
			}
		}
		slices.Sort(names)
		want := []string{"Agent_OnAttach", "Agent_OnLoad", "JLI_Launch", "dlsym", "environ", "whatif_timed"}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%s has %v: %v", name, names, err)
		}
	}
}

// TestVMHeader compares what vm.h says of JNI and JVMTI with the headers of each JDK that is installed.
func TestVMHeader(t *testing.T) {
	const check = `
#include <jvmti.h>
#include <jvmticmlr.h>
#include <stddef.h>
#include "agent/vm.h"
#define SAME(a, b) _Static_assert((a) == (b), #a)
#define PLACE(theirs, ours, name) SAME(offsetof(struct theirs, name), offsetof(struct ours, name))
PLACE(JNIInvokeInterface_, vm, GetEnv);
PLACE(JNINativeInterface_, jni, DefineClass);
PLACE(JNINativeInterface_, jni, FindClass);
PLACE(JNINativeInterface_, jni, ExceptionClear);
PLACE(JNINativeInterface_, jni, DeleteLocalRef);
PLACE(JNINativeInterface_, jni, PushLocalFrame);
PLACE(JNINativeInterface_, jni, PopLocalFrame);
PLACE(JNINativeInterface_, jni, EnsureLocalCapacity);
PLACE(JNINativeInterface_, jni, NewObjectA);
PLACE(JNINativeInterface_, jni, CallStaticVoidMethodA);
PLACE(JNINativeInterface_, jni, GetMethodID);
PLACE(JNINativeInterface_, jni, GetStaticMethodID);
PLACE(JNINativeInterface_, jni, NewStringUTF);
PLACE(JNINativeInterface_, jni, RegisterNatives);
SAME(sizeof(JNINativeMethod), sizeof(struct native));
SAME(offsetof(JNINativeMethod, fnPtr), offsetof(struct native, function));
#define EVENT(name) SAME(EVENT_##name, JVMTI_EVENT_##name)
EVENT(VM_INIT); EVENT(VM_DEATH); EVENT(CLASS_FILE_LOAD_HOOK); EVENT(COMPILED_METHOD_LOAD);
EVENT(COMPILED_METHOD_UNLOAD); EVENT(DYNAMIC_CODE_GENERATED);
SAME(FIRST_EVENT, JVMTI_MIN_EVENT_TYPE_VAL);
#define CALLBACK(name, number) SAME(offsetof(jvmtiEventCallbacks, name), 8 * (number - FIRST_EVENT))
CALLBACK(VMInit, EVENT_VM_INIT); CALLBACK(VMDeath, EVENT_VM_DEATH);
CALLBACK(ClassFileLoadHook, EVENT_CLASS_FILE_LOAD_HOOK);
CALLBACK(CompiledMethodLoad, EVENT_COMPILED_METHOD_LOAD);
CALLBACK(CompiledMethodUnload, EVENT_COMPILED_METHOD_UNLOAD);
CALLBACK(DynamicCodeGenerated, EVENT_DYNAMIC_CODE_GENERATED);
SAME(sizeof(jvmtiStackInfo), sizeof(struct stack)); SAME(sizeof(jvmtiFrameInfo), sizeof(struct frame));
SAME(offsetof(jvmtiStackInfo, frame_buffer), offsetof(struct stack, frames));
SAME(offsetof(jvmtiStackInfo, frame_count), offsetof(struct stack, count));
SAME(offsetof(jvmtiFrameInfo, method), offsetof(struct frame, method));
SAME(sizeof(jvmtiCapabilities), sizeof(struct capabilities));
SAME(sizeof(jvalue), sizeof(union value));
SAME(sizeof(jvmtiLineNumberEntry), sizeof(struct line));
SAME(offsetof(jvmtiLineNumberEntry, line_number), offsetof(struct line, line));
SAME(INLINE_INFO, JVMTI_CMLR_INLINE_INFO);
SAME(offsetof(jvmtiCompiledMethodLoadRecordHeader, next), offsetof(struct places_header, next));
SAME(offsetof(jvmtiCompiledMethodLoadInlineRecord, numpcs), offsetof(struct places, count));
SAME(offsetof(jvmtiCompiledMethodLoadInlineRecord, pcinfo), offsetof(struct places, places));
SAME(sizeof(PCStackInfo), sizeof(struct place));
SAME(offsetof(PCStackInfo, numstackframes), offsetof(struct place, depth));
SAME(offsetof(PCStackInfo, methods), offsetof(struct place, methods));
SAME(offsetof(PCStackInfo, bcis), offsetof(struct place, bytecodes));
SAME(JNI_1_6, JNI_VERSION_1_6); SAME(JVMTI_1_2, JVMTI_VERSION_1_2);
SAME(EVENT_OFF, JVMTI_DISABLE); SAME(EVENT_ON, JVMTI_ENABLE);
SAME(LOWEST_PRIORITY, JVMTI_THREAD_MIN_PRIORITY); SAME(PHASE_LIVE, JVMTI_PHASE_LIVE);
#define FUNCTION(name) PLACE(jvmtiInterface_1_, jvmti, name);
FUNCTIONS
union { struct { u64 w[2]; } number; jvmtiCapabilities c; } u;
int main(void)
{
#define CAPABILITY(name, n) u.number.w[0] = 0; u.c.name = 1; if (u.number.w[0] != 1ULL << n) return n;
	CAPABILITY(can_get_source_file_name, CAN_GET_SOURCE_FILE_NAME)
	CAPABILITY(can_get_line_numbers, CAN_GET_LINE_NUMBERS)
	CAPABILITY(can_get_bytecodes, CAN_GET_BYTECODES)
	CAPABILITY(can_generate_compiled_method_load_events, CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS)
	CAPABILITY(can_generate_all_class_hook_events, CAN_GENERATE_ALL_CLASS_HOOK_EVENTS)
	CAPABILITY(can_retransform_classes, CAN_RETRANSFORM_CLASSES)
	return 0;
}
`
	headers, _ := filepath.Glob("/usr/lib/jvm/*/include/jvmti.h")
	if _, err := exec.LookPath("gcc"); err != nil || len(headers) == 0 {
		t.Skip("no gcc, or no JDK")
	}
	text, err := os.ReadFile("agent/vm.h")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "struct jvmti {\n")
	functions := ""
	for _, m := range regexp.MustCompile(`s32 \(\*(\w+)\)\(jvmti_env`).FindAllStringSubmatch(table, -1) {
		functions += "FUNCTION(" + m[1] + ")\n"
	}
	if !ok || strings.Count(functions, "\n") < 21 {
		t.Fatalf("of vm.h these functions are seen: %s", functions)
	}
	program := filepath.Join(t.TempDir(), "check")
	source := strings.Replace(check, "FUNCTIONS", functions, 1)
	var dirs []string
	for _, h := range headers {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(h)); err == nil && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		compile := exec.Command("gcc", "-I"+dir, "-I"+dir+"/linux", "-I.", "-x", "c", "-", "-o", program)
		compile.Stdin = strings.NewReader(source)
		if out, err := compile.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", dir, err, out)
		} else if err := exec.Command(program).Run(); err != nil {
			t.Errorf("%s: a capability has another bit: %v", dir, err)
		}
	}
}

func TestAdmin(t *testing.T) {
	for text, want := range map[string]uint32{
		"         0          0 4294967295\n": 0, "0 100000 65536\n": 100000, "1 200000 10\n0 1000 1\n": 1000, "": 0,
		"0 x 1\n": 0, "5 7 1\n": 0, "0 -1 5\n": 0,
	} {
		if got := adminOf(text); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// busy starts a Java program that works until its end is asked for. end gives what it prints.
func busy(t *testing.T) (vm *VM, end func() string) {
	t.Helper()
	java, classes := programs(t)
	var out bytes.Buffer
	cmd := exec.Command(java, "-Xcheck:jni", "-XX:TieredStopAtLevel=1", "-cp", classes, "Busy")
	cmd.Stdout, cmd.Stderr = &out, &out
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := sync.OnceFunc(func() { _ = cmd.Wait() })
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		ended()
	})
	return opened(t, cmd.Process.Pid, cmd.Process.Pid, uint32(os.Getuid())), func() string {
		if _, err := in.Write([]byte{'\n'}); err != nil {
			t.Error(err)
		}
		ended()
		return out.String()
	}
}

// loaded loads the agent, as soon as the VM is ready.
func loaded(t *testing.T, vm *VM) *Agent {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(look) {
		a, err := vm.Load()
		if (errors.Is(err, ErrEarly) || errors.Is(err, ErrSilent)) && time.Now().Before(end) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// hear takes in what the agent tells until a command is done.
func hear(t *testing.T, a *Agent, h *jit.HotSpot, command byte) {
	t.Helper()
	if err := a.Ask(command); err != nil {
		t.Fatal(err)
	}
	packet := make([]byte, LongestPacket)
	for {
		n, err := a.Read(packet)
		if err != nil {
			t.Fatal(err)
		}
		heard, err := h.Take(packet[:n])
		if err != nil || heard.Failed {
			t.Fatalf("%+v, %v", heard, err)
		}
		if heard.Lost { // as a busy machine may: then all is asked for again
			command = AllCode
			if err := a.Ask(command); err != nil {
				t.Fatal(err)
			}
		}
		if heard.Done == command {
			return
		}
	}
}

// leaves waits until the agent's thread has ended.
func (v *VM) leaves(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(look) {
		names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", v.process))
		if !slices.ContainsFunc(names, func(name string) bool {
			comm, _ := os.ReadFile(name)
			return string(comm) == "whatif\n"
		}) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the agent's thread does not end")
		}
	}
}

// has counts what a VM has: open files, and mappings of the agent. Its threads come and go; the agent's have a name.
func (v *VM) has(t *testing.T) (files, mappings int) {
	t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", v.process))
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", v.process))
	if err != nil {
		t.Fatal(err)
	}
	return len(open), strings.Count(string(maps), agentFile)
}

// TestAgent: the agent is loaded and gone twenty times. Nothing is left but its code, once; the VM goes on to its end,
// and prints nothing else, although it checks what native code does.
func TestAgent(t *testing.T) {
	vm, end := busy(t)
	table := jit.NewTable(&jit.Budget{Left: jit.DefaultBudget})
	a := loaded(t, vm)
	h := jit.NewHotSpot(table)
	hear(t, a, h, AllCode)
	hear(t, a, h, FlushCode)
	a.Close()
	vm.leaves(t)
	files, mappings := vm.has(t)
	for range 20 {
		a = loaded(t, vm)
		hear(t, a, jit.NewHotSpot(table), AllCode)
		a.Close()
	}
	vm.leaves(t)
	if f, m := vm.has(t); f > files || m != mappings || m == 0 {
		t.Errorf("%d files and %d mappings, and %d and %d at first", f, m, files, mappings)
	}
	if out := end(); !regexp.MustCompile(`^rounds \d+\n$`).MatchString(out) {
		t.Errorf("the program printed %q", out)
	}
	if left := jdk.Left(t, "/tmp/"+nameOfAgent()+"*"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestAgentUnread: nobody takes what the agent tells. The VM goes on, and ends when its program does.
func TestAgentUnread(t *testing.T) {
	vm, end := busy(t)
	a := loaded(t, vm)
	defer a.Close()
	for range 50 {
		if err := a.Ask(AllCode); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(500 * time.Millisecond) // the agent tells what it can
	begun := time.Now()
	if out := end(); !regexp.MustCompile(`^rounds [1-9]\d*\n$`).MatchString(out) {
		t.Errorf("the program printed %q", out)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}
