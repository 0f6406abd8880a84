package quota

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

func TestTheRootSaysWhatThereIsAndWhatIsLeftToShare(t *testing.T) {
	forest := buildForest(Options{}, amounts("gpu", 100), gpu("team", 1, 10), under("team", gpu("sub", 1, 5)))
	hold := func(quota string, gpus int, assigned bool) {
		t.Helper()
		if !forest.Tree(quota).Hold(quota, Holding{Request: amounts("gpu", gpus), Assigned: assigned}) {
			t.Fatalf("there is no quota %s", quota)
		}
	}
	hold("sub", 20, true)
	hold("sub", 30, false)
	hold(extension.DefaultQuotaName, 7, true)
	hold(extension.SystemQuotaName, 3, true)
	none := amounts("cpu", 0, "gpu", 0, "memory", 0)
	want := Status{
		Total: none.With("gpu", 100), Used: none.With("gpu", 30), Runtime: none.With("gpu", 90), Request: none.With("gpu", 50), ChildRequest: none.With("gpu", 50),
		NonPreemptibleUsed: none, NonPreemptibleRequest: none,
	}
	if diff := cmp.Diff(want, forest.ByID("").Root()); diff != "" {
		t.Errorf("root (-want +got):\n%s", diff)
	}
}

func TestTheRootDoesNotOverflow(t *testing.T) {
	forest := buildForest(Options{}, amounts("gpu", math.MaxInt64), gpu("team", 1, 0))
	for _, quota := range []string{"team", extension.DefaultQuotaName, extension.SystemQuotaName} {
		forest.Tree(quota).Hold(quota, Holding{Request: amounts("gpu", math.MaxInt64), Assigned: true})
	}
	used, _ := forest.ByID("").Root().Used.Get("gpu")
	if left, _ := forest.ByID("").Root().Runtime.Get("gpu"); used != math.MaxInt64 || left != 0 {
		t.Errorf("used %d, left %d", used, left)
	}
}

func TestMessagesNameProblemsOnTheWayUp(t *testing.T) {
	list := []Shortage{{Quota: "sub", Path: []string{"sub", "team"}, Resource: "gpu", Bound: "sub"}, {Quota: "sub", Path: []string{"sub", "team"}, Resource: "cpu", Bound: "sub"}}
	Attach(list, []Problem{
		{Code: finding.QuotaParentMissing, Quota: "team", Message: `there is no parent "dept"`}, {Code: finding.QuotaInvalid, Quota: "other", Message: "elsewhere"},
	})
	message := Message(list)
	if strings.Count(message, `KOORD1207, quota team: there is no parent "dept"`) != 1 || strings.Contains(message, "elsewhere") {
		t.Errorf("message %q", message)
	}
	Attach(nil, []Problem{{Quota: "team"}})
}
