package report

import (
	"bufio"
	"strconv"
	"strings"

	"whatif/internal/analyze"
)

// newPrinter makes a printer with the options' style.
func newPrinter(w *bufio.Writer, opt Options) *printer {
	return &printer{w: w, width: opt.Width, ascii: opt.ASCII, color: opt.Color, curves: opt.Curves}
}

// plain is text for a terminal that shows only ASCII.
func (p *printer) plain(s string) string {
	if !p.ascii {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r == '±':
			b.WriteString("+-")
		case r == '–':
			b.WriteByte('-')
		case r == '→':
			b.WriteString("->")
		case r == '≤':
			b.WriteString("<=")
		case r == '…':
			b.WriteByte('~')
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// tint colours text, if there are to be colours.
func (p *printer) tint(code, s string) string {
	if !p.color || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// tints are the colours of verdicts. The word says the same, so colour is not needed.
var tints = map[analyze.Verdict]string{analyze.Faster: "32", analyze.Slower: "31", analyze.None: "2",
	analyze.Unsure: "33"}

const bold = "1"
