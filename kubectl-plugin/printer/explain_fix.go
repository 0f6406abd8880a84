package printer

import (
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// verification says by what a fix was checked: the scheduler's replay, and the API server's dry run.
func verification(f *diagnosticsv1alpha1.Fix, o Options) string {
	switch {
	case f.DryRun != nil && f.DryRun.Verdict == diagnosticsv1alpha1.DryRunRefused:
		return o.Style.Mark(Bad) + " refused by the API server in a dry run"
	case !f.Verified:
		return o.Style.Mark(Warn) + " not verified"
	case f.DryRun == nil:
		return o.Style.Mark(Good) + " " + o.say("verified by replay")
	case f.DryRun.Verdict == diagnosticsv1alpha1.DryRunForbidden:
		return o.Style.Mark(Warn) + " " + o.say("verified by replay; you do not have permission to make the change")
	case f.DryRun.Verdict == diagnosticsv1alpha1.DryRunUnknown:
		return o.Style.Mark(Warn) + " " + o.say("verified by replay; the dry run could not be completed")
	default:
		return o.Style.Mark(Good) + " " + o.say("verified by replay and by a server-side dry run")
	}
}

// rights names what the user needs to be allowed, and what the API server says against the single requests.
func rights(b *strings.Builder, f *diagnosticsv1alpha1.Fix, o Options) {
	if f.DryRun == nil {
		return
	}
	var needed []string
	for _, r := range f.DryRun.Requests {
		needed = append(needed, r.Right)
	}
	wrapped(b, o, 2, o.Style.Paint(Dim, o.say("requires permission to "+strings.Join(needed, ", "))))
	for _, r := range f.DryRun.Requests {
		if r.Message != "" {
			wrapped(b, o, 2, o.Style.Clean(r.Right)+": "+o.say(r.Message))
		}
	}
}
