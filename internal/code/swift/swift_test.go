package swift

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// symbols has symbols and their names.
var symbols = []struct{ symbol, name string }{
	// Functions and their labels.
	{"$s4main3fooyyF", "main.foo()"},
	{"_$s4main3fooyyF", "main.foo()"},
	{"$e4main3fooyyF", "main.foo()"},
	{"$S4test6testitySiyt_tF", "test.testit(_:)"},
	{"$s4main5StoreC3add4itemySi_tF", "main.Store.add(item:)"},
	{"$S8mangling14varargsVsArray3arr1nySaySiGd_SStF", "mangling.varargsVsArray(arr:n:)"},
	{"$ss5print_9separator10terminatoryypd_S2StF", "Swift.print(_:separator:terminator:)"},
	{"$s7example1fyyYaKF", "example.f()"},
	{"$s12typed_throws15rethrowConcreteyyAA7MyErrorOYKF", "typed_throws.rethrowConcrete()"},
	{"$s4test3fooyyAA1P_pSS1TAaCPRts_Si1UAERtsXPF", "test.foo(_:)"},
	{"$s3red7MyActorC3runyxxyYaKACYcYTXEYaKlFZ", "static red.MyActor.run(_:)"},
	{"$s4testA2A5KlassCyYTF", "test.test()"},
	{"$s4main20receiveInstantiationyySo34__CxxTemplateInst12MagicWrapperIiEVzF", "main.receiveInstantiation(_:)"},

	// Words and substitutions, generic types with conformances of their own.
	{"$s20mangling_retroactive5test0yyAA1ZVy12RetroactiveB1XVSiAE1YVAG0D1A1PHPyHCg_AiJ1QHPyHCg1_GF",
		"mangling_retroactive.test0(_:)"},
	{"$s3red4testyAA7OurTypeOy4them05TheirD0Vy5AssocQzGAjE0F8ProtocolAAxAA0c7DerivedH0HD1_AA0c4BaseH0HI1_AieKHA2__HCg_GxmAaLRzlF",
		"red.test(_:)"},
	{"_$Ss17MutableCollectionP1asAARzs012RandomAccessB0RzsAA11SubSequences013BidirectionalB0PRpzsAdHRQlE06rotatecD015shiftingToStart5Indexs01_A9IndexablePQzAN_tFAKs01_M4BasePQzAQcfU_",
		"closure #1 in Swift.MutableCollection.rotateRandomAccess(shiftingToStart:)"},
	{"$s21SwiftLintBuiltInRules20CommaInheritanceRuleV0aB4Core011CorrectableH0AadEP7correct4fileSayAD10CorrectionVGAD0aB4FileC_tFTW",
		"protocol witness for SwiftLintCore.CorrectableRule.correct(file:) in conformance SwiftLintBuiltInRules.CommaInheritanceRule"},

	// Initializers, deinitializers, accessors.
	{"$s4test3StrCACycfC", "test.Str.__allocating_init()"},
	{"$s4test3StrVACycfC", "test.Str.init()"},
	{"_$S4main4TestC1xACSi_tc6_PRIV_Llfc", "main.Test.init(x:)"},
	{"$s11CryptoSwift4SHA3Cfd", "CryptoSwift.SHA3.deinit"},
	{"$s11CryptoSwift4SHA3CfD", "CryptoSwift.SHA3.__deallocating_deinit"},
	{"$s11SwiftSyntax018BooleanLiteralExprB0V9hashValueSivg", "SwiftSyntax.BooleanLiteralExprSyntax.hashValue.getter"},
	{"$s11SwiftSyntax016TupleTypeElementB0V035unexpectedBetweenFirstNameAndSecondI0AA015UnexpectedNodesB0VSgvs",
		"SwiftSyntax.TupleTypeElementSyntax.unexpectedBetweenFirstNameAndSecondName.setter"},
	{"$s2hi1SV1iSivx", "hi.S.i.modify2"},
	{"$s3nix8MystructVyS2icig", "nix.Mystruct.subscript.getter"},
	{"$ss10ArraySliceVyxSicirSu_Tg5.resume.0", "specialized Swift.ArraySlice.subscript.read"},
	{"$s17property_wrappers10WithTuplesV9fractionsSd_S2dtvpfP",
		"property wrapper backing initializer of property_wrappers.WithTuples.fractions"},
	{"$s11CryptoSwift12pseudoPrimes_WZ", "one-time initialization function for CryptoSwift.pseudoPrimes"},

	// Operators.
	{"$sSS2eeoiySbSS_SStFZ", "static Swift.String.==(_:_:)"},
	{"$s11CryptoSwift2CSO6BigIntV2ggoiyA2E_xtSzRzlFZSi_Tgm5", "specialized static CryptoSwift.CS.BigInt.>>(_:_:)"},
	{"$s4main1sopyS2iF", "main.- prefix(_:)"},
	{"$s8mangling007p_qcaDcoiyS2i_SitF", "mangling.«+»(_:_:)"},

	// Local and private names, closures, default arguments, quoted names.
	{"$s14SwiftOperators13OperatorTableV13addSourceFile_12errorHandlery0A6Syntax0fgJ0V_yAA0C5ErrorOKXEtKF0C15AndGroupVisitorL_CfD",
		"__deallocating_deinit in OperatorAndGroupVisitor #1 in SwiftOperators.OperatorTable.addSourceFile(_:errorHandler:)"},
	{"$s11SwiftParser0B0V39atFunctionDeclarationWithoutFuncKeyword33_32FF4926FE9AC14766AA6F79D8663D3DLLSbyF022nextTokenIsLeftParenOrS5AngleL_Sbvg",
		"getter of nextTokenIsLeftParenOrLeftAngle #1 in SwiftParser.Parser.atFunctionDeclarationWithoutFuncKeyword()"},
	{"$s1t1fyyFSiAA3StrVcs7KeyPathCyADSiGcfu_SiADcfu0_33_556644b740b1b333fecb81e55a7cce98ADSiTf3npk_n",
		"specialized implicit closure #2 in implicit closure #1 in t.f()"},
	{"$s9MacroUser016testFreestandingA9ExpansionyyF4Foo3L_V23bitwidthNumberedStructsfMf_6methodfMu0_",
		"unique name #2 of method in macro expansion #1 of bitwidthNumberedStructs in Foo3 #1 in MacroUser.testFreestandingMacroExpansion()"},
	{"_$s15raw_identifiers0020foospace_liaADEDGcjayyF", "raw_identifiers.`foo space`()"},
	{"$s4main0012vergenza_JFayyF", "main.vergüenza()"},

	// Copies of functions, and ways to call them.
	{"$s4test7genFuncyyx_q_tr0_lFSi_SbTtt1g5", "specialized test.genFunc(_:_:)"},
	{"$s1A1gyyxlFx_qd__t_Ti5", "specialized A.g(_:)"},
	{"_$S3foo6testityyyyc_yyctF1a1bTf3pfpf_n", "specialized foo.testit(_:_:)"},
	{"_$S4main5inneryys5Int32Vz_yADctF25closure_with_box_argumentxz_Bi32__lXXTf1nc_n", "specialized main.inner(_:_:)"},
	{"$S3abc6testityySiFTm", "merged abc.testit(_:)"},
	{"$sSo17OS_dispatch_queueC4sync7executeyyyXE_tFTOTA",
		"partial apply for @nonobjc __C.OS_dispatch_queue.sync(execute:)"},
	{"$s11SwiftSyntax05TokenB0VSbIegnr_ACSbIeggd_TRTA",
		"partial apply for reabstraction thunk for (SwiftSyntax.TokenSyntax) -> Swift.Bool"},
	{"$s10Foundation8_NSRangeV_ACtSgWOb", "outlined init with take of (Foundation._NSRange, Foundation._NSRange)?"},
	{"$sSDySSSayypGGWOe.17", "outlined consume of [Swift.String : [Any]]"},
	{"$s11CryptoSwift3AESC5ErrorOwet", "getEnumTagSinglePayload value witness for CryptoSwift.AES.Error"},
	{"$s21SwiftLintBuiltInRules19UnusedParameterRuleVMa",
		"type metadata accessor for SwiftLintBuiltInRules.UnusedParameterRule"},
	{"$s11CryptoSwift11CipherErrorOACSQAAWl",
		"lazy protocol witness table accessor for CryptoSwift.CipherError : Swift.Equatable"},
	{"$s11SwiftSyntax010BorrowExprB0V016unexpectedBeforeC7KeywordAA015UnexpectedNodesB0VSgvpACTk",
		"key path setter for SwiftSyntax.BorrowExprSyntax.unexpectedBeforeBorrowKeyword"},
	{"$s21SwiftLintBuiltInRules19PrivateUnitTestRuleV7Visitor33_AF9549A6E055D02BD8C2D83CBCCE8AAELLC13configuration4fileAfA0fgH13ConfigurationV_0aB4Core0aB4FileCtcfCAK016ViolationsSyntaxJ0CAghOyxGx_AMtcfCTV",
		"vtable thunk for SwiftLintCore.ViolationsSyntaxVisitor.__allocating_init(configuration:file:) dispatching to SwiftLintBuiltInRules.PrivateUnitTestRule.Visitor.__allocating_init(configuration:file:)"},

	// Parts of asynchronous functions.
	{"$s5Actor02MyA0C17testAsyncFunctionyyYaKFTY0_", "Actor.MyActor.testAsyncFunction()"},
	{"$s5Actor02MyA0C17testAsyncFunctionyyYaKFTQ1_", "Actor.MyActor.testAsyncFunction()"},
}

// unnamed has symbols without a name: data, types, symbols that are not understood, and text that is no symbol.
var unnamed = []string{
	"$sSays6UInt32VGTf4nx_n", "$s4main5StoreCMn", "$s4main5StoreC", "$s4main", "$sTA.123", "$s", "$s4main3fooyyFTu",
	"$s4main3fooyyF3bar", "$s4main3fooyy", "$s4main9foyyF", "$s99999999999999999999foo", "$s4mainA9999999aF",
	"_S$s3SetVyxGs10CollectiotySivm", "_$S3BBBBf0602365061_", "$sSD5IndexVy__GD", "$syQo", "$s__TJO",
	"$Sxxx_x_xxIxzCCCCCCCCCC$x", "$s4main3f\x1boyyF", "main", "_ZN4main3fooEv", "$string",
}

// allSymbols returns all symbols, with and without a name.
func allSymbols() []string {
	all := slices.Clone(unnamed)
	for _, s := range symbols {
		all = append(all, s.symbol)
	}
	return all
}

func TestName(t *testing.T) {
	for _, s := range symbols {
		if got, ok := Name(s.symbol); got != s.name || !ok {
			t.Errorf("%s\n got %q, %v\nwant %q", s.symbol, got, ok, s.name)
		}
	}
	for _, s := range unnamed {
		if got, ok := Name(s); ok {
			t.Errorf("%s\n got %q", s, got)
		}
	}
}

func TestPossible(t *testing.T) {
	for _, s := range symbols {
		plain := Plain(s.name)
		unlabelled, _, _ := strings.Cut(plain, "(")
		for _, n := range []string{s.name, plain, unlabelled} {
			if n != "" && !Possible(s.symbol, n) {
				t.Errorf("%s cannot be %s", n, s.symbol)
			}
		}
	}
	for _, name := range []string{"add", "mai.foo()", "mainly.foo()", "foo.main"} {
		if Possible("$s4main3fooyyF", name) {
			t.Errorf("%s is possible", name)
		}
	}
}

// TestNameCut reads each symbol without its end: the result is a whole name, or none.
func TestNameCut(t *testing.T) {
	for _, symbol := range allSymbols() {
		for i := range symbol {
			checkName(t, symbol[:i])
		}
	}
}

func TestPiece(t *testing.T) {
	for symbol, want := range map[string]bool{
		"$s5Actor02MyA0C17testAsyncFunctionyyYaKFTY0_": true, "$s5Actor02MyA0C17testAsyncFunctionyyYaKFTQ_": true,
		"$s5Actor02MyA0C17testAsyncFunctionyyYaKFTQ1_Tm": true, "$s5Actor02MyA0C17testAsyncFunctionyyYaKF": false,
		"f_TY0_": false,
	} {
		if got := Piece(symbol); got != want {
			t.Errorf("%s: %v", symbol, got)
		}
	}
}

func TestPlain(t *testing.T) {
	for name, want := range map[string]string{
		"specialized static main.T.make(of:)": "main.T.make(of:)", "static main.T.make(of:)": "main.T.make(of:)",
		"merged main.f()": "merged main.f()", "std::max": "std::max",
	} {
		if got := Plain(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestNameCost reads symbols that are made to take long.
func TestNameCost(t *testing.T) {
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	for what, symbol := range map[string]string{
		"repeated":      "$s4main" + many("A2048a", 10_000),
		"tuples":        "$s4main1aV" + many("AbA2000bt", 7_000),
		"words":         "$s" + "9999" + many("a", 9999) + many("0"+many("a", 500)+"A0", 120),
		"doubled":       "$s4main1aV" + many("A2B_AcAct", 1) + many("SayAEG_AEt", 5_000) + "WOe",
		"nested":        "$s4main1aV" + many("Say", 1) + many("Sg", 20_000) + "WOe",
		"deep":          "$s4main1fyyF" + many("yycfU_", 10_000),
		"coded":         "$s00" + "65000" + many("a", 65_000) + "yyF",
		"longest":       "$s4main" + many("1", 1<<20),
		"unended lists": "$s" + many("_", 60_000) + "t",
		"bound":         "$s4main1aV" + many("y", 1) + many("_", 60_000) + "G",
	} {
		start := time.Now()
		checkName(t, symbol)
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("%s: %v", what, d)
		}
	}
}

func checkName(t *testing.T, symbol string) {
	t.Helper()
	name, ok := Name(symbol)
	if ok != (name != "") || len(name) > maxName {
		t.Errorf("%q: %q, %v", symbol, name, ok)
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		t.Errorf("%q: %q cannot be shown", symbol, name)
	}
}

func FuzzName(f *testing.F) {
	for _, symbol := range allSymbols() {
		f.Add(symbol)
	}
	f.Fuzz(func(t *testing.T, symbol string) {
		checkName(t, symbol)
		checkName(t, "$s4main"+symbol)
	})
}
