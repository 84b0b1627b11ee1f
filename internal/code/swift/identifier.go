package swift

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// identifier reads a name, which has its length before it. Letters may stand for words of earlier names.
func (p *parser) identifier() *node {
	var b strings.Builder
	parts, coded := false, false
	if p.nextIs('0') {
		coded = p.nextIs('0')
		parts = !coded
	}
	for again := true; again; again = parts {
		for parts && isLetter(p.peek()) {
			c := p.next()
			if isUpper(c) { // the last letter
				parts = false
				c += 'a' - 'A'
			}
			if int(c-'a') >= len(p.words) || b.Len() > maxName {
				return nil
			}
			b.WriteString(p.words[c-'a'])
		}
		if p.nextIs('0') {
			break
		}
		n, ok := p.natural()
		if coded {
			p.nextIs('_') // separates the length from a digit
		}
		if !ok || n == 0 || n > len(p.text)-p.pos {
			return nil
		}
		s := p.text[p.pos : p.pos+n]
		p.pos += n
		if coded {
			if s, ok = decode(s); !ok {
				return nil
			}
		} else {
			p.addWords(s)
		}
		b.WriteString(s)
	}
	if p.textUsed += b.Len(); b.Len() == 0 || b.Len() > maxName || p.textUsed > maxText || !printable(b.String()) {
		return nil
	}
	return p.remember(of(identifier, b.String()))
}

// maxWords is the number of words to which letters can refer.
const maxWords = 26

// addWords keeps the words of a name: a word begins with a capital letter, or is between underscores.
func (p *parser) addWords(s string) {
	start := -1
	for i := 0; i <= len(s); i++ {
		ends := i == len(s) || s[i] == '_' || i > 0 && isUpper(s[i]) && !isUpper(s[i-1])
		if start >= 0 && ends {
			if i-start >= 2 && len(p.words) < maxWords {
				p.words = append(p.words, s[start:i])
			}
			start = -1
		}
		if start < 0 && i < len(s) && s[i] != '_' && !isDigit(s[i]) {
			start = i
		}
	}
}

// printable reports whether a name may be printed on a terminal.
func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) < 0
}

// operatorName turns the name on the stack into an operator's name.
func (p *parser) operatorName() *node {
	n := p.pop(identifier)
	if n == nil {
		return nil
	}
	var b strings.Builder
	for _, r := range n.text {
		if r >= utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		if r < 'a' || r > 'z' || operatorChars[r-'a'] == ' ' {
			return nil
		}
		b.WriteByte(operatorChars[r-'a'])
	}
	switch p.next() {
	case 'i':
	case 'p':
		b.WriteString(" prefix")
	case 'P':
		b.WriteString(" postfix")
	default:
		return nil
	}
	return &node{kind: declName, text: b.String()}
}

// maxCoded bounds a coded name, which takes time in proportion to the square of its length.
const maxCoded = 1 << 10

// The parameters of Punycode.
const (
	punyBase = 36
	punyTmin = 1
	punyTmax = 26
	punySkew = 38
	punyDamp = 700
	punyBias = 72   // initial
	punyCode = 0x80 // initial
)

// decode reads Punycode (RFC 3492).
func decode(s string) (string, bool) {
	var out []rune
	if i := strings.LastIndexByte(s, '_'); i >= 0 {
		out, s = []rune(s[:i]), s[i+1:]
	}
	if len(s) > maxCoded {
		return "", false
	}
	code, i, bias := rune(punyCode), 0, punyBias
	for s != "" {
		old := i
		var ok bool
		if i, s, ok = addDelta(i, s, bias); !ok {
			return "", false
		}
		n := len(out) + 1
		bias = adaptBias(i-old, n, old == 0)
		if code += rune(i / n); code > utf8.MaxRune {
			return "", false
		}
		i %= n
		out = slices.Insert(out, i, plainRune(code))
		i++
	}
	return string(out), true
}

// addDelta reads a number of variable length and adds it to i. Swift's digits are a to z and A to J.
func addDelta(i int, s string, bias int) (sum int, rest string, ok bool) {
	weight := 1
	for k := punyBase; s != ""; k += punyBase {
		var digit int
		switch c := s[0]; {
		case 'a' <= c && c <= 'z':
			digit = int(c - 'a')
		case 'A' <= c && c <= 'J':
			digit = int(c-'A') + 26
		default:
			return 0, "", false
		}
		s = s[1:]
		if i += digit * weight; i > 1<<31 {
			return 0, "", false
		}
		t := min(max(k-bias, punyTmin), punyTmax)
		if digit < t {
			return i, s, true
		}
		if weight *= punyBase - t; weight > 1<<31 {
			return 0, "", false
		}
	}
	return 0, "", false
}

// adaptBias returns the bias after a delta, when n characters are decoded.
func adaptBias(delta, n int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / n
	k := 0
	for ; delta > (punyBase-punyTmin)*punyTmax/2; k += punyBase {
		delta /= punyBase - punyTmin
	}
	return k + (punyBase-punyTmin+1)*delta/(delta+punySkew)
}

// plainRune returns the character for a decoded one. Swift moves ASCII characters that identifiers cannot have to
// the surrogates, which are no characters, and writes a blank as 0xa0.
func plainRune(r rune) rune {
	const moved = 0xd800
	switch {
	case r >= moved && r < moved+utf8.RuneSelf:
		return r - moved
	case r == 0xa0:
		return ' '
	}
	return r
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLetter(c byte) bool { return isUpper(c) || 'a' <= c && c <= 'z' }
