package printer

import (
	"testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func TestVerificationSaysByWhatAFixWasChecked(t *testing.T) {
	dry := func(verdict diagnosticsv1alpha1.DryRunVerdict) *diagnosticsv1alpha1.FixDryRun {
		return &diagnosticsv1alpha1.FixDryRun{Verdict: verdict}
	}
	tests := map[string]struct {
		fix  diagnosticsv1alpha1.Fix
		want string
	}{
		"by nothing":                          {diagnosticsv1alpha1.Fix{}, "! not verified"},
		"by replay, and nothing to send":      {diagnosticsv1alpha1.Fix{Verified: true}, "+ verified by replay"},
		"by replay and dry run":               {diagnosticsv1alpha1.Fix{Verified: true, DryRun: dry(diagnosticsv1alpha1.DryRunAccepted)}, "+ verified by replay and by a server-side dry run"},
		"by replay of what admission refuses": {diagnosticsv1alpha1.Fix{DryRun: dry(diagnosticsv1alpha1.DryRunRefused)}, "x refused by the API server in a dry run"},
		"by replay of what the user may not":  {diagnosticsv1alpha1.Fix{Verified: true, DryRun: dry(diagnosticsv1alpha1.DryRunForbidden)}, "! verified by replay; you do not have permission to make the change"},
		"by replay, without an answer":        {diagnosticsv1alpha1.Fix{Verified: true, DryRun: dry(diagnosticsv1alpha1.DryRunUnknown)}, "! verified by replay; the dry run could not be completed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := verification(&test.fix, Options{Style: Style{ASCII: true}}); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
