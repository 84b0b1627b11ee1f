package probes

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"whatif/internal/code/jvm"
	"whatif/internal/hint"
	"whatif/internal/point"
)

// javaFind is what is known of a point.
type javaFind struct {
	file    string             // the source file of the first class that has it
	methods map[jvm.Frame]bool // that have it
	classes map[string]bool    // of each process, that have it
	near    []int              // of a line without code: the nearest ones with code
	without string             // a class, or its source file, that should have it and has not
	bodies  bool               // a method without code is meant
	failure error              // why it cannot be counted
	warned  bool               // that another file has the line, too
}

// fail says once why a point cannot be counted.
func (j *java) fail(i int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if f := j.finds[i]; f.failure == nil {
		f.failure = err
		j.log.Debug("progress point in Java code", "point", j.specs[i].Text, "error", err)
	}
}

// take tells whether what a class has of a point is to be counted.
func (j *java) take(i int, v *javaVM, class string, found point.InJavaClass) bool {
	if found.File == "" && len(found.Places) == 0 && found.Bodies == 0 {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	f, spec := j.finds[i], j.specs[i]
	switch {
	case len(found.Places) == 0:
		if f.near = append(f.near, found.Near...); len(f.near) > mostJavaFound {
			slices.Sort(f.near)
			f.near = slices.Compact(f.near)
		}
		f.bodies = f.bodies || found.Bodies > 0
		if f.without = class; spec.Kind == point.Line && found.File != "" {
			f.without = found.File
		}
		return false
	case spec.Kind == point.Line && f.file != "" && f.file != found.File:
		if !f.warned {
			f.warned = true
			j.log.Warn(fmt.Sprintf("progress point %s: %s has the line, too; only %s is counted: write more of the path",
				spec.Text, found.File, f.file))
		}
		return false
	}
	f.file = found.File
	return true
}

// found takes in that a class counts a point now.
func (j *java) found(i int, v *javaVM, class string, found point.InJavaClass) {
	j.mu.Lock()
	f, spec := j.finds[i], j.specs[i]
	for _, m := range found.Methods[:min(len(found.Methods), max(0, mostJavaFound-len(f.methods)))] {
		f.methods[jvm.Frame{Signature: jvm.SignatureOf(class), Method: m}] = true
	}
	key := strconv.Itoa(v.process) + " " + class
	known := f.classes[key]
	if len(f.classes) < mostJavaFound {
		f.classes[key] = true
	}
	j.mu.Unlock()
	if !known {
		j.counters.inJava(i, len(found.Places))
		j.log.Debug("progress point found", "point", spec.Text, "places", len(found.Places), "class", class)
	}
}

// refuse is the error for points that running VMs should have and do not. A line may be in a class that comes later.
func (j *java) refuse() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, spec := range j.specs {
		switch err := j.reason(i); {
		case err == nil:
		case spec.Kind == point.Line && j.finds[i].failure == nil:
			j.log.Warn(err.Error() + ": looked for in the classes that it loads while it runs")
		default:
			return err
		}
	}
	return nil
}

// has tells whether Java code has a point.
func (j *java) has(i int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	f := j.finds[i]
	return f != nil && len(f.classes) > 0
}

// errNoClass is the error for a point that no class has.
func errNoClass(spec point.Spec) error {
	return fmt.Errorf("resolving progress point %s: no class that was loaded has it", spec.Text)
}

// met tells whether points were looked for in some VM.
func (j *java) met() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.everMet || slices.ContainsFunc(slices.Collect(maps.Values(j.vms)), func(v *javaVM) bool { return v != nil })
}

// why says why a point is not in the Java code where it should be; nil: nothing says so.
func (j *java) why(i int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.reason(i)
}

// reason says why a point is not in the Java code where it should be; nil: it is, or no class should have it. The
// caller holds mu.
func (j *java) reason(i int) error {
	f, spec := j.finds[i], j.specs[i]
	doing := "resolving progress point " + spec.Text
	switch {
	case f == nil || len(f.classes) > 0:
		return nil
	case f.failure != nil && j.ends.argument(i) > 0:
		return hint.New(fmt.Errorf("%s: %w", doing, f.failure),
			"name another argument: %arg1 is the object of a method that is "+
				"not static. Without %argN, begin and end are in one thread")
	case f.failure != nil:
		return hint.New(fmt.Errorf("%s: %w", doing, f.failure),
			"count another method or line that the program passes as often")
	case f.without == "":
		return nil
	case f.bodies:
		return hint.New(fmt.Errorf("%s: the method of %s has no code: it is native or abstract", doing, f.without),
			"count a method that implements or calls it")
	case spec.Kind == point.Func:
		return hint.New(fmt.Errorf("%s: %s has no such method", doing, f.without), "javap -p lists the methods of a class")
	case len(f.near) == 0:
		return hint.New(fmt.Errorf("%s: %s was compiled without line numbers", doing, f.without),
			"compile it without -g:none, or count a method: func:CLASS.METHOD")
	}
	slices.Sort(f.near)
	return hint.New(fmt.Errorf("%s: no code of %s is on this line", doing, f.without),
		fmt.Sprintf("the nearest lines with code: %s", lineList(slices.Compact(f.near))))
}

func lineList(lines []int) string {
	var all []string
	for _, l := range lines {
		all = append(all, strconv.Itoa(l))
	}
	return strings.Join(all, ", ")
}
