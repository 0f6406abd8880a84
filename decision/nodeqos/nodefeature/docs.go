package nodefeature

import (
	"fmt"
	"strings"
)

// Table is the features that a page of the docs describes, as Markdown; an empty page lists all of them. Sections of the page that has
// the table are linked to without its name.
func Table(page, at string) string {
	var out strings.Builder
	out.WriteString("| gate | default | what it does | decided by | more |\n| --- | --- | --- | --- | --- |\n")
	for _, spec := range All() {
		if page != "" && !strings.HasPrefix(spec.Docs, page) {
			continue
		}
		state, decision := "off", spec.Decision
		if spec.Default {
			state = "on"
		}
		if decision != "" {
			decision = "`" + decision + "`"
		}
		name, section, _ := strings.Cut(spec.Docs, "#")
		text, link := strings.ReplaceAll(section, "-", " "), strings.TrimPrefix(spec.Docs, at)
		if section == "" {
			text = strings.ReplaceAll(strings.TrimSuffix(name, ".md"), "-", " ")
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | [%s](%s) |\n", spec.Name, state, spec.Summary, decision, text, link)
	}
	return out.String()
}
