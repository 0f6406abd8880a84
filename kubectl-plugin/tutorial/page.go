package tutorial

import (
	"fmt"
	"strings"
)

// pageWidth is the width of the lines of a page, in characters.
const pageWidth = 130

// Page is the page of docs/tutorials that tells what a run has shown, in Markdown.
func Page(r Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Generated from a run of the tutorial, by its test with -update. -->\n\n# %s\n", r.Title)
	writeParagraphs(&b, r.Intro)
	fmt.Fprintf(&b, "\n```console\nkoordctl sandbox up --name real --real-node --nodes 0\nkoordctl tutorial %s --name real\n```\n", r.Name)
	writeParagraphs(&b, "The first command needs root, runc and what `make real-node` builds. The second one prints what follows as it happens. "+
		"To type the commands yourself meanwhile, use the sandbox's context: `kubectl config use-context koord-sandbox-real`.")
	for i, done := range r.Done {
		fmt.Fprintf(&b, "\n## %d. %s\n", i+1, done.Title)
		writeParagraphs(&b, done.Text)
		for _, ran := range done.Ran {
			fmt.Fprintf(&b, "\n```console\n$ %s\n", ran.Line)
			if output := strings.TrimRight(ran.Output, "\n"); output != "" {
				fmt.Fprintln(&b, output)
			}
			b.WriteString("```\n")
		}
		writeTable(&b, done.Table)
		writeParagraphs(&b, done.Seen)
	}
	return b.String()
}

func writeTable(b *strings.Builder, rows [][]string) {
	for i, row := range rows {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(b, "|%s\n", strings.Repeat(" --- |", len(row)))
		}
	}
}

func writeParagraphs(b *strings.Builder, text string) {
	for _, paragraph := range paragraphs(text) {
		b.WriteByte('\n')
		used := 0
		for _, word := range strings.Fields(paragraph) {
			switch {
			case used == 0:
			case used+1+len(word) > pageWidth:
				b.WriteByte('\n')
				used = 0
			default:
				b.WriteByte(' ')
				used++
			}
			b.WriteString(word)
			used += len(word)
		}
		b.WriteByte('\n')
	}
}
