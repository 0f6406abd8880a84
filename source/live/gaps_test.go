package live

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/unknown"
)

func TestWhatIsUnknownAndWhatIsNotThere(t *testing.T) {
	coded := func(code finding.Code) error { return finding.Wrap(errors.New("list pods: refused"), code, "") }
	cause := func(reason diagnosticsv1alpha1.UnknownReason) unknown.Inputs {
		return unknown.Inputs{unknown.Pods: {Reason: reason, Message: "list pods: refused"}}
	}
	tests := map[string]struct {
		err         error
		wantUnknown unknown.Inputs
		wantLines   int
		wantErr     bool
	}{
		"it was read":                   {},
		"no permission":                 {err: coded(finding.Forbidden), wantUnknown: cause(diagnosticsv1alpha1.UnknownForbidden), wantLines: 1},
		"the request failed":            {err: errors.New("list pods: refused"), wantUnknown: cause(diagnosticsv1alpha1.UnknownFailed), wantLines: 1},
		"the cluster has no such kind":  {err: coded(finding.NotInstalled), wantLines: 1},
		"the user interrupted the wait": {err: context.Canceled, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var g gaps
			if err := g.note(tc.err, unknown.Pods, "what pods request is unknown"); (err != nil) != tc.wantErr {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tc.wantUnknown, g.unknown()); diff != "" || len(g.all()) != tc.wantLines {
				t.Errorf("lines %q, unknown (-want +got):\n%s", g.all(), diff)
			}
		})
	}
}
