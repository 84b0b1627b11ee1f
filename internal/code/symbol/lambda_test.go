package symbol

import (
	"slices"
	"strings"
	"testing"

	"whatif/internal/code/symbol/dwarf"
)

// TestLambdas: a function of a type without a name is named by where that is, and inside of which function; only a
// namespace without a name is an anonymous namespace.
func TestLambdas(t *testing.T) {
	for _, form := range []string{"-gdwarf-5", "-gdwarf-4", "-gdwarf-5 -gsplit-dwarf"} {
		t.Run(form, func(t *testing.T) {
			b := open(t, build(t, "lambda.cc", append([]string{"g++", "-O2"}, strings.Fields(form)...)...))
			var names []string
			b.debugData().Functions(func(c dwarf.Call) bool {
				if c.Linkage == "" {
					names = append(names, b.nameWithin(c, false))
				}
				return true
			})
			for _, want := range []string{
				"(anonymous namespace)::quiet",
				"Server::handle::{lambda at lambda.cc:20}::operator()",
				"Server::handle::{lambda at lambda.cc:20}::operator()::{lambda at lambda.cc:21}::operator()",
				"main::{unnamed class at lambda.cc:37}::run",
				"main::{lambda at lambda.cc:40}::operator()",
			} {
				if !slices.Contains(names, want) {
					t.Errorf("no function is named %s: %q", want, names)
				}
			}
		})
	}
}

// TestLambdaDeclared: the line at which a function is declared is known, also that of a lambda, which has none itself.
func TestLambdaDeclared(t *testing.T) {
	b := open(t, build(t, "lambda.cc", "g++", "-O2", "-gdwarf-5"))
	// Of an inline function, a lambda has a linkage name.
	inline := "Inline::handle(int)::{lambda(int)#1}::operator()"
	want := map[string]int{
		inline: 31, "main::{lambda at lambda.cc:40}::operator()": 40, "Server::handle": 19, "main": 36, "twice": 14,
	}
	for _, addr := range textAddresses(b, 4000) {
		frames, err := b.FramesAt(addr)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			for name, line := range want {
				if bare, _, _ := strings.Cut(f.Short, "<"); strings.TrimPrefix(bare, "void ") != name || f.Decl == 0 {
					continue
				} else if delete(want, name); f.Decl != line {
					t.Errorf("%s is declared at line %d, not %d", f.Short, line, f.Decl)
				}
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("not found, or without a line: %v", want)
	}
}

// TestMatchLambda: what users typed before lambdas had a name is still accepted.
func TestMatchLambda(t *testing.T) {
	name := "main::{lambda at engine.cpp:70}::operator()"
	f := Frame{Func: name, Short: name}
	for text, want := range map[string]bool{
		name: true, "(anonymous namespace)::operator()": true, "main::{lambda at *}::operator()": true, "main::*": true,
		"main::{lambda at engine.cpp:71}::operator()": false, "(anonymous namespace)::quiet": false, "operator()": false,
	} {
		if got := MatchFunc(text).Frame(f); got != want {
			t.Errorf("%s matches: %v", text, got)
		}
	}
	if MatchFunc("(anonymous namespace)::operator()").Frame(Frame{Func: "A::operator()", Short: "A::operator()"}) {
		t.Error("a class with a name is matched")
	}
}
