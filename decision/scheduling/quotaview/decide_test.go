package quotaview

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
)

func cpus(n int64) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(n, resource.DecimalSI)}
}

func object(name, parent string, least, most int64) schedulingsigsv1alpha1.ElasticQuota {
	return schedulingsigsv1alpha1.ElasticQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "teams", Name: name, Labels: map[string]string{extension.LabelQuotaParent: parent}},
		Spec:       schedulingsigsv1alpha1.ElasticQuotaSpec{Min: cpus(least), Max: cpus(most)},
	}
}

func pod(name, quota, node string, cpu int64) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "teams", Name: name, Labels: map[string]string{extension.LabelQuotaName: quota}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: cpus(cpu)}}}},
	}
}

// inputFor is the input about the quota at an index.
func inputFor(at int, total int64, objects []schedulingsigsv1alpha1.ElasticQuota, pods ...corev1.Pod) Input {
	spec, _ := quota.Decode(&objects[at])
	return Input{
		Quota: &Quota{Spec: spec}, Objects: objects, Pods: pods, Limit: 2,
		Nodes: []corev1.Node{{Status: corev1.NodeStatus{Allocatable: cpus(total)}}},
	}
}

// drawQuotas makes a forest of quotas, and pods in them.
func drawQuotas(t *rapid.T) (objects []schedulingsigsv1alpha1.ElasticQuota, pods []corev1.Pod) {
	for i := range rapid.IntRange(1, 8).Draw(t, "quotas") {
		parent := extension.RootQuotaName
		if i > 0 && rapid.Bool().Draw(t, "child") {
			parent = objects[rapid.IntRange(0, i-1).Draw(t, "parent")].Name
		}
		most := rapid.Int64Range(0, 40).Draw(t, "max")
		q := object(fmt.Sprintf("q%d", i), parent, rapid.Int64Range(0, most).Draw(t, "min"), most)
		q.Labels[extension.LabelQuotaAllowLentResource] = fmt.Sprint(rapid.Bool().Draw(t, "lends"))
		objects = append(objects, q)
		for p := range rapid.IntRange(0, 3).Draw(t, "pods") {
			node := rapid.SampledFrom([]string{"", "n1"}).Draw(t, "node")
			pods = append(pods, pod(fmt.Sprintf("p%d-%d", i, p), q.Name, node, rapid.Int64Range(0, 20).Draw(t, "request")))
		}
	}
	return objects, pods
}

// TestDivisionsAddUp: of every quota and whatever pods request, each share is what is guaranteed without what is lent and with what is
// borrowed, the loans are what was borrowed, the rounds lead to the shares, and the shares never add up to more than the parent has.
func TestDivisionsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects, pods := drawQuotas(t)
		total := rapid.Int64Range(0, 60).Draw(t, "total")
		for at := range objects {
			answer := Explain(inputFor(at, total, objects, pods...))
			if len(answer.Divisions) != 1 {
				t.Fatalf("%d divisions, want that of cpu", len(answer.Divisions))
			}
			checkDivision(t, answer.Name, &answer.Divisions[0])
		}
	})
}

func checkDivision(t *rapid.T, name string, d *diagnosticsv1alpha1.QuotaDivision) {
	sum, gained := int64(0), map[string]int64{}
	for _, round := range d.Rounds {
		for _, gain := range round.Gains {
			gained[gain.Quota] += gain.Got - gain.Returned
		}
	}
	lent, borrowed := int64(0), int64(0)
	for _, loan := range d.Loans {
		if loan.From == name {
			lent += loan.Amount
		}
		if loan.To == name {
			borrowed += loan.Amount
		}
	}
	for _, s := range d.Shares {
		sum += s.Runtime
		if s.Guaranteed-s.Lent+s.Borrowed != s.Runtime || gained[s.Quota] != s.Borrowed {
			t.Fatalf("%+v does not add up; it gained %d in the rounds", s, gained[s.Quota])
		}
		if s.Quota == name && (s.Runtime != d.Runtime || borrowed != s.Borrowed || lent > s.Lent) {
			t.Fatalf("runtime %d, share %+v, loans %+v", d.Runtime, s, d.Loans)
		}
	}
	if sum > d.Total || d.Total != d.Path[len(d.Path)-1].Runtime {
		t.Fatalf("%d of %d are shared, the path is %v", sum, d.Total, d.Path)
	}
}

func TestExplanationsNameThePods(t *testing.T) {
	objects := []schedulingsigsv1alpha1.ElasticQuota{object("top", "", 10, 20), object("web", "top", 5, 8), object("ads", "top", 5, 20)}
	pods := []corev1.Pod{
		pod("a", "web", "n1", 1), pod("b", "web", "n1", 3), pod("c", "web", "n1", 2), pod("d", "web", "", 9), pod("e", "web", "", 3), pod("f", "web", "", 7),
		pod("g", "web", "", 8), pod("h", "ads", "n1", 4), pod("other", "gone", "n1", 1),
	}
	ended := pod("ended", "web", "n1", 5)
	ended.Status.Phase = corev1.PodSucceeded
	tests := map[string]struct {
		at                        int
		wantPods, wantRefused     []string
		wantOmitted, wantUnfitted int32
	}{
		"the largest first, and how many are left out": {1, []string{"b", "c"}, []string{"d", "g"}, 1, 2},
		"those of the quotas below count":              {0, []string{"h", "b"}, []string{"d", "g"}, 2, 2},
		"others do not":                                {2, []string{"h"}, nil, 0, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Explain(inputFor(tc.at, 20, objects, append(pods, ended)...))
			var used, refused []string
			for _, p := range got.Pods {
				used = append(used, p.Name)
			}
			for _, r := range got.Refused {
				refused = append(refused, r.Name)
			}
			if diff := cmp.Diff([][]string{tc.wantPods, tc.wantRefused}, [][]string{used, refused}); diff != "" {
				t.Errorf("pods and refused pods (-want +got):\n%s", diff)
			}
			if got.PodsOmitted != tc.wantOmitted || got.RefusedOmitted != tc.wantUnfitted {
				t.Errorf("%d pods and %d refused ones are left out, want %d and %d", got.PodsOmitted, got.RefusedOmitted, tc.wantOmitted, tc.wantUnfitted)
			}
		})
	}
}

func TestWhatIsNotSharedHasNoDivision(t *testing.T) {
	objects := []schedulingsigsv1alpha1.ElasticQuota{
		object(extension.RootQuotaName, "", 0, 90), object(extension.DefaultQuotaName, "", 0, 90), object("web", "", 5, 8), object("web", "", 5, 8),
	}
	objects[3].Namespace = "younger"
	objects[3].CreationTimestamp = metav1.Unix(1000, 0)
	for at, name := range map[int]string{0: "the root", 1: "the default quota", 3: "a quota whose name is taken"} {
		if got := Explain(inputFor(at, 20, objects, pod("a", "web", "n1", 1))); len(got.Divisions) > 0 {
			t.Errorf("%s has divisions %+v", name, got.Divisions)
		}
	}
	if got := Explain(inputFor(0, 20, objects, pod("a", "web", "n1", 1))); len(got.Pods) != 1 {
		t.Errorf("pods of the root %+v, want all", got.Pods)
	}
	in := inputFor(2, 20, objects)
	in.Unseen = true
	if got := Explain(in); got.Divisions != nil || got.State != diagnosticsv1alpha1.QuotaUnknown {
		t.Errorf("without pods or nodes: %+v", got)
	}
}
