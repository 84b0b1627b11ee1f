package point

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

const forms = "FILE:LINE, func:NAME[%return], func:PATH:NAME, usdt:[PROVIDER:]NAME, " +
	"tracepoint:CATEGORY:NAME, syscall:NAME[%exit], sample:FILE:LINE, exit or the NAME of a point in the source"

// exitSuffix counts a system call at its end.
const exitSuffix = "%exit"

// Parse reads [NAME=]SPEC.
func Parse(s string) (Spec, error) {
	spec := Spec{}
	spec.Name, spec.Text = splitName(strings.TrimSpace(s))
	if err := spec.parse(); err != nil {
		return Spec{}, fmt.Errorf("parsing progress point %q: %w", s, err)
	}
	if spec.Name == "" {
		spec.Name = spec.defaultName()
	}
	return spec, nil
}

// splitName splits NAME=REST. A name has no colon or slash: the "=" of func:operator== or of a
// path does not end one.
func splitName(s string) (name, rest string) {
	name, rest, ok := strings.Cut(s, "=")
	if !ok || strings.ContainsAny(name, ":/") {
		return "", s
	}
	return strings.TrimSpace(name), strings.TrimSpace(rest)
}

func (s *Spec) parse() error {
	if s.Text == "" {
		return fmt.Errorf("nothing there: expected %s", forms)
	}
	if s.Text == string(Exit) {
		s.Kind = Exit
		return nil
	}
	kind, rest, colon := strings.Cut(s.Text, ":")
	s.Kind = Kind(kind)
	var err error
	if !colon && !strings.Contains(s.Text, "/") {
		s.Kind, rest = Source, s.Text
	}
	switch s.Kind {
	case Source:
		if s.Event, s.Edge = splitEdge(strings.TrimSpace(rest)); s.Event == "" {
			err = fmt.Errorf("expected NAME, NAME%%begin or NAME%%end, or with source: before it")
		}
	case Func:
		rest, s.Return = strings.CutSuffix(strings.TrimSpace(rest), "%return")
		s.Binary, s.Func, err = splitFunc(rest)
	case USDT:
		provider, event, ok := strings.Cut(rest, ":")
		if !ok {
			provider, event = "", rest
		}
		s.Provider, s.Event = provider, event
		if event == "" || ok && provider == "" || strings.Contains(event, ":") {
			err = fmt.Errorf("expected usdt:NAME or usdt:PROVIDER:NAME")
		}
	case Tracepoint:
		s.Category, s.Event, _ = strings.Cut(rest, ":")
		if s.Category == "" || s.Event == "" || strings.Contains(s.Event, ":") {
			err = fmt.Errorf("expected tracepoint:CATEGORY:NAME")
		}
	case Syscall:
		s.Event, s.AtExit = strings.CutSuffix(rest, exitSuffix)
		if s.Event == "" || strings.ContainsAny(s.Event, ":/ %") {
			err = fmt.Errorf("expected syscall:NAME or syscall:NAME%s", exitSuffix)
		}
	case Sample:
		if s.File, s.Line, err = splitLine(rest); err != nil {
			err = fmt.Errorf("expected sample:FILE:LINE: %w", err)
		}
	default:
		s.Kind = Line
		if s.File, s.Line, err = splitLine(s.Text); err != nil {
			err = fmt.Errorf("expected %s: %w", forms, err)
		}
	}
	return err
}

// splitEdge splits NAME%begin or NAME%end.
func splitEdge(s string) (name string, edge Edge) {
	for _, e := range []Edge{AtBegin, AtEnd} {
		if name, ok := strings.CutSuffix(s, "%"+string(e)); ok {
			return name, e
		}
	}
	return s, Whole
}

// splitFunc reads NAME or PATH:NAME. A path has a slash before the first colon. Names do not: C++
// names have colons, Go names have slashes. Swift's operator main.Size./(_:_:) has both, but the
// colon is in parentheses.
func splitFunc(s string) (binary, name string, err error) {
	name = strings.TrimSpace(s)
	before, after, colon := strings.Cut(name, ":")
	if colon && strings.Contains(before, "/") && strings.Count(before, "(") <= strings.Count(before, ")") {
		binary, name = before, strings.TrimSpace(after)
		if strings.HasPrefix(name, ":") {
			return "", "", fmt.Errorf("expected func:PATH:NAME, PATH and NAME separated by one colon")
		}
	}
	if name == "" {
		return "", "", fmt.Errorf("expected func:NAME or func:PATH:NAME, NAME a function")
	}
	return binary, name, nil
}

// splitLine reads FILE:LINE.
func splitLine(s string) (file string, line int, err error) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", 0, fmt.Errorf("%q has no line number", s)
	}
	file = s[:i]
	line, err = strconv.Atoi(s[i+1:])
	if err != nil || line <= 0 {
		return "", 0, fmt.Errorf("%q is not a line number", s[i+1:])
	}
	if file == "" || strings.HasSuffix(file, "/") {
		return "", 0, fmt.Errorf("no file before line %d", line)
	}
	return file, line, nil
}

// defaultName returns the name of a point without NAME=.
func (s *Spec) defaultName() string {
	switch s.Kind {
	case Func:
		if s.Return {
			return s.Func + "%return"
		}
		return s.Func
	case Line, Sample:
		return path.Base(s.File) + ":" + strconv.Itoa(s.Line)
	case Exit:
		return string(Exit)
	case Source:
		if s.Edge != Whole {
			return s.Event + "%" + string(s.Edge)
		}
	case Syscall:
		if s.AtExit {
			return s.Event + exitSuffix
		}
	}
	return s.Event
}
