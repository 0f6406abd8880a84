package printer

import (
	"fmt"
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// EvictionExplanation prints who could evict a pod, in order, what each needs for it, and what protects the pod from it.
func EvictionExplanation(w io.Writer, e *diagnosticsv1alpha1.EvictionExplanation, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 0, o.Style.Paint(Strong, o.Style.Clean(e.Namespace+"/"+e.Name))+"; "+o.say(e.Message))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if err := title(w, "Evictors", o); err != nil {
		return err
	}
	b.Reset()
	for i := range e.Evictors {
		evictorLines(&b, i+1, &e.Evictors[i], o)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return evictionBudgets(w, e, o)
}

func evictorLines(b *strings.Builder, number int, e *diagnosticsv1alpha1.PodEvictor, o Options) {
	role := evictorRole(e.State)
	head := fmt.Sprintf("%d. %s %s %s", number, o.Style.Mark(role), o.Style.Paint(Strong, o.say(e.Name)), o.Style.Paint(role, o.Style.Clean(e.State)))
	if e.IgnoresBudgets {
		head += o.Style.Paint(Dim, o.say(", in spite of PodDisruptionBudgets"))
	}
	wrapped(b, o, 2, head)
	for _, list := range []struct {
		label string
		lines []string
	}{{"needs", e.Needs}, {"protected", e.Protections}, {"unknown", e.Unknown}} {
		for _, line := range list.lines {
			wrapped(b, o, 7, o.Style.Paint(Dim, o.label(list.label))+o.say(line))
		}
	}
}

func evictorRole(state string) Role {
	switch state {
	case "now":
		return Bad
	case "possible", "unknown":
		return Warn
	}
	return Good
}

func evictionBudgets(w io.Writer, e *diagnosticsv1alpha1.EvictionExplanation, o Options) error {
	if len(e.Budgets) == 0 {
		return nil
	}
	if err := title(w, "PodDisruptionBudgets", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{{header: "NAME", flexible: 12}, {header: "ALLOWED", right: true}, {header: "HEALTHY", right: true}, {header: "NEEDED", right: true}}}
	for _, budget := range e.Budgets {
		role := Good
		if budget.DisruptionsAllowed <= 0 {
			role = Warn
		}
		t.add(text(budget.Name), painted(role, fmt.Sprint(budget.DisruptionsAllowed)), text(fmt.Sprint(budget.CurrentHealthy)), text(fmt.Sprint(budget.DesiredHealthy)))
	}
	_, err := t.render(w, o)
	return err
}
