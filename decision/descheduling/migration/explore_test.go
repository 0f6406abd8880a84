package migration

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

const (
	tick = time.Minute
	// ttlTicks is the ttl of jobs of the exploration, in ticks.
	ttlTicks = 2
	// maxStates is above what any of the explorations visits.
	maxStates = 200_000
	jobUID    = types.UID("job")
	podUID    = types.UID("pod")
	home      = "home"
	target    = "target"
)

var created = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// cluster is one state of the exploration: the objects, and the clock of the controller, which keeps nothing else.
type cluster struct {
	Job         *schedulingv1alpha1.PodMigrationJob
	Pod         *Pod
	Reservation *Reservation
	Node        *Node
	Replacement *Replacement
	Workload    *Workload
	Request     *EvictionRequest
	// Refusal says why there can be no EvictionRequest.
	Refusal string
	Ticks   int
	Faults  int
	// Violated is a promise that was broken on the way here.
	Violated string
}

func (c cluster) clone() cluster {
	c.Job = c.Job.DeepCopy()
	c.Pod, c.Node, c.Replacement = copied(c.Pod), copied(c.Node), copied(c.Replacement)
	c.Reservation, c.Workload, c.Request = copied(c.Reservation), copied(c.Workload), copied(c.Request)
	return c
}

func copied[T any](of *T) *T {
	if of == nil {
		return nil
	}
	return new(*of)
}

func (c cluster) key(t *testing.T) string {
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (c cluster) now() time.Time { return created.Add(time.Duration(c.Ticks) * tick) }

func (c cluster) input(args *Args) Input {
	world := World{Pod: c.Pod, Reservation: c.Reservation, Replacement: c.Replacement, Workload: c.Workload}
	if ReadsEvictionRequest(c.Job, c.Pod, args) {
		world.EvictionRequest, world.EvictionRequestRefusal = c.Request, c.Refusal
		if c.Refusal != "" {
			world.EvictionRequest = nil
		}
	}
	if c.Reservation != nil && c.Reservation.Node == target {
		world.Node = c.Node
	}
	return Input{Job: c.Job, Args: args, Now: c.now(), World: world}
}

// interruption of a step of the controller.
type interruption int

const (
	whole interruption = iota
	afterSpec
	afterStatus
	// lostAnswer takes the action, and the controller does not learn of it.
	lostAnswer
	// refused is a PodDisruptionBudget that does not allow the eviction.
	refused
)

// step applies the verdict, as far as the interruption allows.
func (c cluster) step(args *Args, until interruption) cluster {
	verdict := Decide(c.input(args), nil)
	c = c.clone()
	if verdict.PodUID != "" {
		c.Job.Spec.PodRef.UID = verdict.PodUID
	}
	if verdict.ReservationRef != nil {
		if c.Job.Spec.ReservationOptions == nil {
			c.Job.Spec.ReservationOptions = &schedulingv1alpha1.PodMigrateReservationOptions{}
		}
		c.Job.Spec.ReservationOptions.ReservationRef = verdict.ReservationRef
	}
	if until == afterSpec {
		return c
	}
	if Finished(c.Job) && c.Job.Status.Phase != verdict.Status.Phase {
		c.Violated = "a job that had ended changed its phase"
	}
	c.Job.Status = verdict.Status
	if until == afterStatus {
		return c
	}
	c.act(verdict.Action, until)
	return c
}

// act takes an action as the API server does, and holds it to the promises.
func (c *cluster) act(action Action, until interruption) {
	switch action.Kind {
	case CreateReservation:
		if c.Reservation == nil { // else the name exists already
			c.Reservation = &Reservation{Name: string(jobUID), UID: "reservation", Owned: true}
		}
	case DeleteReservation:
		if c.Reservation == nil || c.Reservation.UID != action.UID {
			return
		}
		if !c.Reservation.Owned {
			c.Violated = "a reservation of somebody else is deleted"
		}
		c.Reservation = nil
	case EvictPod:
		c.evict(action, until)
	case DetachPod:
		c.detach(action)
	case AttachPod:
		switch {
		case !Finished(c.Job):
			c.Violated = "the pod is given back by a job that has not ended"
		case c.Pod != nil && c.Pod.UID == action.UID && c.Pod.DetachedBy == c.Job.UID:
			c.Pod.DetachedBy, c.Pod.Controlled, c.Pod.Hashed = "", true, true
		}
	case WithdrawRequest:
		c.withdraw(action)
	}
}

// reserved reports whether the Reservation waits for the pod that replaces the one to move.
func (c *cluster) reserved() bool {
	return c.Reservation != nil && c.Reservation.Phase == schedulingv1alpha1.ReservationAvailable && c.Reservation.Node == target &&
		len(c.Reservation.Users) == 0 && c.Node != nil && c.Node.Ready && !c.Node.Unschedulable
}

func (c *cluster) evict(action Action, until interruption) {
	switch {
	case action.UID != podUID:
		c.Violated = fmt.Sprintf("pod %q is evicted, the job is for %q", action.UID, podUID)
	case c.Job.Spec.Mode != schedulingv1alpha1.PodMigrationJobModeEvictionDirectly && !c.reserved() && !c.surged() && !c.Pod.Finished:
		c.Violated = "the pod is evicted without a home"
	case extension.MustReplaceFirst(c.Job.Annotations) && !c.surged():
		c.Violated = "the pod is evicted before it is replaced"
	case c.Job.Spec.Paused:
		c.Violated = "the pod is evicted although the job is paused"
	case !extension.HasPassedArbitration(c.Job.Annotations):
		c.Violated = "the pod is evicted although the arbitrator did not let the job start"
	case Finished(c.Job):
		c.Violated = "the pod is evicted by a job that has ended"
	}
	attempt := Attempt{Accepted: true, Policy: action.Policy}
	switch {
	case until == refused:
		attempt = Attempt{Disrupted: true, Message: "would violate the budget"}
	case action.Policy == RequestEviction:
		c.request()
	case c.Refusal == "" && c.Request.open():
		c.Violated = "the pod is evicted although an EvictionRequest asks for that already"
	}
	if until != refused && action.Policy != RequestEviction && c.Pod != nil && c.Pod.UID == action.UID {
		c.Pod.Terminating = true
	}
	if until != lostAnswer {
		c.Job.Status = EvictionTried(c.Job, attempt, c.now())
	}
}

// start is a job that was just created.
func start(mode schedulingv1alpha1.PodMigrationJobMode) cluster {
	return cluster{
		Job: &schedulingv1alpha1.PodMigrationJob{
			ObjectMeta: metav1.ObjectMeta{Name: "job", UID: jobUID, CreationTimestamp: metav1.NewTime(created)},
			Spec: schedulingv1alpha1.PodMigrationJobSpec{
				Mode: mode, TTL: &metav1.Duration{Duration: ttlTicks * tick}, PodRef: &corev1.ObjectReference{Namespace: "default", Name: "pod", UID: podUID},
			},
		},
		Pod:  &Pod{UID: podUID, Node: home, Controlled: true, Scheduler: "koord-scheduler"},
		Node: &Node{Ready: true},
	}
}

func pendingPod() cluster {
	c := start(schedulingv1alpha1.PodMigrationJobModeReservationFirst)
	c.Pod.Node = ""
	return c
}

func foreignReservation() cluster {
	c := start(schedulingv1alpha1.PodMigrationJobModeReservationFirst)
	c.Job.Spec.ReservationOptions = &schedulingv1alpha1.PodMigrateReservationOptions{ReservationRef: &corev1.ObjectReference{Name: "theirs"}}
	c.Reservation = &Reservation{Name: "theirs", UID: "theirs"}
	return c
}

func preempting() cluster {
	c := start(schedulingv1alpha1.PodMigrationJobModeReservationFirst)
	c.Job.Spec.ReservationOptions = &schedulingv1alpha1.PodMigrateReservationOptions{PreemptionOptions: &schedulingv1alpha1.PodMigrationJobPreemptionOptions{}}
	return c
}

func TestEveryReachableStateOfAJobKeepsItsPromises(t *testing.T) {
	for name, from := range map[string]cluster{
		"ReservationFirst":        start(schedulingv1alpha1.PodMigrationJobModeReservationFirst),
		"EvictDirectly":           start(schedulingv1alpha1.PodMigrationJobModeEvictionDirectly),
		"a pod without a node":    pendingPod(),
		"a reservation of others": foreignReservation(),
		"preemption":              preempting(),
		"surge":                   surging(),
		"surge, never after":      surgingOnly(),
		"eviction request":        requesting(start(schedulingv1alpha1.PodMigrationJobModeEvictionDirectly)),
	} {
		t.Run(name, func(t *testing.T) { explore(t, from, 1) })
	}
}

// TestAnEvictionRequestKeepsThePromisesWithAReservation is the same for a job that has a Reservation and an EvictionRequest.
func TestAnEvictionRequestKeepsThePromisesWithAReservation(t *testing.T) {
	if testing.Short() {
		t.Skip("visits a hundred thousand states")
	}
	explore(t, requesting(start(schedulingv1alpha1.PodMigrationJobModeReservationFirst)), 1)
}

// TestTwoFaultsInOneJob is the same with two faults on each path, for the mode that does the most.
func TestTwoFaultsInOneJob(t *testing.T) {
	if testing.Short() {
		t.Skip("visits a hundred thousand states")
	}
	explore(t, start(schedulingv1alpha1.PodMigrationJobModeReservationFirst), 2)
}

// explore visits every state that is reachable with a number of faults, breadth first, and checks each.
func explore(t *testing.T, from cluster, maxFaults int) {
	args, all := DefaultArgs(), events()
	type visit struct {
		parent *visit
		by     string
		cluster
	}
	path := func(v *visit) string {
		var names []string
		for ; v != nil; v = v.parent {
			names = append([]string{v.by}, names...)
		}
		return strings.Join(names, "\n  ")
	}
	seen, queue := map[string]bool{from.key(t): true}, []*visit{{by: "start", cluster: from}}
	phases := map[schedulingv1alpha1.PodMigrationJobPhase]int{}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		phases[at.Job.Status.Phase]++
		if len(seen) > maxStates {
			t.Fatalf("more than %d states: something grows although no time passes:\n  %s", maxStates, path(at))
		}
		if broken := promises(at.cluster, args); broken != "" {
			t.Fatalf("%s:\n  %s\n%+v\n%+v", broken, path(at), at.cluster, at.Job.Status)
		}
		reach := func(by string, next cluster) {
			if key := next.key(t); !seen[key] {
				seen[key] = true
				queue = append(queue, &visit{parent: at, by: by, cluster: next})
			}
		}
		for i, name := range []string{"step", "step, killed after the spec", "step, killed after the status", "step, the answer is lost", "step, the eviction is refused"} {
			reach(name, at.step(args, interruption(i)))
		}
		if Finished(at.Job) && at.Reservation == nil && !at.asked() {
			continue // nothing is left to be done
		}
		for _, event := range all {
			next := at.clone()
			if event.fault {
				next.Faults++
			}
			if next.Faults <= maxFaults && event.do(&next) {
				reach(event.name, next)
			}
		}
	}
	t.Logf("%d states: %v", len(seen), phases)
	for _, phase := range []schedulingv1alpha1.PodMigrationJobPhase{
		schedulingv1alpha1.PodMigrationJobSucceeded, schedulingv1alpha1.PodMigrationJobFailed, schedulingv1alpha1.PodMigrationJobAborted,
	} {
		if phases[phase] == 0 {
			t.Errorf("no job ends as %s", phase)
		}
	}
}

// promises checks one state; the result is empty when all are kept.
func promises(c cluster, args *Args) string {
	if c.Violated != "" {
		return c.Violated
	}
	now := c.now()
	if latest := Latest(c.Job); latest.After(now) {
		now = latest
	}
	verdict := Decide(c.input(args), nil)
	if traced := Decide(c.input(args), &Trace{}); !reflect.DeepEqual(verdict, traced) {
		return "the verdict differs with a trace"
	}
	if !Finished(c.Job) {
		latest := Deadline(c.Job, args)
		if latest.Before(now) {
			latest = now
		}
		if verdict.RequeueAt.IsZero() || verdict.RequeueAt.After(latest) {
			return "the job is not looked at again at its deadline"
		}
	}
	settled, ok := settle(c, args)
	if !ok {
		return "the controller does not come to rest although no time passes"
	}
	if settled.Violated != "" {
		return settled.Violated
	}
	settled.Ticks = ttlTicks + 3
	if settled, ok = settle(settled, args); !ok || !Finished(settled.Job) {
		return "the job has not ended after its deadline"
	}
	if settled.Violated != "" {
		return settled.Violated
	}
	if pod := settled.Pod; pod != nil && pod.DetachedBy != "" && !pod.Terminating {
		return fmt.Sprintf("the job ended as %s, and its pod is left without its ReplicaSet", settled.Job.Status.Phase)
	}
	if settled.asked() {
		return fmt.Sprintf("the job ended as %s, and its pod is still requested to be evicted", settled.Job.Status.Phase)
	}
	if left := settled.Reservation; left != nil && left.Owned && (settled.Job.Status.Phase != schedulingv1alpha1.PodMigrationJobSucceeded || !left.bound()) {
		return fmt.Sprintf("the job ended as %s, and its reservation is left", settled.Job.Status.Phase)
	}
	return ""
}

// settle lets the controller work while nothing else happens and no time passes.
func settle(c cluster, args *Args) (cluster, bool) {
	for range 10 {
		verdict := Decide(c.input(args), nil)
		next := c.step(args, whole)
		if reflect.DeepEqual(next, c) {
			return next, verdict.Action.Kind != EvictPod || c.Pod == nil
		}
		c = next
	}
	return c, false
}
