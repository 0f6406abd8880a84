package elasticquota

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

func TestAQuotaIsExplainedFromWhatIsWatched(t *testing.T) {
	f := newFixture(t, "", newQuota("team", "2", "8"), newQuota("other", "4", "8"),
		running(newPod("a", "3", "team", 0)), newPod("b", "1", "team", 0), newPod("c", "9", "team", 0))
	explain := Instance(f.state).Explains["quota"]
	object := newQuota("team", "2", "8")
	answered, err := explain(t.Context(), object.Namespace, object.Name)
	if err != nil {
		t.Fatal(err)
	}
	answer, ok := answered.(*diagnosticsv1alpha1.QuotaExplanation)
	if !ok || answer.Kind != "QuotaExplanation" || answer.Name != "team" || answer.Namespace != object.Namespace {
		t.Fatalf("answer %+v", answered)
	}
	if len(answer.Divisions) == 0 || answer.Divisions[0].Total <= 0 || answer.Divisions[0].Used != 3000 {
		t.Errorf("divisions %+v, want 3 CPUs used of what the node has", answer.Divisions)
	}
	if len(answer.Pods) != 1 || len(answer.Refused) != 1 || answer.Refused[0].Name != "c" {
		t.Errorf("pods %+v, refused %+v; want a to use it, and c not to fit", answer.Pods, answer.Refused)
	}
	for name, of := range map[string][2]string{
		"another namespace": {"elsewhere", "team"}, "no such quota": {object.Namespace, "gone"}, "the root": {object.Namespace, extension.RootQuotaName},
	} {
		if _, err := explain(t.Context(), of[0], of[1]); !apierrors.IsNotFound(err) {
			t.Errorf("%s: error %v, want NotFound", name, err)
		}
	}
}

// TestTheArgumentsOfTheFirstProfileDivide: what profiles may differ in is in them, too.
func TestTheArgumentsOfTheFirstProfileDivide(t *testing.T) {
	for args, want := range map[string]int64{`{}`: 2000, `{"enableRuntimeQuota": false}`: 8000} {
		f := newFixture(t, args, newQuota("team", "2", "8"), newQuota("other", "8", "8"), running(newPod("o", "8", "other", 0)))
		object := newQuota("team", "2", "8")
		answered, err := explainQuota(f.state)(t.Context(), object.Namespace, object.Name)
		if err != nil {
			t.Fatal(err)
		}
		if answer, ok := answered.(*diagnosticsv1alpha1.QuotaExplanation); !ok || answer.Divisions[0].Available != want {
			t.Errorf("args %s: divisions %+v, want %d available", args, answer.Divisions, want)
		}
	}
}
