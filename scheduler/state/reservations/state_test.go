package reservations

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

// shelf is a Holder without a scheduler behind it: what stands on it, by UID.
type shelf map[types.UID]*corev1.Pod

func (s shelf) Hold(before, after *corev1.Pod) {
	if before != nil {
		delete(s, before.UID)
	}
	if after != nil {
		if s[after.UID] != nil {
			panic("a pod comes that is there")
		}
		s[after.UID] = after
	}
}

// requested lists the CPUs that stand on the shelf.
func (s shelf) requested() map[string]int64 {
	list := map[string]int64{}
	for _, pod := range s {
		list[decision.NameOf(pod)] = decision.RequestsOf(pod)["cpu"]
	}
	return list
}

func newTestState(t interface{ Fatal(...any) }) *State {
	state, err := NewFrom(fcache.NewFakeControllerSource(), informers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().Pods().Informer())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func cpus(amount string) corev1.ResourceList {
	return corev1.ResourceList{"cpu": resource.MustParse(amount)}
}

func newReservation(name, amount string, once bool) *schedulingv1alpha1.Reservation {
	return &schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)},
		Spec: schedulingv1alpha1.ReservationSpec{
			Template:     &corev1.PodTemplateSpec{Spec: newPod("", amount).Spec},
			Owners:       []schedulingv1alpha1.ReservationOwner{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}},
			AllocateOnce: &once, AllocatePolicy: "Aligned",
		},
		Status: schedulingv1alpha1.ReservationStatus{Phase: "Available", NodeName: "node-1", Allocatable: cpus(amount)},
	}
}

func newPod(name, amount string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "web"}, Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: cpus(amount)}}}},
	}
}

// bound is a pod on node-1 that uses a reservation.
func bound(pod *corev1.Pod, reservation string) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Spec.NodeName = "node-1"
	pod.Annotations[extension.AnnotationReservationAllocated] = fmt.Sprintf(`{"name":%q,"uid":"uid-%s"}`, reservation, reservation)
	return pod
}

func TestWhatIsHeld(t *testing.T) {
	r := newReservation("r", "4", false)
	gone := func(s *State, pod *corev1.Pod) { s.podHandler().OnDelete(pod) }
	tests := map[string]struct {
		do   func(s *State)
		want map[string]int64
	}{
		"an available reservation": {func(s *State) { s.observe(r) }, map[string]int64{"r": 4000}},
		"a pending one holds nothing": {func(s *State) {
			pending := r.DeepCopy()
			pending.Status = schedulingv1alpha1.ReservationStatus{}
			s.observe(pending)
		}, map[string]int64{}},
		"one that ends": {func(s *State) {
			s.observe(r)
			failed := r.DeepCopy()
			failed.Status.Phase = "Failed"
			s.observe(failed)
		}, map[string]int64{}},
		"one that is deleted":           {func(s *State) { s.observe(r); s.reservationHandler().OnDelete(r) }, map[string]int64{}},
		"one whose deletion was missed": {func(s *State) { s.observe(r); s.reservationHandler().OnDelete(cache.DeletedFinalStateUnknown{Obj: r}) }, map[string]int64{}},
		"one that was replaced by another of its name": {func(s *State) {
			s.observe(r)
			other := newReservation("r", "1", false)
			other.UID = "other"
			s.observe(other)
		}, map[string]int64{"r": 1000}},
		"an assumed user":   {func(s *State) { s.observe(r); _ = s.Assume(newPod("a", "1"), r.UID, nil) }, map[string]int64{"r": 3000}},
		"a user taken back": {func(s *State) { s.observe(r); _ = s.Assume(newPod("a", "1"), r.UID, nil); s.Forget("a") }, map[string]int64{"r": 4000}},
		"a user that came true is not taken back": {func(s *State) {
			s.observe(r)
			_ = s.Assume(newPod("a", "1"), r.UID, nil)
			s.observePod(nil, bound(newPod("a", "1"), "r"))
			s.Forget("a")
		}, map[string]int64{"r": 3000}},
		"a restarted scheduler that sees the user first": {func(s *State) { s.observePod(nil, bound(newPod("a", "1"), "r")); s.observe(r) }, map[string]int64{"r": 3000}},
		"a user that is deleted": {func(s *State) {
			s.observe(r)
			s.observePod(nil, bound(newPod("a", "1"), "r"))
			gone(s, newPod("a", "1"))
		}, map[string]int64{"r": 4000}},
		"a user that finishes": {func(s *State) {
			s.observe(r)
			user := bound(newPod("a", "1"), "r")
			s.observePod(nil, user)
			finished := user.DeepCopy()
			finished.Status.Phase = corev1.PodSucceeded
			s.observePod(user, finished)
		}, map[string]int64{"r": 4000}},
		"a user that grows": {func(s *State) {
			s.observe(r)
			user := bound(newPod("a", "1"), "r")
			s.observePod(nil, user)
			s.observePod(user, bound(newPod("a", "3"), "r"))
		}, map[string]int64{"r": 1000}},
		"a user that no longer says so": {func(s *State) {
			s.observe(r)
			user := bound(newPod("a", "1"), "r")
			s.observePod(nil, user)
			plain := newPod("a", "1")
			plain.Spec.NodeName = "node-1"
			s.observePod(user, plain)
		}, map[string]int64{"r": 4000}},
		"a user on another node does not count": {func(s *State) {
			s.observe(r)
			user := bound(newPod("a", "1"), "r")
			user.Spec.NodeName = "node-2"
			s.observePod(nil, user)
		}, map[string]int64{"r": 4000}},
		"an annotation left by a failed attempt does not count": {func(s *State) {
			s.observe(r)
			pending := bound(newPod("a", "1"), "r")
			pending.Spec.NodeName = ""
			s.observePod(nil, pending)
		}, map[string]int64{"r": 4000}},
		"garbage does not count": {func(s *State) {
			s.observe(r)
			user := bound(newPod("a", "1"), "r")
			user.Annotations[extension.AnnotationReservationAllocated] = `{"uid":7`
			s.observePod(nil, user)
		}, map[string]int64{"r": 4000}},
		"one that is used once holds the rest until it ends": {func(s *State) {
			s.observe(newReservation("r", "4", true))
			_ = s.Assume(newPod("a", "1"), r.UID, nil)
		}, map[string]int64{"r": 3000}},
		"pods expected of a reservation that is about to be placed": {func(s *State) {
			s.Expect(r.UID, "node-1", []*corev1.Pod{newPod("a", "1"), newPod("b", "2")})
			s.observe(r)
		}, map[string]int64{"r": 1000}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			state, early, late := newTestState(t), shelf{}, shelf{}
			state.Attach(early)
			test.do(state)
			if diff := cmp.Diff(test.want, early.requested()); diff != "" {
				t.Errorf("held (-want +got):\n%s", diff)
			}
			state.Attach(late)
			if diff := cmp.Diff(test.want, late.requested()); diff != "" {
				t.Errorf("held for one who comes late (-want +got):\n%s", diff)
			}
			if state.Empty() != (len(state.All()) == 0) {
				t.Errorf("empty %v with %d reservations", state.Empty(), len(state.All()))
			}
		})
	}
}

func TestAssumeIsRefused(t *testing.T) {
	state := newTestState(t)
	restricted := newReservation("restricted", "2", false)
	restricted.Spec.AllocatePolicy = "Restricted"
	state.observe(restricted)
	state.observe(newReservation("once", "2", true))
	for _, step := range []struct {
		name        string
		pod         *corev1.Pod
		reservation types.UID
		wantRefused bool
	}{
		{"by a reservation that ended", newPod("a", "1"), "uid-gone", true},
		{"not by one that is used once, the first time", newPod("b", "1"), "uid-once", false},
		{"but the second time", newPod("c", "1"), "uid-once", true},
		{"not by a restricted one with enough", newPod("d", "1"), "uid-restricted", false},
		{"but by what is left of it", newPod("e", "2"), "uid-restricted", true},
	} {
		if err := state.Assume(step.pod, step.reservation, nil); errors.Is(err, ErrInactive) != step.wantRefused {
			t.Errorf("%s: error %v, want refused %v", step.name, err, step.wantRefused)
		}
	}
}

func TestOwnedFindsCandidatesOnly(t *testing.T) {
	state := newTestState(t)
	for i := range 100 {
		r := newReservation(fmt.Sprintf("r%d", i), "1", false)
		r.Spec.Owners[0].LabelSelector.MatchLabels["app"] = fmt.Sprintf("app-%d", i%50)
		state.observe(r)
	}
	pod := newPod("p", "1")
	pod.Labels["app"] = "app-7"
	var names []string
	for _, view := range state.Owned(pod) {
		names = append(names, view.Name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"r57", "r7"}, names); diff != "" {
		t.Error(diff)
	}
	if got := len(state.index); got != 50 {
		t.Errorf("%d keys, want 50", got)
	}
	edited := newReservation("r7", "1", false)
	state.observe(edited)
	if got := len(state.Owned(pod)); got != 1 {
		t.Errorf("%d reservations after the owners of one were changed, want 1", got)
	}
}

func TestLedgersHearOfReservePods(t *testing.T) {
	state := newTestState(t)
	var heard []string
	state.AddReservePodHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			heard = append(heard, "add "+object.(*corev1.Pod).Annotations[extension.AnnotationResourceStatus])
		},
		UpdateFunc: func(_, object any) {
			heard = append(heard, "update "+object.(*corev1.Pod).Annotations[extension.AnnotationResourceStatus])
		},
		DeleteFunc: func(object any) { heard = append(heard, "delete") },
	})
	r := newReservation("r", "4", false)
	r.Annotations = map[string]string{extension.AnnotationResourceStatus: `{"cpuset":"0-3"}`}
	state.observe(r)
	_ = state.Assume(newPod("a", "1"), r.UID, map[string]string{extension.AnnotationResourceStatus: `{"cpuset":"2"}`})
	state.reservationHandler().OnDelete(r)
	if diff := cmp.Diff([]string{`add {"cpuset":"0-3"}`, `update {"cpuset":"0-1,3"}`, "delete"}, heard); diff != "" {
		t.Error(diff)
	}
}

func TestOperatingModePods(t *testing.T) {
	state, held := newTestState(t), shelf{}
	state.Attach(held)
	holder := newPod("holder", "4")
	holder.Spec.NodeName = "node-1"
	holder.Labels[extension.LabelPodOperatingMode] = "Reservation"
	holder.Annotations[extension.AnnotationReservationOwners] = `[{"labelSelector":{"matchLabels":{"app":"web"}}}]`
	held[holder.UID] = holder
	state.observePod(nil, holder)
	user := newPod("a", "3")
	owned := state.Owned(user)
	if len(owned) != 1 || owned[0].Held != holder || len(state.Owned(holder)) != 0 {
		t.Fatalf("owned %+v", owned)
	}
	if err := state.Assume(user, holder.UID, nil); err != nil {
		t.Fatal(err)
	}
	if got := decision.RequestsOf(held[holder.UID])["cpu"]; got != 1000 {
		t.Errorf("a used pod requests %d milliCPU, want the 1000 that its user leaves over", got)
	}
	state.Showing(holder, func(shown *corev1.Pod) {
		if got := decision.RequestsOf(shown)["cpu"]; got != 1000 {
			t.Errorf("it is shown with %d milliCPU, want 1000", got)
		}
	})
	state.Forget(user.UID)
	if got := decision.RequestsOf(held[holder.UID])["cpu"]; got != 4000 {
		t.Errorf("an unused pod requests %d milliCPU, want 4000", got)
	}
	state.podHandler().OnDelete(holder)
	if !state.Empty() {
		t.Error("a pod that is deleted is still a reservation")
	}
}

// TestRestartFindsTheSame lives through a random history, and compares with a state that sees only what the API server has.
func TestRestartFindsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live, held := newTestState(t), shelf{}
		live.Attach(held)
		objects, pods := map[string]*schedulingv1alpha1.Reservation{}, map[string]*corev1.Pod{}
		names := rapid.SampledFrom([]string{"r", "s"})
		for i := range rapid.IntRange(1, 25).Draw(t, "steps") {
			name := names.Draw(t, "reservation")
			switch rapid.SampledFrom([]string{"create", "end", "use", "fail", "leave"}).Draw(t, "step") {
			case "create":
				objects[name] = newReservation(name, rapid.SampledFrom([]string{"1", "4"}).Draw(t, "size"), rapid.Bool().Draw(t, "once"))
				live.observe(objects[name])
			case "end":
				if r := objects[name]; r != nil {
					delete(objects, name)
					live.reservationHandler().OnDelete(r)
				}
			case "use", "fail":
				pod := newPod(fmt.Sprint("p", i), rapid.SampledFrom([]string{"1", "2", "6"}).Draw(t, "request"))
				if live.Assume(pod, types.UID("uid-"+name), nil) != nil {
					continue
				}
				if rapid.Bool().Draw(t, "fails") {
					live.Forget(pod.UID)
					continue
				}
				pods[pod.Name] = bound(pod, name)
				live.observePod(nil, pods[pod.Name])
			case "leave":
				for name, pod := range pods {
					delete(pods, name)
					live.podHandler().OnDelete(pod)
					break
				}
			}
			checkAmounts(t, live)
		}
		restarted, after := newTestState(t), shelf{}
		restarted.Attach(after)
		for _, pod := range pods {
			restarted.observePod(nil, pod)
		}
		for _, r := range objects {
			restarted.observe(r)
		}
		if diff := cmp.Diff(held.requested(), after.requested()); diff != "" {
			t.Fatalf("held (-before +after the restart):\n%s", diff)
		}
		if diff := cmp.Diff(usesOf(live), usesOf(restarted)); diff != "" {
			t.Fatalf("in use (-before +after the restart):\n%s", diff)
		}
	})
}

func usesOf(s *State) map[string]decision.Use {
	uses := map[string]decision.Use{}
	for _, view := range s.All() {
		uses[view.Name] = view.Use
	}
	return uses
}

// checkAmounts fails when more is in use than there is, or a reservation that is used once has two users.
func checkAmounts(t *rapid.T, s *State) {
	for _, view := range s.All() {
		if view.Once && view.Users > 1 && view.Taken["cpu"] > view.Allocatable["cpu"] || view.Taken["cpu"] > view.Allocatable["cpu"] {
			t.Fatalf("reservation %s: %d users have %d of %d", view.Name, view.Users, view.Taken["cpu"], view.Allocatable["cpu"])
		}
		heldAmount := int64(0)
		if view.Held != nil {
			heldAmount = decision.RequestsOf(view.Held)["cpu"]
		}
		if !(view.Once && view.Users > 0) && heldAmount+view.Taken["cpu"] != view.Allocatable["cpu"] {
			t.Fatalf("reservation %s: %d held and %d in use of %d", view.Name, heldAmount, view.Taken["cpu"], view.Allocatable["cpu"])
		}
	}
}

func TestStatusPatchesNameWhatIsGone(t *testing.T) {
	r := newReservation("r", "4", false)
	r.ResourceVersion = "7"
	r.Status.CurrentOwners = []corev1.ObjectReference{{Name: "a"}}
	status := r.Status.DeepCopy()
	status.CurrentOwners = nil
	status.Phase = "Failed"
	patch, err := statusPatch(r, status)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"metadata":{"resourceVersion":"7","uid":"uid-r"},"status":{"currentOwners":null,"phase":"Failed"}}`
	if string(patch) != want {
		t.Errorf("patch %s, want %s", patch, want)
	}
}

// BenchmarkOwned is a pod that owns nothing, beside ten thousand reservations for others.
func BenchmarkOwned(b *testing.B) {
	state := newTestState(b)
	for i := range 10000 {
		r := newReservation(fmt.Sprintf("r%d", i), "1", false)
		r.Spec.Owners[0].LabelSelector.MatchLabels["app"] = fmt.Sprintf("app-%d", i)
		state.observe(r)
	}
	pod := newPod("p", "1")
	b.ReportAllocs()
	for b.Loop() {
		state.Owned(pod)
	}
}
