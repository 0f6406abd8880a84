package printer

import (
	"fmt"
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// Withheld counts in one line what an answer does not name; empty when it names everything.
func Withheld(list []diagnosticsv1alpha1.Withheld) string {
	if len(list) == 0 {
		return ""
	}
	counts := make([]string, len(list))
	for i, of := range list {
		resource, _, _ := strings.Cut(of.Resource, ".")
		counts[i] = phrase.Counted(int(of.Count), strings.TrimSuffix(resource, "s"))
	}
	return fmt.Sprintf("Not shown: %s, which you do not have permission to get", strings.Join(counts, ", "))
}

func withheld(w io.Writer, list []diagnosticsv1alpha1.Withheld, o Options) error {
	return aside(w, o.Style.Paint(Dim, o.say(Withheld(list))), o)
}

// aside prints a line after an empty one; nothing for an empty line.
func aside(w io.Writer, line string, o Options) error {
	if line == "" {
		return nil
	}
	var b strings.Builder
	b.WriteString("\n")
	wrapped(&b, o, 0, line)
	_, err := io.WriteString(w, b.String())
	return err
}

// BeyondRights says in one sentence what another change takes that the user may not make: a smaller one where there is a fix.
func BeyondRights(s *diagnosticsv1alpha1.PodExplanationStatus) string {
	beyond := s.FixBeyondRights
	if beyond == nil {
		return ""
	}
	which := "A change"
	if s.Fix != nil {
		which = "A smaller change"
	}
	return fmt.Sprintf("%s (%s) of %s would make %s available; it requires permission to %s: ask a cluster administrator",
		which, beyond.Kind, phrase.Counted(int(beyond.Objects), "object"), phrase.Counted(int(beyond.NodesUnlocked), "node"), strings.Join(beyond.Needs, ", "))
}

func beyondRights(w io.Writer, s *diagnosticsv1alpha1.PodExplanationStatus, o Options) error {
	return aside(w, o.say(BeyondRights(s)), o)
}
