package integration

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/test/invariants"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestGangsAndReservationsHoldWhateverFails kills the scheduler and the API server while gangs and reservations come and go.
func TestGangsAndReservationsHoldWhateverFails(t *testing.T) {
	const name, gangPool, reservedPool = "it-crashes", "crash-gangs", "crash-reserved"
	watcher := observe(t)
	gangNodes, reservedNodes := machines(t, gangPool, 3), machines(t, reservedPool, 3)
	own := startScheduler(t, name)
	// The gangs alive want more CPUs than there are, so that some wait for others.
	gangs := &gangStorm{namespace: space(t, "inv-crash-gangs"), pool: gangPool, scheduler: name, alive: 8}
	reservations := &reservationStorm{namespace: space(t, "inv-crash-reserved"), pool: reservedPool, scheduler: name, alive: 8}
	reservations.clean(t)
	reserved := func() int { return watcher.Seen().Reserved }
	stop := background(t, gangs.run, reservations.run)
	some := func() {
		t.Helper()
		awaitGangs(t, watcher, 4)
		awaitReserved(t, reserved, 6)
	}
	some()
	own.kill(t)
	some()
	kill(t, "kube-apiserver")
	some()
	stop()
	gangs.leave(t, 3)
	awaitAllBound(t, patience, gangs.namespace)
	awaitAllBound(t, patience, reservations.namespace)
	agrees(t, watcher, own, gangs.namespace, gangNodes)
	agrees(t, watcher, own, reservations.namespace, reservedNodes)
	toTheLastCPU(t, gangNodes, gangPool, own.places)
}

// bindings has a proxy pass the first bindings of each gang, by the names of its members, and keep the others.
type bindings struct {
	mutex  sync.Mutex
	passed map[string]int
	held   map[string]bool
	pass   int
}

func (b *bindings) decide(r *http.Request) fate {
	name, isBinding := strings.CutSuffix(r.URL.Path, "/binding")
	if r.Method != http.MethodPost || !isBinding {
		return pass
	}
	member := path.Base(name)
	gang := member[:strings.LastIndexByte(member, '-')]
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.passed[gang] < b.pass {
		b.passed[gang]++
		return pass
	}
	b.held[member] = true
	return hold
}

func (b *bindings) waiting() int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return len(b.held)
}

func TestAGangBoundInPartGoesOnAfterACrash(t *testing.T) {
	const pool = "gang-crash"
	watcher := observe(t)
	names := machines(t, pool, 3)
	namespace := space(t, "inv-gang-crash")
	middle, kubeconfig := startProxy(t)
	own := startScheduler(t, "it-gang-crash", through(kubeconfig))
	plain := gang{namespace: namespace, pool: pool, scheduler: own.name, name: "strict", members: 3, minimum: 3, cpus: 2, mode: extension.GangModeStrict}
	byPods, lax, left, right := plain, plain, plain, plain
	byPods.name, byPods.byPods = "by-pods", true
	lax.name, lax.mode = "lax", extension.GangModeNonStrict
	left.name, left.byPods, left.group = "left", true, []string{"left", "right"}
	right.name, right.byPods, right.group = "right", true, left.group
	gangs := []gang{plain, byPods, lax, left, right}

	half := &bindings{passed: map[string]int{}, held: map[string]bool{}, pass: 1}
	middle.rule(half.decide)
	mustSubmitGangs(t, gangs...)
	sandboxtest.Eventually(t, patience, func() error {
		if got, want := half.waiting(), 2*len(gangs); got != want {
			return fmt.Errorf("%d bindings are kept, want %d", got, want)
		}
		return nil
	})
	awaitBound(t, patience, namespace, len(gangs), 2*len(gangs))
	own.kill(t)
	middle.cut()
	middle.rule(nil)
	awaitBound(t, invariants.GangGrace, namespace, 3*len(gangs), 0)
	agrees(t, watcher, own, namespace, names)
	if part := watcher.Seen().LongestPart; part == 0 {
		t.Error("no gang was seen to be bound in part")
	}
}

func TestAReservationAllocatedOnceHasOneOwnerThroughCrashes(t *testing.T) {
	const pool = "reservation-once"
	watcher := observe(t)
	names := machines(t, pool, 1)
	namespace := space(t, "inv-reservation-once")
	middle, kubeconfig := startProxy(t)
	own := startScheduler(t, "it-once", through(kubeconfig))
	once := reserving(own.places(demand(namespace, "r", pool, "cpu", "4")), "it-once-crash", "once")
	once.Spec.AllocateOnce = new(true)
	reserve(t, once)
	awaitPhase(t, patience, once.Name, schedulingv1alpha1.ReservationAvailable, 0)

	// The owner is bound, and the scheduler ends before it can say so.
	middle.rule(func(r *http.Request) fate {
		if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/reservations/") {
			return hold
		}
		return pass
	})
	mustSubmit(t, owning(own.places(demand(namespace, "first", pool, "cpu", "2")), "once"))
	awaitBound(t, patience, namespace, 1, 0)
	own.kill(t)
	middle.cut()
	middle.rule(nil)
	mustSubmit(t, owning(own.places(demand(namespace, "second", pool, "cpu", "2")), "once"))
	awaitPhase(t, patience, once.Name, schedulingv1alpha1.ReservationSucceeded, 1)
	awaitBound(t, patience, namespace, 2, 0)
	second, err := client.CoreV1().Pods(namespace).Get(t.Context(), "second", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if text := second.Annotations[extension.AnnotationReservationAllocated]; text != "" {
		t.Errorf("the second owner uses %s", text)
	}
	agrees(t, watcher, own, namespace, names)
}
