package quotas

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/quota"
)

func TestRefusalsCarryTheProblemsOnTheWayUp(t *testing.T) {
	b := setup(
		newQuota("q", "team", "0", "1", extension.LabelQuotaParent, "gone", extension.LabelQuotaIsParent, "true"),
		newQuota("q", "sub", "0", "1", extension.LabelQuotaParent, "team"), newQuota("q", "other", "0", "1", extension.LabelQuotaParent, "gone"),
	)
	judgement := b.judge(newPod("ns", "p", "2", "sub"), quota.Rules{Runtime: true}, true)
	if len(judgement.Shortages) == 0 {
		t.Fatalf("the pod is not refused: %+v", judgement)
	}
	want := []quota.Problem{{Code: finding.QuotaParentMissing, Namespace: "q", Quota: "team", Message: `there is no parent "gone"; the quota is at the top of its tree`}}
	if diff := cmp.Diff(want, judgement.Shortages[0].Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestObjectsThatDoNotCountAreFound(t *testing.T) {
	view := &View{book: setup(newQuota("a", "team", "0", "1"), newQuota("b", "team", "0", "1"))}
	for _, namespace := range []string{"a", "b"} {
		if object := view.At(namespace, "team"); object == nil || object.Namespace != namespace {
			t.Errorf("in namespace %s: %v", namespace, object)
		}
	}
	if object := view.At("c", "team"); object != nil {
		t.Errorf("where there is none: %v", object)
	}
	if _, found := view.Root("other"); found {
		t.Error("there is no such tree")
	}
}
