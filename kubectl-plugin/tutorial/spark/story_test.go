package spark

import (
	"strings"
	"testing"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
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
	line := strings.Join((&story{}).arguments(&tutorial.Session{Server: "https://127.0.0.1:6443"}, "/work/driver.yaml"), " ")
	for _, want := range []string{
		"--master k8s://https://127.0.0.1:6443 --deploy-mode cluster", "spark.kubernetes.driver.master=https://127.0.0.1:6443",
		"podTemplateFile=driver.yaml", "image.pullPolicy=Never", "spark.executor.instances=2",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("the arguments lack %q: %s", want, line)
		}
	}
}
