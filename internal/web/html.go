package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"whatif/internal/chart"
	"whatif/internal/version"
)

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageCSS string
	//go:embed page/*.js
	scripts embed.FS
	pageJS  = script()
)

// script is the page's own script. The drawings and the words come from whatif; it filters, sorts and shows them.
// What is shown is in the address behind the #, and nowhere else. Its files are the body of one function, in this
// order: what they name, all of them may use once start runs.
func script() string {
	var b strings.Builder
	b.WriteString("'use strict';\n(() => {\n")
	for _, name := range strings.Fields("elements resources state table top detail curve map export show actions live " +
		"start") {
		text, err := scripts.ReadFile("page/" + name + ".js")
		if err != nil {
			panic(err) // it is compiled in
		}
		b.Write(append(text, '\n'))
	}
	b.WriteString("})();\n")
	return b.String()
}

// policy lets the page only run its own script and style; connect is where it may fetch from.
func policy(connect string) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(pageJS) + "; style-src " + hash(style()) +
		"; img-src data:; connect-src " + connect + "; base-uri 'none'; form-action 'none'"
}

func style() string { return chart.Style + pageCSS }

// WriteHTML writes the page as one file that holds everything and fetches nothing.
func (p *Page) WriteHTML(w io.Writer) error {
	out := bufio.NewWriter(w)
	err := p.write(out, "'none'", true, func() error {
		for _, name := range p.resources() {
			if name == "rows-0" { // it is in the page already, uncompressed
				continue
			}
			data, err := p.resource(name, true)
			if err != nil {
				return err
			}
			text, err := pack(data)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "<script type=\"text/plain\" id=\"data-%s\">%s</script>\n", name, text)
		}
		return nil
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("writing HTML: %w", err)
	}
	return nil
}

// write writes the page with its first resources; more adds others. single is as for resource.
func (p *Page) write(w io.Writer, connect string, single bool, more func() error) error {
	head, tail, _ := strings.Cut(pageHTML, "{{data}}\n")
	head = strings.NewReplacer("{{policy}}", html.EscapeString(policy(connect)),
		"{{title}}", html.EscapeString(p.index.Title), "{{style}}", style(),
		"{{product}}", html.EscapeString(product())).Replace(head)
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	for _, name := range []string{"index", "rows-0"} {
		data, err := p.resource(name, single)
		if err == errNone { // a profile without points
			data = []byte("null")
		} else if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "<script type=\"application/json\" id=\"data-%s\">%s</script>\n", name, data)
		if err != nil {
			return err
		}
	}
	if err := more(); err != nil {
		return err
	}
	_, err := io.WriteString(w, strings.Replace(tail, "{{script}}", pageJS, 1))
	return err
}

// product says which whatif made the page.
func product() string {
	text, build := "whatif "+version.Number, version.Get()
	if build.Commit != "" {
		text += ", commit " + build.Commit[:min(12, len(build.Commit))]
	}
	if !build.Date.IsZero() {
		text += " of " + build.Date.Format(time.DateOnly)
	}
	if build.Changed {
		text += ", with changes"
	}
	return text
}

// pack compresses data, and encodes it as text.
func pack(data []byte) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
