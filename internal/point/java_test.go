package point

import (
	"os"
	"slices"
	"strings"
	"testing"

	"whatif/internal/code/jvm/classfile"
)

func javaSpec(t *testing.T, text string) Spec {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestInJava(t *testing.T) {
	for text, want := range map[string]bool{
		"Toy.java:49": true, "src/com/shop/Cart.java:7": true, "com.shop.Cart:7": true, "Main.kt:3": true,
		"func:com.shop.Cart.total": true, "func:com.shop.*": true, "func:com.shop.Cart$Item.get%return": true,
		"func:total": false, "func:shop::Cart::total": false, "func:main.(*Server).serve": false, "server.c:7": false,
		"func:./libx.so:A.b": false, "func:main.work": false, "syscall:write": false, "requests": false,
		"exit": false, "Makefile.x:3": false,
	} {
		if s := javaSpec(t, text); s.InJava() != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

func TestMayHaveJava(t *testing.T) {
	for _, c := range []struct {
		spec, class, source string
		want                bool
	}{
		{"Cart.java:7", "com.shop.Cart", "Cart.java", true},
		{"shop/Cart.java:7", "com.shop.Cart$Item", "Cart.java", true},
		{"src/main/java/com/shop/Cart.java:7", "com.shop.Cart", "Cart.java", true},
		{"other/Cart.java:7", "com.shop.Cart", "Cart.java", false},
		{"Cart.java:7", "com.shop.Cart", "", false},
		{"com.shop.Cart:7", "com.shop.Cart", "", true},
		{"com.shop.Cart:7", "com.shop.Cart$1", "Cart.java", true},
		{"com.shop.Cart:7", "com.shop.Carts", "Cart.java", false},
		{"func:com.shop.Cart.total", "com.shop.Cart", "", true},
		{"func:com.shop.Cart.total", "com.shop.Cart$Item", "", false},
		{"func:com.shop.*", "com.shop.Cart", "", true},
		{"func:com.shop.*total", "com.shop.Cart", "", true},
		{"func:com.shop.Cart.*", "com.shop.Car", "", false},
		{"func:*.close", "com.shop.Cart", "", true},
		{"func:*.close", "java.io.File", "", false},
		{"func:java.io.*.close", "java.io.File", "", true},
	} {
		if s := javaSpec(t, c.spec); s.MayHaveJava(c.class, c.source) != c.want {
			t.Errorf("%s, %s of %q: %v", c.spec, c.class, c.source, !c.want)
		}
	}
}

// TestJavaPlaces: what is found in a class, which also has all pieces by which it is chosen.
func TestJavaPlaces(t *testing.T) {
	data, err := os.ReadFile("../code/jvm/classfile/testdata/Shapes.class")
	if err != nil {
		t.Fatal(err)
	}
	class, err := classfile.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec    string
		places  int
		methods []string
	}{
		{"Shapes.java:34", 1, []string{"loops"}},
		{"Shapes:34", 1, []string{"loops"}},
		{"func:Shapes.check", 1, []string{"check"}},
		{"func:Shapes.tries%return", 2, []string{"tries"}},
		{"func:Shapes.l*s", 3, []string{"loops", "locks", "lambdas"}},
		{"func:Shapes.<init>", 2, []string{"<init>"}},
		{"func:Shapes.nothing", 0, nil},
	} {
		s := javaSpec(t, c.spec)
		found, err := s.JavaPlaces(class)
		if err != nil || len(found.Places) != c.places || !slices.Equal(found.Methods, c.methods) {
			t.Errorf("%s: %+v, %v", c.spec, found, err)
		}
		for _, piece := range s.JavaPieces() {
			if c.places > 0 && piece != "\x00Shapes" && !strings.Contains(string(data), piece) {
				t.Errorf("%s: %q is not in the class", c.spec, piece)
			}
		}
	}
	s := javaSpec(t, "Shapes.java:2")
	found, err := s.JavaPlaces(class)
	if err != nil || len(found.Places) > 0 || !slices.Equal(found.Near, class.Lines()[:1]) {
		t.Errorf("a comment: %+v, %v", found, err)
	}
}
