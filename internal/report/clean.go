package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text from outside safe to print, for other packages.
func Clean(s string) string { return clean(s) }

// Quoted quotes a word for a shell, if the word needs that.
func Quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./:=%+,@", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Fit makes a line of text safe to print, and cuts it to n columns; 0 means no limit.
func Fit(s string, n int, ascii bool) string {
	p := &printer{ascii: ascii}
	return cutPlain(p.plain(clean(s)), n)
}

func cutPlain(s string, n int) string {
	if n <= 0 {
		return s
	}
	return s[:fitting(s, n)]
}

// clean makes text from outside (names of symbols, files, arguments) safe to print. Characters that
// a terminal acts upon, that cannot be seen, or that reorder the line become escapes, and so do
// bytes that are no UTF-8.
func clean(s string) string {
	ok := true
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			ok = false
			break
		}
	}
	if ok {
		return s
	}
	var b strings.Builder
	for i, w := 0, 0; i < len(s); i += w {
		var r rune
		r, w = utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && w == 1:
			b.WriteString(`\x` + hex(s[i]))
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

func hex(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}

// command writes a program and its arguments about as a user would type them.
func command(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = clean(a)
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$&|;<>*?()`") {
			words[i] = "'" + strings.ReplaceAll(words[i], "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// cutRight shortens s to n columns and keeps the beginning; cutLeft keeps the end. n = 0 means no
// limit.
func cutRight(s string, n int) string {
	if n <= 0 || width(s) <= n {
		return s
	}
	at, used := 0, 0
	for i, r := range s {
		if used += runeWidth(r); used > n-1 {
			break
		}
		at = i + utf8.RuneLen(r)
	}
	return s[:at] + "…"
}

func cutLeft(s string, n int) string {
	if n <= 0 || width(s) <= n {
		return s
	}
	at, used := len(s), 0
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		if used += runeWidth(r); used > n-1 {
			break
		}
		at -= size
	}
	return "…" + s[at:]
}

// Wrap breaks text into lines of at most n columns, at spaces if possible.
func Wrap(text string, n int) []string {
	if n <= 0 || width(text) <= n {
		return []string{text}
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for width(word) > n { // there is no space to break at
			if line != "" {
				lines = append(lines, line)
				line = ""
			}
			at := fitting(word, n)
			lines = append(lines, word[:at])
			word = word[at:]
		}
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// fitting is how many bytes of s take at most n columns, but at least one character.
func fitting(s string, n int) int {
	used := 0
	for i, r := range s {
		if used += runeWidth(r); used > n && i > 0 {
			return i
		}
	}
	return len(s)
}
