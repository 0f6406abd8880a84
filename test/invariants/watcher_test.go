package invariants

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// play is a watcher whose events and clock the test makes.
type play struct {
	*Watcher
	clock    time.Time
	streams  map[string]*stream
	revision int
}

func newPlay(t *testing.T) *play {
	t.Helper()
	p := &play{clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), streams: map[string]*stream{}}
	p.Watcher = newWatcher(func() time.Time { return p.clock })
	for _, kind := range p.kinds() {
		p.streams[kind.resource.Resource] = &stream{watcher: p.Watcher, kind: kind, objects: map[types.NamespacedName]metav1.Object{}}
		if err := p.streams[kind.resource.Resource].Replace(nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	node := nodeOf()
	node.Topology.Name, node.Device = node.Name, nil
	p.put(t, "nodes", node.Object)
	p.put(t, "noderesourcetopologies", node.Topology)
	return p
}

func (p *play) stamp(object metav1.Object) metav1.Object {
	p.revision++
	object.SetResourceVersion(fmt.Sprint(p.revision))
	return object
}

func (p *play) put(t *testing.T, kind string, object metav1.Object) {
	t.Helper()
	if err := p.streams[kind].Update(p.stamp(object)); err != nil {
		t.Fatal(err)
	}
}

func (p *play) drop(t *testing.T, kind string, object metav1.Object) {
	t.Helper()
	if err := p.streams[kind].Delete(p.stamp(object)); err != nil {
		t.Fatal(err)
	}
}

func (p *play) none(t *testing.T) {
	t.Helper()
	if violations := p.Violations(); len(violations) > 0 {
		t.Error(violations)
	}
}

func ended1(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Status.Phase = corev1.PodSucceeded
	return pod
}

func TestAnOwnerThatOverlapsForOneEventIsSeen(t *testing.T) {
	p := newPlay(t)
	p.put(t, "pods", lsr("a", "2", "2-3", ""))
	p.put(t, "pods", lsr("b", "2", "2-3", ""))
	p.drop(t, "pods", lsr("b", "2", "2-3", ""))
	violations := p.Violations()
	expect(t, violations, CPUOwnedOnce, "CPUs 2-3 are owned by ns/a and ns/b")
	if got := violations[0].Revision; got != "4" {
		t.Errorf("revision %s, want 4", got)
	}
	if got, want := p.Seen(), (Seen{Events: 5, Bindings: 2, Allocations: 2}); got != want {
		t.Errorf("seen %+v, want %+v", got, want)
	}
}

func TestWhoLeavesMakesRoom(t *testing.T) {
	for name, leave := range map[string]func(*play, *corev1.Pod){
		"deleted": func(p *play, pod *corev1.Pod) { p.drop(t, "pods", pod) },
		"ended":   func(p *play, pod *corev1.Pod) { p.put(t, "pods", ended1(pod)) },
		"replaced by one of the same name": func(p *play, pod *corev1.Pod) {
			other := podOf("a")
			other.UID, other.Spec.NodeName = "other", ""
			p.put(t, "pods", other)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			a := lsr("a", "4", "2-5", "")
			p.put(t, "pods", a)
			leave(p, a)
			p.put(t, "pods", lsr("b", "4", "2-5", ""))
			p.none(t)
		})
	}
}

func TestABindingMayRestOnWhatWasInForceAMomentAgo(t *testing.T) {
	for name, test := range map[string]struct {
		before, after time.Duration
		wantViolation bool
	}{
		"the node shrank a moment before":         {before: Window - time.Second},
		"the node shrank long before":             {before: Window + time.Second, after: Window + time.Second, wantViolation: true},
		"the node grew, and its event came later": {before: Window + time.Second, after: Window - time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			allocatable := func(cpu string) *corev1.Node {
				node := nodeOf().Object.DeepCopy()
				node.Status.Allocatable[corev1.ResourceCPU] = list("x", cpu)["x"]
				return node
			}
			p.put(t, "nodes", allocatable("1"))
			p.clock = p.clock.Add(test.before)
			p.put(t, "pods", podOf("a", "cpu", "4"))
			if test.after > 0 {
				p.clock = p.clock.Add(test.after)
				p.put(t, "nodes", allocatable("4"))
			}
			if test.wantViolation {
				expect(t, p.Violations(), WithinAllocatable, "request 4 of cpu, allocatable is")
			} else {
				p.none(t)
			}
		})
	}
}

func TestWhatWasBeforeTheWatchMayJustifyABinding(t *testing.T) {
	for after, wantViolation := range map[time.Duration]bool{Window - time.Second: false, Window + time.Second: true} {
		p := newPlay(t)
		p.nodes["n1"].versions[0].found, p.nodes["n1"].versions[1].found = true, true
		p.clock = p.clock.Add(after)
		p.put(t, "pods", podOf("a", "cpu", "7"))
		if got := len(p.Violations()) > 0; got != wantViolation {
			t.Errorf("after %s: violation %v, want %v", after, got, wantViolation)
		}
	}
}

func TestABrokenWatchIsNoViolation(t *testing.T) {
	p := newPlay(t)
	a, b := lsr("a", "4", "2-5", ""), lsr("b", "1", "6", "")
	p.put(t, "pods", a)
	p.put(t, "pods", b)
	// While the watch was down, a ended, b was deleted, and c got the CPUs of both.
	list := []any{p.stamp(lsr("c", "5", "2-6", "")), p.stamp(ended1(a))}
	if err := p.streams["pods"].Replace(list, ""); err != nil {
		t.Fatal(err)
	}
	p.none(t)
	if got := p.Seen().Relists; got != 1 {
		t.Errorf("%d relists, want 1", got)
	}
	if err := p.streams["pods"].Replace([]any{p.stamp(lsr("c", "5", "2-6", "")), p.stamp(lsr("d", "1", "6", ""))}, ""); err != nil {
		t.Fatal(err)
	}
	expect(t, p.Violations(), CPUOwnedOnce, "CPUs 6 are owned by ns/c and ns/d")
}

func TestAnAllocationThatIsRewrittenIsSeen(t *testing.T) {
	p := newPlay(t)
	p.put(t, "pods", lsr("a", "2", "2-3", ""))
	p.put(t, "pods", lsr("a", "2", "4-5", ""))
	expect(t, p.Violations(), AllocationAgrees, "resource-status was")
}

func TestAdmissionIsComparedWithWhatTheQuotaMayUse(t *testing.T) {
	p := newPlay(t)
	p.put(t, "elasticquotas", quota("ns", "", "0", "2"))
	p.put(t, "pods", podOf("a", "cpu", "2"))
	p.none(t)
	p.clock = p.clock.Add(time.Minute)
	p.put(t, "pods", podOf("b", "cpu", "1"))
	expect(t, p.Violations(), QuotaWithinRuntime, "uses 3000 of cpu and may use 2000")
	p.clock = p.clock.Add(time.Second)
	p.put(t, "elasticquotas", quota("ns", "", "0", "3"))
	p.none(t)
}

func TestAGangMayBePartForAMoment(t *testing.T) {
	p := newPlay(t)
	group := &schedulingsigsv1alpha1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "g"}, Spec: schedulingsigsv1alpha1.PodGroupSpec{MinMember: 2}}
	p.put(t, "podgroups", group)
	member := func(name string) *corev1.Pod {
		pod := podOf(name)
		pod.Labels[extension.LabelPodGroup] = "g"
		return pod
	}
	p.put(t, "pods", member("a"))
	p.clock = p.clock.Add(GangGrace - time.Second)
	p.put(t, "pods", member("b"))
	p.clock = p.clock.Add(time.Minute)
	p.drop(t, "pods", member("b")) // once whole, members may leave
	p.clock = p.clock.Add(time.Minute)
	p.none(t)

	p = newPlay(t)
	p.put(t, "podgroups", group)
	p.put(t, "pods", member("a"))
	p.clock = p.clock.Add(GangGrace + time.Second)
	expect(t, p.Violations(), GangWhole, "1 of 1 pods are bound, minMember is 2")
}
