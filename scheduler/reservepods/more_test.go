package reservepods

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

func TestPreAllocation(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	r := c.start(t, "")
	r.create(newPod("before", "web", "3"))
	until(t, "a pod runs", "node-1", r.placement("before"))
	ahead := newReservation("web", "3", false)
	ahead.Spec.PreAllocation, ahead.Spec.AllocatePolicy = true, "Restricted"
	c.objects.create(ahead)
	until(t, "its room is reserved", "Available node-1", r.phase("web"))
	until(t, "it uses the reservation", "node-1/web", r.placement("before"))
	until(t, "nothing is counted twice", 3000, func() int64 { return r.requested("node-1") })
	r.create(newPod("stranger", "other", "2"))
	until(t, "a stranger waits", true, r.failed("stranger"))
	r.delete("before")
	until(t, "its room stays reserved", 3000, func() int64 { return r.held("node-1") })
	r.create(newPod("after", "web", "3"))
	until(t, "its successor has the room", "node-1/web", r.placement("after"))
}

func TestReservationsPreempt(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	r := c.start(t, `{"enablePreemption":true}`)
	spared := newPod("spared", "other", "1")
	spared.Labels[extension.LabelDisablePreemptible] = "true"
	r.create(newPod("victim", "other", "3"), spared)
	until(t, "a pod runs", "node-1", r.placement("victim"))
	until(t, "another runs", "node-1", r.placement("spared"))
	c.objects.create(newReservation("web", "3", false))
	until(t, "the reservation takes its place", "Available node-1", r.phase("web"))
	if r.placed("victim") != "gone" || r.placed("spared") != "node-1" {
		t.Errorf("victim %s, spared %s", r.placed("victim"), r.placed("spared"))
	}
	preempted, err := extension.GetReservationPreempted(c.objects.get("web").Annotations)
	if err != nil || len(preempted) != 1 || preempted[0].Name != "victim" || preempted[0].UID == "" {
		t.Errorf("the reservation lists %+v as preempted, %v; want victim", preempted, err)
	}
}

// TestAReservationListsAllThatWerePreempted preempts several pods of a node at the same time.
func TestAReservationListsAllThatWerePreempted(t *testing.T) {
	c := newCluster(newNode("node-1", "8"))
	r := c.start(t, `{"enablePreemption":true}`)
	want := map[string]bool{}
	for i := range 8 {
		name := fmt.Sprint("victim-", i)
		r.create(newPod(name, "other", "1"))
		until(t, "a pod runs", "node-1", r.placement(name))
		want[name] = true
	}
	c.objects.create(newReservation("web", "8", false))
	until(t, "the reservation takes their place", "Available node-1", r.phase("web"))
	preempted, err := extension.GetReservationPreempted(c.objects.get("web").Annotations)
	got := map[string]bool{}
	for _, pod := range preempted {
		got[pod.Name] = true
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || len(preempted) != len(want) {
		t.Errorf("%d preempted, %v (-want +got):\n%s", len(preempted), err, diff)
	}
}

func TestReservationsDoNotPreemptUnlessEnabled(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	r := c.start(t, "")
	r.create(newPod("before", "other", "3"))
	until(t, "a pod runs", "node-1", r.placement("before"))
	c.objects.create(newReservation("web", "3", false))
	until(t, "the reservation waits", true, func() bool { return len(c.objects.get("web").Status.Conditions) > 0 })
	if r.placed("before") != "node-1" {
		t.Error("the pod was preempted")
	}
}

func TestReservationsThatNeverPreemptDoNot(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	r := c.start(t, `{"enablePreemption":true}`)
	r.create(newPod("before", "other", "3"))
	until(t, "a pod runs", "node-1", r.placement("before"))
	never := newReservation("web", "3", false)
	never.Spec.Template.Spec.PreemptionPolicy = new(corev1.PreemptNever)
	c.objects.create(never)
	until(t, "the reservation waits", true, func() bool { return len(c.objects.get("web").Status.Conditions) > 0 })
	if r.placed("before") != "node-1" {
		t.Error("the pod was preempted")
	}
}

func TestReservationsOfLowPriorityGiveWay(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	low := newReservation("web", "3", false)
	low.Labels = map[string]string{extension.LabelPodPriority: "10"}
	c.objects.create(low)
	r := c.start(t, "")
	until(t, "the reservation is placed", "Available node-1", r.phase("web"))
	r.create(newPod("urgent", "other", "3"))
	until(t, "a pod of higher priority takes the room", "node-1", r.placement("urgent"))
	if object := c.objects.get("web"); object.Status.Phase != schedulingv1alpha1.ReservationFailed || object.Status.Conditions[1].Reason != "Preempted" {
		t.Errorf("status %s", encode(t, object.Status))
	}
}

// TestUsersAreNoVictimsInVain has a user of low priority: evicting it would return its room to the reservation.
func TestUsersAreNoVictimsInVain(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	c.objects.create(newReservation("web", "4", false))
	r := c.start(t, "")
	until(t, "the reservation is placed", "Available node-1", r.phase("web"))
	r.create(newPod("user", "web", "4"))
	until(t, "a pod uses it", "node-1/web", r.placement("user"))
	urgent := newPod("urgent", "other", "4")
	urgent.Spec.Priority = new(int32(1000))
	r.create(urgent)
	until(t, "a pod of higher priority waits", true, r.failed("urgent"))
	if r.placed("user") != "node-1/web" {
		t.Error("the user was preempted")
	}
	owner := newPod("owner", "web", "4")
	owner.Spec.Priority = new(int32(2000))
	r.create(owner)
	until(t, "an owner of higher priority takes its place", "node-1/web", r.placement("owner"))
}

func TestPodsThatIgnoreReservations(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	c.objects.create(newReservation("web", "4", false))
	r := c.start(t, "")
	until(t, "the reservation is placed", "Available node-1", r.phase("web"))
	ignoring := newPod("ignoring", "other", "2")
	ignoring.Labels[extension.LabelReservationIgnored] = "true"
	r.create(ignoring)
	until(t, "the pod takes reserved room without using the reservation", "node-1", r.placement("ignoring"))
	r.create(newPod("owner", "web", "3"))
	until(t, "which owners then lack", true, r.failed("owner"))
}

func TestOperatingModePods(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	r := c.start(t, "")
	holder := newPod("holder", "holder", "4")
	holder.Labels[extension.LabelPodOperatingMode] = "Reservation"
	holder.Annotations = map[string]string{extension.AnnotationReservationOwners: `[{"labelSelector":{"matchLabels":{"app":"web"}}}]`}
	r.create(holder)
	until(t, "the pod is placed", "node-1", r.placement("holder"))
	until(t, "it is a reservation", false, r.state.Empty)
	r.create(newPod("owner", "web", "3"))
	until(t, "an owner uses it", "node-1/holder", r.placement("owner"))
	until(t, "nothing is counted twice", 4000, func() int64 { return r.requested("node-1") })
	until(t, "it names its owner", true, func() bool {
		return r.pod("holder").Annotations[extension.AnnotationReservationCurrentOwner] != ""
	})
	until(t, "it requests what is left, however it changes", 4000, func() int64 { return r.requested("node-1") })
	r.stop()
	again := c.start(t, "")
	until(t, "a restarted scheduler sees the same", 4000, func() int64 { return again.requested("node-1") })
	again.delete("owner")
	again.create(newPod("next", "web", "4"))
	until(t, "the room has returned to it", "node-1/holder", again.placement("next"))
}

func TestPoliciesThatDoNotGoTogether(t *testing.T) {
	c := newCluster(newNode("node-1", "10"))
	old := newReservation("old", "2", false)
	old.Spec.AllocatePolicy = ""
	c.objects.create(old)
	r := c.start(t, "")
	until(t, "one is placed", "Available node-1", r.phase("old"))
	c.objects.create(newReservation("web", "2", false))
	until(t, "the other waits", true, func() bool { return len(c.objects.get("web").Status.Conditions) > 0 })
	c.objects.change("old", func(*schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation { return nil })
	until(t, "until that is gone", "Available node-1", r.phase("web"))
}

func TestAPendingReservationIsEdited(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	c.objects.create(newReservation("web", "5", false))
	r := c.start(t, "")
	until(t, "it does not fit", true, func() bool { return len(c.objects.get("web").Status.Conditions) > 0 })
	c.objects.change("web", func(object *schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation {
		object.Spec.Template.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("3")
		return object
	})
	until(t, "once it is smaller it does", "Available node-1", r.phase("web"))
	until(t, "and holds what it says", 3000, func() int64 { return r.held("node-1") })
	elsewhere := newReservation("db", "1", false)
	elsewhere.Spec.Template.Spec.NodeSelector = map[string]string{"zone": "none"}
	c.objects.create(elsewhere)
	until(t, "one selects a node that does not exist", true, func() bool { return len(c.objects.get("db").Status.Conditions) > 0 })
	c.objects.change("db", func(object *schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation {
		object.Spec.Template.Spec.NodeSelector = nil
		return object
	})
	until(t, "once it does not it is placed", "Available node-1", r.phase("db"))
}

func TestItsNodeGoes(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	c.objects.create(newReservation("web", "2", false))
	r := c.start(t, "")
	until(t, "the reservation is placed", "Available node-1", r.phase("web"))
	if err := c.client.CoreV1().Nodes().Delete(context.Background(), "node-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "it ends", "Failed node-1", r.phase("web"))
	until(t, "nothing of the node is left", int64(-1), func() int64 { return r.requested("node-1") })
}

// TestAStatusIsWrittenOnceOverTheSameVersion looks again and again at what the informer does not show yet.
func TestAStatusIsWrittenOnceOverTheSameVersion(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	c.objects.create(newReservation("web", "2", false))
	r := c.start(t, "")
	until(t, "the reservation is placed", "Available node-1", r.phase("web"))
	until(t, "it is seen", c.objects.get("web").ResourceVersion, func() string {
		seen, _ := r.state.Get("web")
		return seen.ResourceVersion
	})
	c.objects.hush()
	if err := c.client.CoreV1().Nodes().Delete(t.Context(), "node-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "it ends", true, func() bool { return c.objects.get("web").Status.Phase == schedulingv1alpha1.ReservationFailed })
	until(t, "its version is known to be old", true, func() bool {
		seen, _ := r.state.Get("web")
		return r.controller.outdated(key{name: "web"}, seen.ResourceVersion)
	})
	for range 3 {
		if _, err := r.controller.sync(t.Context(), key{name: "web"}); err != nil {
			t.Errorf("it is written again: %v", err)
		}
	}
}

func TestFailedBindingsGiveTheRoomBack(t *testing.T) {
	c := newCluster(newNode("node-1", "4"))
	c.objects.create(newReservation("web", "4", false))
	var failures atomic.Int32
	c.client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() == "binding" && failures.Add(1) <= 3 {
			return true, nil, errors.New("the API server is away")
		}
		return false, nil, nil
	})
	r := c.start(t, "")
	until(t, "the reservation is placed", "Available node-1", r.phase("web"))
	r.create(newPod("owner", "web", "3"))
	until(t, "the pod is placed after all", "node-1/web", r.placement("owner"))
	until(t, "nothing is counted twice", 4000, func() int64 { return r.requested("node-1") })
	if failures.Load() < 4 {
		t.Errorf("%d bindings, want three failed ones and one more", failures.Load())
	}
}

// TestRandomHistories lets pods and reservations come and go in a hurry, with two restarts, and holds what is bound against the
// nodes.
func TestRandomHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { randomHistory(t, seed) })
	}
}

func randomHistory(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	c := newCluster(newNode("node-1", "8"), newNode("node-2", "8"))
	policies := []schedulingv1alpha1.ReservationAllocatePolicy{"Aligned", "Restricted"}
	r := c.start(t, "")
	var pods, names []string
	for step := range 150 {
		switch choice := random.IntN(10); {
		case choice < 5:
			pod := newPod(fmt.Sprint("p", step), fmt.Sprint("r", random.IntN(step/5+3)), fmt.Sprint(random.IntN(4)+1))
			r.create(pod)
			pods = append(pods, pod.Name)
		case choice < 7 && len(pods) > 0:
			i := random.IntN(len(pods))
			r.delete(pods[i])
			pods = slices.Delete(pods, i, i+1)
		case choice < 9:
			object := newReservation(fmt.Sprint("r", step), fmt.Sprint(random.IntN(5)+1), random.IntN(2) == 0)
			object.Spec.Owners[0].LabelSelector.MatchLabels["app"] = fmt.Sprint("r", random.IntN(step/5+3))
			object.Spec.AllocatePolicy = policies[random.IntN(2)]
			c.objects.create(object)
			names = append(names, object.Name)
		case len(names) > 0:
			i := random.IntN(len(names))
			c.objects.change(names[i], func(*schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation { return nil })
			names = slices.Delete(names, i, i+1)
		}
		if step == 50 || step == 100 {
			// A binding that is on its way when a scheduler dies is not seen by the next one, here as in Kubernetes.
			until(t, "bindings have arrived", "", func() string { return r.restless(t) })
			r.stop()
			r = c.start(t, "")
		}
		checkNodes(t, r)
	}
	checkOwners(t, c)
	until(t, "the cache is what the API server has", "", func() string { return r.restless(t) })
	for _, node := range []string{"node-1", "node-2"} {
		if sum := r.requested(node); sum > 8000 {
			t.Errorf("%s: %d milliCPU in use or held:%s", node, sum, r.inventory(node))
		}
	}
}

// inventory lists the pods of a node in the scheduler's cache.
func (r *running) inventory(node string) string {
	var list strings.Builder
	for _, info := range r.scheduler.Cache.Dump().Nodes[node].Pods {
		pod := info.GetPod()
		fmt.Fprintf(&list, " %s=%d%s", pod.Name, decision.RequestsOf(pod)["cpu"], pod.Annotations[extension.AnnotationReservationAllocated])
	}
	return list.String()
}

// expected adds up what is in use and held on a node by what the API server has.
func expected(t *testing.T, c *cluster, node string) int64 {
	t.Helper()
	list, err := c.client.CoreV1().Pods("default").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	users := map[types.UID]map[types.UID]decision.User{}
	for _, pod := range list.Items {
		if pod.Spec.NodeName != node {
			continue
		}
		sum += decision.RequestsOf(&pod)["cpu"]
		if allocated, err := extension.GetReservationAllocated(pod.Annotations); err == nil && allocated != nil {
			if users[allocated.UID] == nil {
				users[allocated.UID] = map[types.UID]decision.User{}
			}
			users[allocated.UID][pod.UID] = decision.NewUser(&pod, pod.Annotations)
		}
	}
	c.objects.mutex.Lock()
	defer c.objects.mutex.Unlock()
	for _, object := range c.objects.byName {
		if !decision.Active(object) || object.Status.NodeName != node {
			continue
		}
		compiled, _ := decision.Compile(object)
		if held := decision.Remainder(compiled, decision.ReservePod(object, "", false), users[object.UID]); held != nil {
			sum += decision.RequestsOf(held)["cpu"]
		}
	}
	return sum
}

// restless says what is still to come, empty when nothing is: a pod about to be tried, a reservation about to end and make room
// for one, or an event that brings the cache in line with the API server.
func (r *running) restless(t *testing.T) string {
	t.Helper()
	switch {
	case !r.settledDown():
		return "a pod is about to be tried"
	case r.ending() != "":
		return r.ending() + " has been used and does not say so"
	}
	for _, node := range []string{"node-1", "node-2"} {
		if got, want := r.requested(node), expected(t, r.cluster, node); got != want {
			return fmt.Sprintf("%s: %d milliCPU in the cache, %d at the API server:%s", node, got, want, r.inventory(node))
		}
	}
	return ""
}

// ending names a reservation that is used once, has been, and does not say so yet.
func (r *running) ending() string {
	for _, view := range r.state.All() {
		if view.Once && view.Users > 0 {
			return view.Name
		}
	}
	return ""
}

// settledDown reports whether nothing waits to be scheduled at once.
func (r *running) settledDown() bool {
	pending, _ := r.scheduler.SchedulingQueue.PendingPods()
	return len(pending) == len(r.scheduler.SchedulingQueue.UnschedulablePods())
}

// checkNodes fails when a node has more in use than it has. The cache counts an owner and what it takes from its reservation
// both, for the moment between the two; what is bound it never does.
func checkNodes(t *testing.T, r *running) {
	t.Helper()
	used := map[string]int64{}
	list, err := r.client.CoreV1().Pods("default").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range list.Items {
		used[pod.Spec.NodeName] += pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
	}
	delete(used, "")
	for node, sum := range used {
		if sum > 8000 {
			t.Fatalf("%s: pods with %d milliCPU are bound", node, sum)
		}
	}
}

// checkOwners fails when a reservation that is used once is used twice, or a restricted one by more than it holds.
func checkOwners(t *testing.T, c *cluster) {
	t.Helper()
	list, err := c.client.CoreV1().Pods("default").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	users, taken := map[string]int{}, map[string]int64{}
	for _, pod := range list.Items {
		if allocated, err := extension.GetReservationAllocated(pod.Annotations); err == nil && allocated != nil && pod.Spec.NodeName != "" {
			users[allocated.Name]++
			taken[allocated.Name] += pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		}
	}
	for name, count := range users {
		object := c.objects.get(name)
		if object == nil {
			continue
		}
		if *object.Spec.AllocateOnce && count > 1 {
			t.Errorf("reservation %s has %d users", name, count)
		}
		if held := object.Status.Allocatable[corev1.ResourceCPU]; object.Spec.AllocatePolicy == "Restricted" && taken[name] > held.MilliValue() {
			t.Errorf("users of reservation %s have %d of %d", name, taken[name], held.MilliValue())
		}
	}
}

// TestAReservationThatEndsUnseen is placed and deleted while the watch is broken: the scheduler never sees it placed.
func TestAReservationThatEndsUnseen(t *testing.T) {
	for name, end := range map[string]func(*cluster){
		"it is deleted": func(c *cluster) {
			c.objects.change("web", func(*schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation { return nil })
		},
		"it fails": func(c *cluster) {
			c.objects.change("web", func(object *schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation {
				object.Status.Phase = schedulingv1alpha1.ReservationFailed
				return object
			})
		},
		"another of its name comes": func(c *cluster) {
			c.objects.change("web", func(*schedulingv1alpha1.Reservation) *schedulingv1alpha1.Reservation { return nil })
			other := newReservation("web", "9", false)
			other.UID = "uid-other"
			c.objects.create(other)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(newNode("node-1", "4"))
			c.objects.hush()
			r := c.start(t, "")
			c.objects.create(newReservation("web", "3", false))
			until(t, "it is placed", "unseen", r.phase("web"))
			until(t, "its room is taken", 3000, func() int64 { return r.requested("node-1") })
			end(c)
			c.objects.look()
			until(t, "its room is free", 0, func() int64 { return r.requested("node-1") })
		})
	}
}
