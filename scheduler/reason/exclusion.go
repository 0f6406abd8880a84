package reason

import "strings"

// exclusions begin the framework's texts for nodes that PreFilter plugins left out, before the plugins' names: on nodes that
// others would have taken, and when no node was left.
var exclusions = []string{"node(s) didn't satisfy plugin ", "node(s) didn't satisfy plugin(s) ["}

// Exclusion is the reason for a node that a plugin's PreFilter left out: with all others, or while it named some, which need not
// exist.
func Exclusion(plugin string, all bool) string {
	if all {
		return exclusions[0] + plugin
	}
	return exclusions[1] + plugin + "]"
}

// ExcludedBy names the plugin whose PreFilter left nodes out, when it is a single one: the scheduler does not attribute that
// to a plugin, but names it in the text. It returns nothing for any other text.
func ExcludedBy(text string) string {
	for _, begin := range exclusions {
		if name, found := strings.CutPrefix(text, begin); found {
			name = strings.TrimSuffix(name, "]")
			if !strings.ContainsAny(name, " ]") {
				return name
			}
			return ""
		}
	}
	return ""
}
