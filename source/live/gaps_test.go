package live

import (
	"context"
	"errors"
	"fmt"
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

func TestWhatAnAnswerLacks(t *testing.T) {
	tests := map[string]struct {
		err     error
		want    []string
		wantErr bool
	}{
		"it was read":                      {},
		"no permission":                    {err: finding.Wrap(errors.New("list pods: refused"), finding.Forbidden, ""), want: []string{"list pods: refused; it is unknown (KOORD0002)"}},
		"the request failed":               {err: errors.New("list pods: etcd is away"), want: []string{"list pods: etcd is away; it is unknown"}},
		"the cluster has no such kind":     {err: finding.Wrap(errors.New("list pods: no such kind"), finding.NotInstalled, "")},
		"the object does not exist":        {err: finding.Wrap(errors.New("get pods: not found"), finding.NotFound, "")},
		"the user interrupted the request": {err: fmt.Errorf("list pods: %w", context.Canceled), wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var g gaps
			if err := g.lacks(tc.err, "it is unknown"); (err != nil) != tc.wantErr {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tc.want, g.all()); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
