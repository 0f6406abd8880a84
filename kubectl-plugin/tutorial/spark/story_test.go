package spark

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

func TestTheOfferMustSuffice(t *testing.T) {
	for offer, want := range map[int64]bool{0: false, needed - 1: false, needed: true, 2000: true} {
		if err := (&story{Service: service.Service{Offer: offer}}).offers(t.Context(), nil); (err == nil) != want {
			t.Errorf("an offer of %d: %v; want that it suffices: %t", offer, err, want)
		}
	}
}

func TestTheOfferMustShrink(t *testing.T) {
	tests := map[string]struct {
		story story
		want  bool
	}{
		"by too little":         {story{offerBefore: 500, Service: service.Service{Offer: 401}}, false},
		"by enough":             {story{offerBefore: 500, Service: service.Service{Offer: 400}}, true},
		"to nothing":            {story{offerBefore: 50, Service: service.Service{Offer: 0}}, true},
		"not at all":            {story{offerBefore: 50, Service: service.Service{Offer: 50}}, false},
		"on a machine all busy": {story{offerBefore: 500, Service: service.Service{Offer: 500, Full: true}}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := tc.story.gaveWay(t.Context(), nil); (err == nil) != tc.want {
				t.Errorf("gaveWay = %v; want that it gave way: %t", err, tc.want)
			}
		})
	}
}

// TestSparkIsToldWhereEverythingIs: the driver reaches the API server by loopback, and pulls nothing.
func TestSparkIsToldWhereEverythingIs(t *testing.T) {
	got := applicationFor("https://127.0.0.1:6443")
	for _, want := range []string{
		"image: " + Image + "\n", "imagePullPolicy: Never", "instances: 2", "spark.kubernetes.driver.master: https://127.0.0.1:6443", "hostNetwork: true",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the application lacks %q:\n%s", want, got)
		}
	}
}

func TestOnlyDefinitionsOfTheOperatorAreApplied(t *testing.T) {
	const manifests = "kind: Namespace\nmetadata: {name: spark-operator}\n---\nkind: CustomResourceDefinition\nmetadata: {name: a}\n---\n" +
		"kind: Deployment\n---\nkind: CustomResourceDefinition\nmetadata: {name: b}\n"
	got, err := definitionsOf(strings.NewReader(manifests))
	if err != nil {
		t.Fatal(err)
	}
	want := "---\nkind: CustomResourceDefinition\nmetadata: {name: a}\n---\nkind: CustomResourceDefinition\nmetadata: {name: b}\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("definitions (-want +got):\n%s", diff)
	}
}

func TestWithoutAnOperatorTheTutorialSaysHowToBuildIt(t *testing.T) {
	_, err := findOperator(filepath.Join(t.TempDir(), "koordctl"))
	coded, ok := finding.From(err)
	if !ok || coded.Hint != "make spark-operator" {
		t.Errorf("findOperator = %v, want the hint to build it", err)
	}
}
