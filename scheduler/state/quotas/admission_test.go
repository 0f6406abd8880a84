package quotas

import (
	"testing"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// TestChangesOfQuotasAreAdmittedAsTheManagerWould has a parent that guarantees 4 cores, of which its children have 3.
func TestChangesOfQuotasAreAdmittedAsTheManagerWould(t *testing.T) {
	view := &View{book: newBook(quota.Options{})}
	view.Suppose(newQuota("default", "parent", "4", "8", extension.LabelQuotaIsParent, "true"))
	view.Suppose(newQuota("default", "a", "2", "8", extension.LabelQuotaParent, "parent"))
	view.Suppose(newQuota("default", "b", "1", "8", extension.LabelQuotaParent, "parent"))
	tests := map[string]struct {
		minimum, maximum string
		wantCode         finding.Code
	}{
		"within what the parent guarantees": {minimum: "3", maximum: "8"},
		"a larger max":                      {minimum: "2", maximum: "16"},
		"beyond what the parent guarantees": {minimum: "4", maximum: "8", wantCode: finding.QuotaMinOvercommitted},
		"a min above max":                   {minimum: "2", maximum: "1", wantCode: finding.QuotaInvalid},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			verdict := view.Admitted(newQuota("default", "a", test.minimum, test.maximum, extension.LabelQuotaParent, "parent"))
			if verdict.Refused() != (test.wantCode != "") || verdict.Refused() && verdict.Findings[0].Code != test.wantCode {
				t.Errorf("findings %+v, want code %q", verdict.Findings, test.wantCode)
			}
		})
	}
	view.Suppose(newQuota("default", "b", "2", "8", extension.LabelQuotaParent, "parent"))
	if verdict := view.Admitted(newQuota("default", "a", "3", "8", extension.LabelQuotaParent, "parent")); !verdict.Refused() {
		t.Error("what the other child is guaranteed now is not counted")
	}
}
