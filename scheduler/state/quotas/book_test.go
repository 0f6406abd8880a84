package quotas

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
)

func newQuota(namespace, name, minimum, maximum string, labels ...string) *schedulingsigsv1alpha1.ElasticQuota {
	object := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}, Annotations: map[string]string{}}}
	for i := 0; i < len(labels); i += 2 {
		object.Labels[labels[i]] = labels[i+1]
	}
	object.Spec.Min = corev1.ResourceList{"cpu": resource.MustParse(minimum)}
	object.Spec.Max = corev1.ResourceList{"cpu": resource.MustParse(maximum)}
	return object
}

func newPod(namespace, name, cpu, quotaName string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name), Labels: map[string]string{}}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}},
	}}
	if quotaName != "" {
		pod.Labels[extension.LabelQuotaName] = quotaName
	}
	return pod
}

func onNode(pod *corev1.Pod) *corev1.Pod {
	bound := pod.DeepCopy()
	bound.Spec.NodeName = "n"
	return bound
}

// setup is a book with the quotas on 100 cpu.
func setup(objects ...*schedulingsigsv1alpha1.ElasticQuota) *book {
	unbounded := quota.Amounts{{Resource: "cpu", Value: quota.Unlimited}}
	b := newBook(quota.Options{ScaleMin: true, DefaultMax: unbounded, SystemMax: unbounded})
	for _, object := range objects {
		set(b, object)
	}
	b.setNode("n", quota.AmountsOf(corev1.ResourceList{"cpu": resource.MustParse("100")}))
	return b
}

func set(b *book, object *schedulingsigsv1alpha1.ElasticQuota) {
	b.setQuota(object)
}

// numbers are used and requested cpu of every quota that has any.
func numbers(b *book) map[string][2]int64 {
	b.recompute()
	found := map[string][2]int64{}
	for _, id := range b.forest.TreeIDs() {
		for spec := range b.forest.ByID(id).Quotas {
			status, _ := b.forest.Tree(spec.Name).Status(spec.Name)
			used, _ := status.Used.Get("cpu")
			requested, _ := status.ChildRequest.Get("cpu")
			if used != 0 || requested != 0 {
				found[spec.Name] = [2]int64{used, requested}
			}
		}
	}
	return found
}

func TestQuotaOfAPod(t *testing.T) {
	listing := newQuota("q", "listing", "0", "10")
	listing.Annotations[extension.AnnotationQuotaNamespaces] = `["listed","both"]`
	second := newQuota("q", "second", "0", "10")
	second.Annotations[extension.AnnotationQuotaNamespaces] = `["listed"]`
	b := setup(newQuota("q", "named", "0", "10"), newQuota("both", "both", "0", "10"), newQuota("elsewhere", "plain", "0", "10"), listing, second)
	b.recompute()
	tests := map[string]struct {
		namespace, label, want string
	}{
		"the label comes first":                         {"both", "named", "named"},
		"then the quota named like the namespace":       {"both", "", "both"},
		"but only if it is in the namespace":            {"plain", "", extension.DefaultQuotaName},
		"then the first quota that lists the namespace": {"listed", "", "listing"},
		"then the default quota":                        {"other", "", extension.DefaultQuotaName},
		"a label without a quota means the default":     {"both", "gone", extension.DefaultQuotaName},
		"the system quota can be named":                 {"other", extension.SystemQuotaName, extension.SystemQuotaName},
		"the root is not a quota for pods":              {"other", extension.RootQuotaName, extension.DefaultQuotaName},
	}
	for name, test := range tests {
		if got := b.quotaOf(newPod(test.namespace, "p", "1", test.label)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestPodsAreCountedWhereTheyBelong(t *testing.T) {
	pending, bound := newPod("ns", "p", "2", "team"), onNode(newPod("ns", "p", "2", "team"))
	unlabelled, finished := onNode(newPod("ns", "p", "2", "")), onNode(newPod("ns", "p", "2", "team"))
	finished.Status.Phase = corev1.PodSucceeded
	team := func(used, requested int64) map[string][2]int64 {
		return map[string][2]int64{"team": {used, requested}}
	}
	tests := []struct {
		name  string
		steps []func(*book)
		want  map[string][2]int64
	}{
		{name: "a pending pod asks", steps: []func(*book){see(pending)}, want: team(0, 2000)},
		{name: "a bound pod uses", steps: []func(*book){see(pending), see(bound)}, want: team(2000, 2000)},
		{name: "a reserved pod uses", steps: []func(*book){see(pending), reserve(pending)}, want: team(2000, 2000)},
		{name: "a reserved pod that is seen pending still uses", steps: []func(*book){reserve(pending), see(pending)}, want: team(2000, 2000)},
		{name: "a reserved pod can be taken back", steps: []func(*book){see(pending), reserve(pending), unreserve(pending)}, want: team(0, 2000)},
		{name: "a bound pod cannot", steps: []func(*book){see(pending), reserve(pending), see(bound), unreserve(pending)}, want: team(2000, 2000)},
		{name: "a pod that was never seen leaves nothing", steps: []func(*book){reserve(pending), unreserve(pending)}, want: map[string][2]int64{}},
		{name: "a pod deleted while it is bound leaves nothing", steps: []func(*book){see(pending), reserve(pending), forget(pending), unreserve(pending)}, want: map[string][2]int64{}},
		{name: "a finished pod leaves nothing", steps: []func(*book){see(bound), see(finished)}, want: map[string][2]int64{}},
		{name: "a label can move a pod", steps: []func(*book){see(bound), see(unlabelled)}, want: map[string][2]int64{extension.DefaultQuotaName: {2000, 2000}}},
		{name: "seeing a pod twice counts once", steps: []func(*book){see(bound), see(bound.DeepCopy())}, want: team(2000, 2000)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, planted := range []bool{false, true} {
				b := setup(newQuota("q", "team", "0", "10"))
				for _, step := range test.steps {
					if planted {
						b.recompute()
					}
					step(b)
				}
				if diff := cmp.Diff(test.want, numbers(b)); diff != "" {
					t.Errorf("planted %v (-want +got):\n%s", planted, diff)
				}
			}
		})
	}
}

func see(pod *corev1.Pod) func(*book)       { return func(b *book) { b.observe(pod) } }
func reserve(pod *corev1.Pod) func(*book)   { return func(b *book) { b.reserve(pod) } }
func unreserve(pod *corev1.Pod) func(*book) { return func(b *book) { b.unreserve(pod) } }
func forget(pod *corev1.Pod) func(*book)    { return func(b *book) { b.remove(pod.UID) } }

func TestUsageSurvivesEditsOfTheTree(t *testing.T) {
	const parent = extension.LabelQuotaParent
	b := setup(newQuota("q", "dept", "0", "50"), newQuota("q", "other", "0", "50"), newQuota("q", "team", "0", "10", parent, "dept"))
	b.observe(onNode(newPod("ns", "p", "2", "team")))
	check := func(when string, want map[string][2]int64) {
		t.Helper()
		if diff := cmp.Diff(want, numbers(b)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	two := [2]int64{2000, 2000}
	check("at first", map[string][2]int64{"team": two, "dept": two})
	set(b, newQuota("q", "team", "0", "10", parent, "other"))
	check("under another parent", map[string][2]int64{"team": two, "other": two})
	set(b, newQuota("q", "other", "0", "50", parent, "team"))
	check("in a cycle", map[string][2]int64{"team": two})
	if problems := b.problems(); len(problems) != 2 || problems[0].Code != finding.QuotaCycle {
		t.Errorf("problems of a cycle are %v", problems)
	}
	set(b, newQuota("q", "other", "0", "50"))
	b.removeQuota(types.NamespacedName{Namespace: "q", Name: "other"})
	check("without its parent", map[string][2]int64{"team": two})
	b.removeQuota(types.NamespacedName{Namespace: "q", Name: "team"})
	check("without the quota", map[string][2]int64{extension.DefaultQuotaName: two})
	set(b, newQuota("q", "team", "0", "10", parent, "dept"))
	check("with all of it back", map[string][2]int64{"team": two, "dept": two})
}

func TestJudgeCountsThePodOnce(t *testing.T) {
	b := setup(newQuota("q", "team", "5", "10"), newQuota("q", "other", "5", "10"))
	b.observe(onNode(newPod("ns", "running", "6", "team")))
	rules := quota.Rules{Runtime: true}
	fits, large := newPod("ns", "p", "4", "team"), newPod("ns", "p", "5", "team")
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want finding.Code
	}{
		"a pod that nobody has seen": {pod: fits}, "a larger one": {pod: large, want: finding.QuotaMaxExceeded}, "the same with another quota": {pod: newPod("ns", "p", "5", "other")},
	} {
		if got := b.judge(test.pod, rules, false); got.Verdict.Code != test.want {
			t.Errorf("%s: code %q, want %q", name, got.Verdict.Code, test.want)
		}
	}
	b.observe(fits)
	if got := b.judge(fits, rules, false); !got.Verdict.Passed() {
		t.Errorf("a pod that was seen: %s", got.Reason)
	}
	b.observe(onNode(fits))
	if got := b.judge(onNode(fits), rules, false); !got.Verdict.Passed() {
		t.Errorf("a pod that runs already does not fit: %s", got.Reason)
	}
	if got := b.judge(large, rules, false); got.Verdict.Code != finding.QuotaMaxExceeded {
		t.Errorf("a larger version of a running pod: %q", got.Verdict.Code)
	}
}

func TestJudgeDoesNotAllocateForPodsThatPass(t *testing.T) {
	b, pod := setup(newQuota("q", "team", "5", "10")), newPod("ns", "p", "4", "team")
	b.observe(pod)
	if allocations := testing.AllocsPerRun(100, func() { b.judge(pod, quota.Rules{Runtime: true, Parents: true}, false) }); allocations != 0 {
		t.Errorf("%v allocations, want none", allocations)
	}
}

// drawn is a book that went through random events, beside what the cluster would say at the end.
type drawn struct {
	book   *book
	quotas map[types.NamespacedName]*schedulingsigsv1alpha1.ElasticQuota
	pods   map[types.UID]*corev1.Pod
}

func (d *drawn) step(t *rapid.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	switch rapid.IntRange(0, 6).Draw(t, "event") {
	case 0:
		object := newQuota("q", name.Draw(t, "quota"), "0", fmt.Sprint(rapid.IntRange(0, 50).Draw(t, "max")), extension.LabelQuotaParent, name.Draw(t, "parent"))
		d.quotas[types.NamespacedName{Namespace: "q", Name: object.Name}] = object
		set(d.book, object)
	case 1:
		key := types.NamespacedName{Namespace: "q", Name: name.Draw(t, "quota")}
		delete(d.quotas, key)
		d.book.removeQuota(key)
	case 2:
		pod := newPod("ns", name.Draw(t, "pod"), fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "cpu")), name.Draw(t, "label"))
		if known := d.pods[pod.UID]; known != nil && known.Spec.NodeName != "" || rapid.Bool().Draw(t, "bound") {
			pod = onNode(pod)
		}
		d.pods[pod.UID] = pod
		d.book.observe(pod)
	case 3:
		uid := types.UID("ns/" + name.Draw(t, "pod"))
		delete(d.pods, uid)
		d.book.remove(uid)
	case 4:
		pod := newPod("ns", name.Draw(t, "pod"), "3", name.Draw(t, "label"))
		if d.pods[pod.UID] == nil || d.pods[pod.UID].Spec.NodeName == "" {
			d.book.reserve(pod)
			d.book.unreserve(pod)
		}
	case 5:
		before := numbers(d.book)
		d.book.judge(newPod("ns", name.Draw(t, "pod"), "7", name.Draw(t, "label")), quota.Rules{Runtime: true}, true)
		if diff := cmp.Diff(before, numbers(d.book)); diff != "" {
			t.Fatalf("judging changed something:\n%s", diff)
		}
	case 6:
		fork, before := d.book.fork(), numbers(d.book)
		fork.observe(onNode(newPod("ns", "only in the fork", "5", name.Draw(t, "label"))))
		fork.remove(types.UID("ns/" + name.Draw(t, "pod")))
		if diff := cmp.Diff(before, numbers(d.book)); diff != "" {
			t.Fatalf("the fork is not independent:\n%s", diff)
		}
	}
}

func TestARestartArrivesAtTheSameNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &drawn{book: setup(), quotas: map[types.NamespacedName]*schedulingsigsv1alpha1.ElasticQuota{}, pods: map[types.UID]*corev1.Pod{}}
		for range rapid.IntRange(1, 25).Draw(t, "events") {
			d.step(t)
		}
		fresh := setup(slices.Collect(maps.Values(d.quotas))...)
		for _, pod := range d.pods {
			fresh.observe(pod)
		}
		if diff := cmp.Diff(numbers(fresh), numbers(d.book)); diff != "" {
			t.Fatalf("after events and after a restart (-restart +events):\n%s", diff)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	book, pod := setup(newQuota("q", "team", "5", "10")), newPod("ns", "p", "4", "team")
	book.observe(pod)
	b.ReportAllocs()
	for b.Loop() {
		book.judge(pod, quota.Rules{Runtime: true, Parents: true}, false)
	}
}
