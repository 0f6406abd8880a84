package live

import (
	"net/http"
	"testing"

	"koordinator.sh/koord/api/finding"
)

func TestWhoMayWriteTheConfiguration(t *testing.T) {
	const notPermitted = `patch configmaps "slo-controller-config" in namespace "koordinator-system": not permitted`
	tests := map[string]struct {
		allowed    bool
		denied     []string
		wantWhyNot string
		wantCode   finding.Code
	}{
		"one who may":              {allowed: true},
		"one who may not":          {wantWhyNot: notPermitted},
		"one who may not even ask": {allowed: true, denied: []string{"create selfsubjectaccessreviews"}, wantCode: finding.Forbidden},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := &archive{}
			a.Denied, a.Creates = tc.denied, map[string]http.Handler{"selfsubjectaccessreviews": &reviews{creator: tc.allowed}}
			whyNot, err := a.source(t).MayWriteConfiguration(t.Context(), "")
			if whyNot != tc.wantWhyNot || (err != nil) != (tc.wantCode != "") || err != nil && !hasCode(err, tc.wantCode) {
				t.Errorf("why not %q, error %v; want %q and code %q", whyNot, err, tc.wantWhyNot, tc.wantCode)
			}
		})
	}
}
