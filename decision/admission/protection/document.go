package protection

import "strings"

// Document is the table of All in Markdown, as docs/security.md has it.
func Document() string {
	var out strings.Builder
	out.WriteString("| object | managed by | without it | disabled by |\n| --- | --- | --- | --- |\n")
	for _, p := range All() {
		out.WriteString("| " + p.Kind + " `" + p.Name + "` | " + string(p.Keeper) + " | " + p.Lost + " | `" + p.Switch + "` |\n")
	}
	return out.String()
}
