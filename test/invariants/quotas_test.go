package invariants

import (
	"fmt"
	"maps"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func quota(name, parent, minimum, maximum string) *schedulingsigsv1alpha1.ElasticQuota {
	return &schedulingsigsv1alpha1.ElasticQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: name, Labels: map[string]string{extension.LabelQuotaParent: parent}},
		Spec:       schedulingsigsv1alpha1.ElasticQuotaSpec{Min: list("cpu", minimum), Max: list("cpu", maximum)},
	}
}

func podIn(namespace, cpu, node string) *corev1.Pod {
	pod := podOf("p", "cpu", cpu)
	pod.Namespace, pod.Spec.NodeName = namespace, node
	return pod
}

func TestRuntime(t *testing.T) {
	family := []*schedulingsigsv1alpha1.ElasticQuota{quota("dept", "", "8", "16"), quota("a", "dept", "4", "12"), quota("b", "dept", "4", "12")}
	stingy := quota("b", "dept", "4", "12")
	stingy.Labels[extension.LabelQuotaAllowLentResource] = "false"
	weighted := quota("a", "dept", "4", "12")
	weighted.Annotations = map[string]string{extension.AnnotationQuotaSharedWeight: `{"cpu":"36"}`}
	tests := map[string]struct {
		quotas []*schedulingsigsv1alpha1.ElasticQuota
		total  string
		pods   []*corev1.Pod
		want   map[string]float64
	}{
		"who asks alone borrows up to max":   {family, "100", []*corev1.Pod{podIn("a", "20", "")}, map[string]float64{"dept": 12000, "a": 12000, "b": 0}},
		"both share what is above their min": {family, "100", []*corev1.Pod{podIn("a", "20", ""), podIn("b", "20", "")}, map[string]float64{"dept": 16000, "a": 8000, "b": 8000}},
		"what one does not want goes on":     {family, "100", []*corev1.Pod{podIn("a", "20", ""), podIn("b", "5", "")}, map[string]float64{"dept": 16000, "a": 11000, "b": 5000}},
		"weights":                            {[]*schedulingsigsv1alpha1.ElasticQuota{family[0], weighted, family[2]}, "100", []*corev1.Pod{podIn("a", "20", ""), podIn("b", "20", "")}, map[string]float64{"dept": 16000, "a": 10000, "b": 6000}},
		"who does not lend keeps min":        {[]*schedulingsigsv1alpha1.ElasticQuota{family[0], family[1], stingy}, "100", []*corev1.Pod{podIn("a", "20", "")}, map[string]float64{"dept": 16000, "a": 12000, "b": 4000}},
		"a small cluster scales min":         {family[1:], "6", []*corev1.Pod{podIn("a", "20", ""), podIn("b", "20", "")}, map[string]float64{"a": 3000, "b": 3000}},
		"the default quota comes first":      {family[1:], "10", []*corev1.Pod{podIn("a", "20", ""), podIn("other", "4", "n1")}, map[string]float64{"a": 6000, "b": 0}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tree := &Tree{Quotas: test.quotas, Total: list("cpu", test.total), Pods: test.pods}
			got := map[string]float64{}
			for quota, limits := range tree.Limits() {
				got[quota] = math.Round(limits["cpu"])
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("cpu (-want +got):\n%s", diff)
			}
		})
	}
}

// written makes a quota say what it does, in the order of figures: of cpu.
func written(q *schedulingsigsv1alpha1.ElasticQuota, used string, annotations ...string) *schedulingsigsv1alpha1.ElasticQuota {
	q.Status.Used = list("cpu", used)
	q.Annotations = map[string]string{extension.AnnotationQuotaNonPreemptibleRequest: `{"cpu":"0"}`, extension.AnnotationQuotaNonPreemptibleUsed: `{"cpu":"0"}`}
	for i := 0; i < len(annotations); i += 2 {
		q.Annotations[extension.QuotaDomainPrefix+annotations[i]] = fmt.Sprintf(`{"cpu":%q}`, annotations[i+1])
	}
	return q
}

func TestStatusesOfQuotasFollowFromPods(t *testing.T) {
	pods := []*corev1.Pod{podIn("a", "3", "n1"), podIn("a", "20", ""), podIn("b", "1", ""), podIn("other", "2", "n1")}
	right := func() []*schedulingsigsv1alpha1.ElasticQuota {
		return []*schedulingsigsv1alpha1.ElasticQuota{
			written(quota("dept", "", "8", "16"), "3", "request", "13", "child-request", "13", "runtime", "13"),
			written(quota("a", "dept", "4", "12"), "3", "request", "23", "child-request", "23", "runtime", "12"),
			written(quota("b", "dept", "4", "12"), "0", "request", "1", "child-request", "1", "runtime", "1"),
			written(quota(extension.DefaultQuotaName, "", "0", "100"), "2", "request", "2", "child-request", "2"),
			written(quota(extension.RootQuotaName, "", "0", "0"), "5", "request", "13", "child-request", "13", "runtime", "98", "total-resource", "100"),
		}
	}
	guaranteed := func() []*schedulingsigsv1alpha1.ElasticQuota {
		quotas := right()
		for i, amounts := range [][2]string{{"8", "8"}, {"4", "3"}, {"4", "0"}, {"2", "2"}} {
			quotas[i].Annotations[extension.AnnotationQuotaGuaranteed] = fmt.Sprintf(`{"cpu":%q}`, amounts[0])
			quotas[i].Annotations[extension.AnnotationQuotaAllocated] = fmt.Sprintf(`{"cpu":%q}`, amounts[1])
		}
		return quotas
	}
	violations := func(quotas []*schedulingsigsv1alpha1.ElasticQuota) []Violation {
		return (&Tree{Quotas: quotas, Total: list("cpu", "100"), Pods: pods}).StatusesAgree()
	}
	for name, quotas := range map[string][]*schedulingsigsv1alpha1.ElasticQuota{"right": right(), "right with guarantees": guaranteed()} {
		if got := violations(quotas); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	for figure, want := range map[string]string{
		"request": "is request, from its pods follows 13000", "child-request": "is child-request, from its pods follows 13000",
		"runtime": "is runtime, from its pods follows 13000", "guaranteed": "is guaranteed, from its pods follows 8000",
		"allocated": "is allocated, from its pods follows 8000",
	} {
		quotas := guaranteed()
		quotas[0].Annotations[extension.QuotaDomainPrefix+figure] = `{"cpu":"9"}`
		expect(t, violations(quotas), CachesAgree, "its status says that 9000 of cpu "+want)
	}
	for i, want := range []string{"quota dept", "quota a", "quota b", "quota " + extension.DefaultQuotaName, "quota " + extension.RootQuotaName} {
		quotas := right()
		quotas[i].Status.Used = list("cpu", "99")
		if got := violations(quotas); len(got) != 1 || got[0].Subject != want {
			t.Errorf("%s says that 99 are used: %v", want, got)
		}
	}
}

func TestTreesShareWhatTheyBring(t *testing.T) {
	brings := quota("pool", "", "10", "10")
	brings.Labels[extension.LabelQuotaTreeID], brings.Labels[extension.LabelQuotaIsRoot] = "t", "true"
	brings.Annotations = map[string]string{extension.AnnotationQuotaTotalResource: `{"cpu":"10"}`}
	tree := &Tree{Quotas: []*schedulingsigsv1alpha1.ElasticQuota{brings, quota("a", "pool", "0", "40"), quota("c", "", "0", "40")}, Total: list("cpu", "30"),
		Pods: []*corev1.Pod{podIn("a", "50", ""), podIn("c", "50", "")}}
	limits := tree.Limits()
	if got := [3]float64{limits["pool"]["cpu"], limits["a"]["cpu"], limits["c"]["cpu"]}; got != [3]float64{10000, 10000, 20000} {
		t.Errorf("pool, a and c may use %v, want 10000, 10000 and 20000", got)
	}
}

func TestFillGivesNothingTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var shares []*share
		guaranteed := 0.0
		for range rapid.IntRange(1, 6).Draw(t, "quotas") {
			s := &share{
				min: float64(rapid.IntRange(0, 20).Draw(t, "min")), want: float64(rapid.IntRange(0, 60).Draw(t, "want")),
				weight: float64(rapid.IntRange(0, 5).Draw(t, "weight")), lends: rapid.Bool().Draw(t, "lends"),
			}
			if !s.lends {
				s.want = math.Max(s.want, s.min)
			}
			guaranteed += s.min
			shares = append(shares, s)
		}
		total := float64(rapid.IntRange(0, 120).Draw(t, "total"))
		fill(shares, total)
		sum, thirsty := 0.0, false
		for _, s := range shares {
			sum += s.gives
			if floor := math.Min(s.min, s.want); s.gives > math.Max(s.want, floor)+1e-6 || guaranteed <= total && s.gives < floor-1e-6 {
				t.Fatalf("%+v", *s)
			}
			thirsty = thirsty || s.weight > 0 && s.gives < s.want-1e-6
		}
		if sum > total+1e-6 || thirsty && sum < total-1e-6 {
			t.Fatalf("%v given of %v, somebody wants more: %v", sum, total, thirsty)
		}
	})
}

func TestTheQuotaOfAPod(t *testing.T) {
	listing := quota("c", "", "0", "1")
	listing.Annotations = map[string]string{extension.AnnotationQuotaNamespaces: `["listed"]`}
	tree := &Tree{Quotas: []*schedulingsigsv1alpha1.ElasticQuota{quota("a", "", "0", "1"), listing}}
	labelled := podIn("a", "1", "")
	labelled.Labels[extension.LabelQuotaName] = "c"
	unknown := podIn("a", "1", "")
	unknown.Labels[extension.LabelQuotaName] = "nobody"
	got := map[string]string{
		"label": tree.Of(labelled), "namesake": tree.Of(podIn("a", "1", "")), "list": tree.Of(podIn("listed", "1", "")),
		"none": tree.Of(podIn("x", "1", "")), "unknown": tree.Of(unknown),
	}
	want := map[string]string{"label": "c", "namesake": "a", "list": "c", "none": extension.DefaultQuotaName, "unknown": extension.DefaultQuotaName}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestExceeds(t *testing.T) {
	limit, asks := Limits{"cpu": 4000}, Limits{"cpu": 1000}
	expect(t, Exceeds("a", Limits{"cpu": 4100}, limit, asks), QuotaWithinRuntime, "uses 4100 of cpu and may use 4000")
	for name, violations := range map[string][]Violation{
		"to the last":                Exceeds("a", Limits{"cpu": 4000}, limit, asks),
		"a resource not asked for":   Exceeds("a", Limits{"cpu": 5000}, limit, Limits{"memory": 1}),
		"a resource without a limit": Exceeds("a", Limits{"memory": 5000}, limit, Limits{"memory": 1}),
	} {
		if len(violations) > 0 {
			t.Errorf("%s: %v", name, violations)
		}
	}
}

func TestGangsAreWhole(t *testing.T) {
	waiting := podIn("ns", "1", "")
	expect(t, Gang{Name: "g", MinMember: 2, Members: []*corev1.Pod{podOf("a"), waiting}}.Whole(), GangWhole, "1 of 2 pods are bound")
	for name, members := range map[string][]*corev1.Pod{"none": {waiting, waiting}, "all": {podOf("a"), podOf("b"), waiting}} {
		if violations := (Gang{MinMember: 2, Members: members}).Whole(); len(violations) > 0 {
			t.Errorf("%s: %v", name, violations)
		}
	}
}

func TestAllocationsAreKept(t *testing.T) {
	before := lsr("a", "2", "2-3", "")
	moved, changed, pending := before.DeepCopy(), lsr("a", "2", "4-5", ""), before.DeepCopy()
	moved.Spec.NodeName, pending.Spec.NodeName = "n2", ""
	expect(t, Kept(before, moved), AllocationAgrees, "was bound to n1, and is to n2")
	expect(t, Kept(before, changed), AllocationAgrees, `was "{\"cpuset\":\"2-3\"}"`)
	if violations := append(Kept(before, before), Kept(pending, changed)...); len(violations) > 0 {
		t.Error(violations)
	}
}
