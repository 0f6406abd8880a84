package printer

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// listedVictims bounds the victims that are listed; wide output lists them all.
const listedVictims = 5

// preemption prints what evicting pods of lower priority would do, with the victims. That it would not help is what most answers
// would say, and is printed in wide output alone.
func preemption(w io.Writer, p *diagnosticsv1alpha1.Preemption, o Options) error {
	if p == nil || !PreemptionMatters(p) && !o.Wide {
		return nil
	}
	role := Warn
	if p.Verdict == diagnosticsv1alpha1.PreemptionEvicts {
		role = Good
	}
	var b strings.Builder
	b.WriteString("\n" + o.Style.Paint(Header, o.say("Preemption")) + "\n")
	wrapped(&b, o, 2, o.Style.Mark(role)+" "+o.Style.Paint(role, o.Style.Clean(string(p.Verdict)))+": "+o.say(p.Message))
	for _, declined := range p.Declined {
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(declined.Plugin+" evicts no pods: "+declined.Message)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if err := victims(w, p.Victims, o); err != nil {
		return err
	}
	return stillRefused(w, p, o)
}

// PreemptionMatters reports whether preemption changes anything for the pod: it would evict pods, or has done so already.
func PreemptionMatters(p *diagnosticsv1alpha1.Preemption) bool {
	return p.Verdict == diagnosticsv1alpha1.PreemptionEvicts || p.Verdict == diagnosticsv1alpha1.PreemptionWaits
}

func victims(w io.Writer, list []diagnosticsv1alpha1.PreemptionVictim, o Options) error {
	if len(list) == 0 {
		return nil
	}
	shown := list
	if !o.Wide {
		shown = list[:min(listedVictims, len(list))]
	}
	t := table{indent: 2, columns: []column{{header: "VICTIM", flexible: 40}, {header: "PRIORITY", right: true}}}
	for i := range shown {
		t.add(text(VictimName(&shown[i])), text(strconv.Itoa(int(shown[i].Priority))))
	}
	if _, err := t.render(w, o); err != nil {
		return err
	}
	if left := len(list) - len(shown); left > 0 {
		var b strings.Builder
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(fmt.Sprintf("and %s, shown with -o wide", phrase.Counted(left, "more pod")))))
		_, err := io.WriteString(w, b.String())
		return err
	}
	return nil
}

// VictimName is how people call a victim.
func VictimName(v *diagnosticsv1alpha1.PreemptionVictim) string {
	if v.ReservationName != "" {
		return "reservation " + v.ReservationName
	}
	return v.Namespace + "/" + v.Name
}

// stillRefused is printed where no eviction helps; next to victims it would only distract.
func stillRefused(w io.Writer, p *diagnosticsv1alpha1.Preemption, o Options) error {
	if len(p.Refusals) == 0 || len(p.Victims) > 0 && !o.Wide {
		return nil
	}
	t := table{indent: 2, columns: []column{
		{header: "NODES", right: true}, {header: "CODE"}, {header: "PLUGIN", drop: 1}, {header: "STILL REFUSED", flexible: 60, says: true},
	}}
	for i := range p.Refusals {
		r := &p.Refusals[i]
		t.add(text(strconv.Itoa(int(r.Count))), text(r.Code), text(r.Plugin), text(r.Reason))
	}
	_, err := t.render(w, o)
	return err
}
