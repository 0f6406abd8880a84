package quotaview

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func TestPlaceSaysWhichQuotaCountsAPod(t *testing.T) {
	listing := object("listing", "", 0, 6)
	listing.Annotations = map[string]string{extension.AnnotationQuotaNamespaces: `["shop"]`}
	objects := []schedulingsigsv1alpha1.ElasticQuota{object("top", "", 10, 20), object("web", "top", 5, 8), listing, object("teams", "top", 1, 20)}
	in := inputFor(0, 40, objects, pod("a", "web", "n1", 6))
	tests := map[string]struct {
		namespace, label string
		cpu              int64
		unseen           bool
		want             diagnosticsv1alpha1.AdmissionQuota
		wantBecause      string
	}{
		"by its label, and it fits": {label: "web", cpu: 2, wantBecause: "label quota.scheduling.koordinator.sh/name of the pod names it", want: diagnosticsv1alpha1.AdmissionQuota{
			Name: "web", Namespace: "teams", Rule: "Label", Fit: "Fits", Amounts: amounts(2000, 2000, "web"),
		}},
		"by its label, and it exceeds max": {label: "web", cpu: 3, wantBecause: "label quota.scheduling.koordinator.sh/name of the pod names it", want: diagnosticsv1alpha1.AdmissionQuota{
			Name: "web", Namespace: "teams", Rule: "Label", Fit: "Exceeded", Amounts: amounts(3000, 2000, "web"), Code: "KOORD1201",
			Message: "quota web (under top): cpu used 6 + this pod 3 > max 8",
		}},
		"by the name of its namespace": {cpu: 1, wantBecause: "it has the name of its namespace teams", want: diagnosticsv1alpha1.AdmissionQuota{
			Name: "teams", Namespace: "teams", Rule: "NamespaceName", Fit: "Fits", Amounts: amounts(1000, 14000, "teams"),
		}},
		"by the annotation of a quota": {namespace: "shop", cpu: 1, wantBecause: "its annotation lists namespace shop", want: diagnosticsv1alpha1.AdmissionQuota{
			Name: "listing", Namespace: "teams", Rule: "NamespaceList", Fit: "Fits", Amounts: amounts(1000, 6000, "listing"),
		}},
		"by default": {namespace: "db", cpu: 1, wantBecause: "neither the pod nor its namespace has a quota", want: diagnosticsv1alpha1.AdmissionQuota{
			Name: extension.DefaultQuotaName, Rule: "Default", Fit: "Fits",
		}},
		"by default for a quota that does not exist": {label: "wbe", cpu: 1, wantBecause: `quota "wbe" does not exist`, want: diagnosticsv1alpha1.AdmissionQuota{
			Name: extension.DefaultQuotaName, Rule: "DefaultForMissing", Asked: "wbe", Fit: "Fits",
		}},
		"without pods or nodes": {label: "web", cpu: 99, unseen: true, wantBecause: "label quota.scheduling.koordinator.sh/name of the pod names it", want: diagnosticsv1alpha1.AdmissionQuota{
			Name: "web", Namespace: "teams", Rule: "Label", Fit: "Unknown",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in.Unseen = tc.unseen
			placer := NewPlacer(in)
			created := pod("new", tc.label, "", tc.cpu)
			if tc.namespace != "" {
				created.Namespace = tc.namespace
			}
			for range 2 { // what is asked leaves nothing behind
				got := placer.Place(&created)
				if diff := cmp.Diff(tc.want, *got); diff != "" {
					t.Errorf("quota (-want +got):\n%s", diff)
				}
				if got := Because(&created, got); got != tc.wantBecause {
					t.Errorf("because %q, want %q", got, tc.wantBecause)
				}
			}
		})
	}
}

// TestPlaceLeavesNothingBehind: what a pod would request is not taken from the runtime of a sibling afterwards.
func TestPlaceLeavesNothingBehind(t *testing.T) {
	objects := []schedulingsigsv1alpha1.ElasticQuota{object("web", "", 2, 20), object("ads", "", 2, 20)}
	placer := NewPlacer(inputFor(0, 20, objects))
	large, small := pod("large", "web", "", 18), pod("small", "ads", "", 1)
	before := placer.Place(&small).Amounts
	placer.Place(&large)
	if diff := cmp.Diff(before, placer.Place(&small).Amounts); diff != "" {
		t.Errorf("amounts (-before +after):\n%s", diff)
	}
}

func amounts(request, available int64, bound string) []diagnosticsv1alpha1.AdmissionQuotaAmount {
	return []diagnosticsv1alpha1.AdmissionQuotaAmount{{Resource: "cpu", Unit: diagnosticsv1alpha1.MilliCPU, Request: request, Available: available, Bound: bound}}
}
