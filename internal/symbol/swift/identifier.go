package swift

import (
	"strings"
	"unicode/utf8"
)

// identifier reads a name with its length before it, some of whose words may be those of earlier names.
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
			if isUpper(c) { // the last one
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
			p.nextIs('_') // keeps the length from what begins with a digit
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
			p.learn(s)
		}
		b.WriteString(s)
	}
	if p.textUsed += b.Len(); b.Len() == 0 || b.Len() > maxName || p.textUsed > maxText || !printable(b.String()) {
		return nil
	}
	return p.remember(of(identifier, b.String()))
}

// maxWords is how many words have a letter.
const maxWords = 26

// learn keeps the words of a name: what is between underscores, and what begins with a capital letter.
func (p *parser) learn(s string) {
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

// printable is true of what may be shown on a terminal.
func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) < 0
}

// operatorName makes an operator of the name on the stack.
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

// maxCoded bounds a coded name, which takes time in proportion to its square.
const maxCoded = 1 << 10

// decode reads Punycode (RFC 3492) with Swift's digits: a to z and A to J. Characters that ASCII has, but
// identifiers have not, are moved to where no character is.
func decode(s string) (string, bool) {
	const (
		base, tmin, tmax, skew, damp = 36, 1, 26, 38, 700
		moved                        = 0xd800
	)
	var out []rune
	if i := strings.LastIndexByte(s, '_'); i >= 0 {
		out, s = []rune(s[:i]), s[i+1:]
	}
	if len(s) > maxCoded {
		return "", false
	}
	code, i, bias := rune(0x80), 0, 72
	for pos := 0; pos < len(s); {
		old, weight := i, 1
		for k := base; ; k += base {
			if pos == len(s) {
				return "", false
			}
			var digit int
			switch c := s[pos]; {
			case 'a' <= c && c <= 'z':
				digit = int(c - 'a')
			case 'A' <= c && c <= 'J':
				digit = int(c-'A') + 26
			default:
				return "", false
			}
			pos++
			i += digit * weight
			if i > 1<<31 {
				return "", false
			}
			t := min(max(k-bias, tmin), tmax)
			if digit < t {
				break
			}
			if weight *= base - t; weight > 1<<31 {
				return "", false
			}
		}
		n := len(out) + 1
		delta := i - old
		if delta /= 2; old == 0 {
			delta = (i - old) / damp
		}
		delta += delta / n
		k := 0
		for ; delta > (base-tmin)*tmax/2; k += base {
			delta /= base - tmin
		}
		bias = k + (base-tmin+1)*delta/(delta+skew)
		if code += rune(i / n); code > utf8.MaxRune {
			return "", false
		}
		i %= n
		r := code
		switch {
		case r >= moved && r < moved+utf8.RuneSelf:
			r -= moved
		case r == 0xa0: // how a blank is written
			r = ' '
		}
		out = append(out[:i], append([]rune{r}, out[i:]...)...)
		i++
	}
	return string(out), true
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLetter(c byte) bool { return isUpper(c) || 'a' <= c && c <= 'z' }
