package point

import (
	"path"
	"slices"
	"strings"

	"whatif/internal/code/jvm/classfile"
	"whatif/internal/code/symbol"
)

// InJava reports whether code that a Java virtual machine runs may have the point: a line of FILE.java and the like, or
// of a class, pkg.Class:LINE; or a method, func:pkg.Class.method. Other code may have a point of such a name, too.
func (s *Spec) InJava() bool {
	switch s.Kind {
	case Line:
		return symbol.IsJavaSource(s.File) || s.namesClass()
	case Func:
		class, _, ok := cutLast(s.Func, ".")
		return ok && s.Binary == "" && !strings.ContainsAny(s.Func, ":/( [") &&
			(capital(class) || strings.Contains(s.Func, "*"))
	}
	return false
}

// namesClass reports whether a line is given as pkg.Class:LINE. Names of classes begin with a capital letter.
func (s *Spec) namesClass() bool { return !strings.Contains(s.File, "/") && capital(s.File) }

// capital reports whether the last part of a name begins with a capital letter.
func capital(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return last != "" && last[0] >= 'A' && last[0] <= 'Z'
}

// cutLast cuts at the last separator.
func cutLast(s, separator string) (before, after string, ok bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// MayHaveJava reports whether a class may have the point, by its name, com.shop.Cart, and the name of its source file
// without directories. A pattern means Java's own classes only if it begins like their names.
func (s *Spec) MayHaveJava(class, source string) bool {
	switch {
	case s.Kind == Line && s.namesClass():
		return class == s.File || strings.HasPrefix(class, s.File+"$")
	case s.Kind == Line:
		file := javaFile(class, source)
		// The class does not know in which directory its package is.
		return symbol.MatchFile(s.File, file) || symbol.MatchFile(file, s.File)
	case !strings.Contains(s.Func, "*"):
		return s.Func[:strings.LastIndexByte(s.Func, '.')] == class
	}
	if symbol.JavaLibrary(class) != "" && symbol.JavaLibrary(s.Func) == "" {
		return false
	}
	// A part of the pattern has to match all up to the method's name.
	for i := range len(s.Func) + 1 {
		if symbol.Glob(s.Func[:i], class+".") {
			return true
		}
	}
	return false
}

// javaFile is the path of a class's source file, as far as the class tells it.
func javaFile(class, source string) string {
	if source == "" {
		return ""
	}
	return path.Join(path.Dir(strings.ReplaceAll(class, ".", "/")), source)
}

// JavaPieces are texts that all classes have in them that may have the point. They find these among the many that a
// program loads. Behind a zero byte stands the name of the class itself.
func (s *Spec) JavaPieces() []string {
	slashed := func(class string) string { return strings.ReplaceAll(class, ".", "/") }
	switch {
	case s.Kind == Line && s.namesClass():
		return []string{slashed(s.File)}
	case s.Kind == Line:
		return []string{constant(path.Base(s.File))}
	case !strings.Contains(s.Func, "*"):
		return []string{"\x00" + slashed(s.Func[:strings.LastIndexByte(s.Func, '.')])}
	}
	return strings.FieldsFunc(s.Func, func(r rune) bool { return r == '.' || r == '*' })
}

// constant is a text as a class has it among its constants.
func constant(text string) string {
	return string([]byte{1, byte(len(text) >> 8), byte(len(text))}) + text
}

// InJavaClass is what a class has of a point.
type InJavaClass struct {
	Places  []classfile.Place
	Methods []string // that have these places
	File    string   // the source file, as far as the class tells it
	Near    []int    // of a line without a place: the nearest lines that have code
	Bodies  int      // methods that are meant and have no code, as they are native or abstract
}

// JavaPlaces finds the point in a class.
func (s *Spec) JavaPlaces(c *classfile.Class) (found InJavaClass, err error) {
	if !s.MayHaveJava(c.Name, c.Source) {
		return found, nil
	}
	found.File = javaFile(c.Name, c.Source)
	if s.Kind == Line {
		if found.Places, err = c.Line(s.Line); err == nil && len(found.Places) == 0 {
			found.Near = nearestLines(c.Lines(), s.Line)
		}
	} else {
		err = s.javaMethods(c, &found)
	}
	met := make(map[string]bool)
	for _, p := range found.Places {
		if name := c.Methods[p.Method].Name; !met[name] {
			met[name] = true
			found.Methods = append(found.Methods, name)
		}
	}
	return found, err
}

func (s *Spec) javaMethods(c *classfile.Class, found *InJavaClass) error {
	for i, m := range c.Methods {
		name := c.Name + "." + m.Name
		switch {
		case name != s.Func && !symbol.Glob(s.Func, name):
		case !m.HasCode:
			found.Bodies++
		case s.Return:
			places, err := c.Returns(i)
			if err != nil {
				return err
			}
			found.Places = append(found.Places, places...)
		default:
			found.Places = append(found.Places, classfile.Entry(i))
		}
	}
	return nil
}

// nearestLines gives those of the lines, which are in order, that are next to one.
func nearestLines(lines []int, line int) []int {
	i, _ := slices.BinarySearch(lines, line)
	return lines[max(0, i-1):min(len(lines), i+1)]
}
