package symbol

import "testing"

func TestMatchJava(t *testing.T) {
	in := func(file, function string) Frame { return Frame{File: file, Func: function} }
	cart := in("com/shop/Cart.java", "com.shop.Cart.total(int)")
	for _, c := range []struct {
		spec  string
		frame Frame
		want  bool
	}{
		{"com.shop.Cart", cart, true},
		{"com.shop.Cart", in("com/shop/Cart.java", "com.shop.Cart$Item.price()"), true},
		{"com.shop.Cart", in("com/shop/Cart.java", "com.shop.Carts.total()"), false},
		{"Cart", cart, false},
		{"com.shop", cart, false},
		{"", cart, false},
		{"src/main/java/com/shop/Cart.java", cart, true},
		{"/home/u/../u/src/com/shop/Cart.java", cart, true},
		{"src/com/store/Cart.java", cart, false},
		{"srccom/shop/Cart.java", cart, false},
		{"main", in("/src/main.go", "main.work"), false},
		{"src/main.go", in("main.go", "main.work"), false},
	} {
		if got := MatchJava(c.spec, c.frame); got != c.want {
			t.Errorf("MatchJava(%q, %+v) = %v", c.spec, c.frame, got)
		}
	}
}

func TestMatchFile(t *testing.T) {
	for _, c := range []struct {
		spec, full string
		want       bool
	}{
		{"parse.c", "/src/x/parse.c", true},
		{"x/parse.c", "/src/x/parse.c", true},
		{"./x/parse.c", "/src/x/parse.c", true},
		{"../x/parse.c", "/src/x/parse.c", true},
		{"/src/x/parse.c", "/src/x/parse.c", true},
		{"/src/x/../x/parse.c", "/src/x/parse.c", true},
		{"main/main.go", "main/main.go", true},
		{"parse.c", "/src/xparse.c", false},
		{"y/parse.c", "/src/x/parse.c", false},
		{"/x/parse.c", "/src/x/parse.c", false},
		{"parse", "/src/x/parse.c", false},
		{"", "/src/x/parse.c", false},
		{"parse.c", "", false},
	} {
		if got := MatchFile(c.spec, c.full); got != c.want {
			t.Errorf("MatchFile(%q, %q) = %v", c.spec, c.full, got)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		symbol            string
		isGo              bool
		full, short, bare string
	}{
		{"parse_row", false, "parse_row", "parse_row", "parse_row"},
		{"parse_row.constprop.0.isra.1", false, "parse_row", "parse_row", "parse_row"},
		{"parse_row.cold", false, "parse_row", "parse_row", "parse_row"},
		{".hidden", false, ".hidden", ".hidden", ".hidden"},
		{"_ZN4shop4Cart3addESsi", false, "shop::Cart::add(std::string, int)", "shop::Cart::add", "shop::Cart::add"},
		{"_ZN4shop4Cart3addESsi.part.0", false, "shop::Cart::add(std::string, int)", "shop::Cart::add", "shop::Cart::add"},
		{"_Z3maxIiET_S0_S0_", false, "int max<int>(int, int)", "max<int>", "max"},
		{"_ZN4coll5words5count17h0123456789abcdefE", false, "coll::words::count", "coll::words::count", "coll::words::count"},
		{"_RNvNtCs1234_4coll5words5count", false, "coll::words::count", "coll::words::count", "coll::words::count"},
		{"main.(*T).Get", true, "main.(*T).Get", "main.(*T).Get", "main.(*T).Get"},
		{"main.Map[go.shape.int,go.shape.string]", true, "main.Map[...]", "main.Map[...]", "main.Map"},
		{"main.(*L[go.shape.int]).Add", true, "main.(*L[...]).Add", "main.(*L[...]).Add", "main.(*L).Add"},
		{"runtime.memmove.abi0", true, "runtime.memmove", "runtime.memmove", "runtime.memmove"},
		{"main.run.func1.2", true, "main.run.func1.2", "main.run.func1.2", "main.run.func1.2"},
		{"$s4main5StoreC4make2ofACSi_tFZTf4nd_n", false,
			"specialized static main.Store.make(of:)", "specialized static main.Store.make(of:)", "main.Store.make(of:)"},
		{"$s4main5StoreC.5", false, "$s4main5StoreC", "$s4main5StoreC", "$s4main5StoreC"},
	} {
		n := namesOf(c.symbol, c.isGo)
		if n.full != c.full || n.short != c.short || n.bare != c.bare {
			t.Errorf("%s: %q, %q, %q", c.symbol, n.full, n.short, n.bare)
		}
	}
}

func TestMatchFunc(t *testing.T) {
	for _, c := range []struct {
		text, symbol   string
		isGo           bool
		exact, pattern bool
	}{
		{"parse", "parse", false, true, false},
		{"parse", "parse.isra.0", false, true, false},
		{"parse", "parser", false, false, false},
		{"pars*", "parser", false, false, true},
		{"shop::Cart::add", "_ZN4shop4Cart3addESsi", false, true, false},
		{"shop::Cart::add(std::string, int)", "_ZN4shop4Cart3addESsi", false, true, false},
		{"_ZN4shop4Cart3addESsi", "_ZN4shop4Cart3addESsi", false, true, false},
		{"Cart::add", "_ZN4shop4Cart3addESsi", false, false, false},
		{"*::add", "_ZN4shop4Cart3addESsi", false, false, true},
		{"max", "_Z3maxIiET_S0_S0_", false, true, false},
		{"max<int>", "_Z3maxIiET_S0_S0_", false, true, false},
		{"max<long>", "_Z3maxIiET_S0_S0_", false, false, false},
		{"f(char*)", "_Z1fPc", false, true, true},
		{"coll::words::count::h0123456789abcdef", "_ZN4coll5words5count17h0123456789abcdefE", false, true, false},
		{"coll::words::count", "_ZN4coll5words5count17h0123456789abcdefE", false, true, false},
		{"std::basic_string::~basic_string", "_ZNSsD1Ev", false, true, false},
		{"operator==", "_ZeqRK1AS1_", false, true, false},
		{"main.(*T).Get", "main.(*T).Get", true, true, true},
		{"main.Map[...]", "main.Map[go.shape.int]", true, true, false},
		{"main.Map", "main.Map[go.shape.int]", true, true, false},
		{"main.*", "main.Map[go.shape.int]", true, false, true},
		{"main.Store.make(of:)", "$s4main5StoreC4make2ofACSi_tFZTf4nd_n", false, true, false},
		{"main.Store.make", "$s4main5StoreC4make2ofACSi_tFZTf4nd_n", false, true, false},
		{"main.Store.make(", "$s4main5StoreC4make2ofACSi_tFZTf4nd_n", false, false, false},
		{"main.Store.*", "$s4main5StoreC4make2ofACSi_tFZTf4nd_n", false, false, true},
		{"main.run", "$s4main3runyyFyycfU_", false, false, false}, // a closure in it is another function
		{"A::operator()", "_ZN1AclEv", false, true, false},
		{"A::operator", "_ZN1AclEv", false, false, false},
	} {
		m := MatchFunc(c.text)
		n := namesOf(c.symbol, c.isGo)
		if got := m.exactly(n); got != c.exact {
			t.Errorf("%q is %q: %v", c.text, c.symbol, got)
		}
		if got := m.pattern(n); got != c.pattern {
			t.Errorf("%q is a pattern of %q: %v", c.text, c.symbol, got)
		}
		if (c.exact || c.pattern) && !m.possible(c.symbol) {
			t.Errorf("%q cannot be %q", c.text, c.symbol)
		}
	}
}

func TestMatchFuncFrame(t *testing.T) {
	frame := Frame{Func: "int max<int>(int, int)", Short: "max<int>"}
	for text, want := range map[string]bool{
		"max": true, "max<int>": true, "int max<int>(int, int)": true, "ma*": true, "min": false,
	} {
		if got := MatchFunc(text).Frame(frame); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	frame = Frame{Func: "specialized static main.T.make(of:)", Short: "specialized static main.T.make(of:)"}
	for text, want := range map[string]bool{
		"main.T.make(of:)": true, "main.T.make": true, frame.Func: true, "main.T*": true, "make": false, "main.T": false,
	} {
		if got := MatchFunc(text).Frame(frame); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if MatchFunc("*").Frame(Frame{File: "a.c", Line: 1}) {
		t.Error("a frame without a function matches a name")
	}
}

func TestWithoutArguments(t *testing.T) {
	for in, want := range map[string]string{
		"max<int>": "max", "a::b<c<d>, e>": "a::b", "f::<u8>": "f", "A<int>::get": "A<int>::get",
		"X::operator->": "X::operator->", "X::operator>": "X::operator>",
		"plain": "plain", "main.Map[...]": "main.Map", ">": ">",
	} {
		if got := withoutArguments(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("a*b*c", "aXbYc")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if !Glob(s+"*", s) || !Glob("*", s) {
			t.Error("a star matches anything")
		}
		if Glob(pattern, s) && !Glob("*"+pattern+"*", s) {
			t.Error("a wider pattern matches less")
		}
	})
}
