package printer

import (
	"io"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Part is one part of an installation: its state in one word, how many of its replicas are ready, and what else there is
// to say.
type Part struct {
	Name, State, Ready, Detail string
	// Role in which the state is shown.
	Role Role
}

// Parts prints an installation, one part a row.
func Parts(w io.Writer, parts []Part, o Options) error {
	t := table{columns: []column{
		{header: "NAME", flexible: 24}, {header: "STATE"}, {header: "READY", drop: 1}, {header: "DETAIL", flexible: 24, says: true},
	}}
	for _, part := range parts {
		t.add(text(part.Name), painted(part.Role, part.State), text(orNone(part.Ready)), text(orNone(part.Detail)))
	}
	_, err := t.render(w, o)
	return err
}

// Findings prints what was noticed, each with its code and the next command; nothing when there is none.
func Findings(w io.Writer, found []diagnosticsv1alpha1.Finding, o Options) error {
	return findings(w, found, o)
}
