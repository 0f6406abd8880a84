package integration

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/test/invariants"
	"koordinator.sh/koord/test/sandboxtest"
)

// awaitBindings waits until so many more pods were bound.
func awaitBindings(t *testing.T, watcher *invariants.Watcher, more int) {
	t.Helper()
	before := watcher.Seen().Bindings
	sandboxtest.Eventually(t, patience, func() error {
		if got := watcher.Seen().Bindings - before; got < more {
			return fmt.Errorf("%d pods were bound, want %d", got, more)
		}
		return nil
	})
}

// awaitPending waits until so many pods of a namespace are pending.
func awaitPending(t *testing.T, namespace string, want int) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		_, pending, err := boundIn(t.Context(), namespace)
		if err == nil && len(pending) < want {
			err = fmt.Errorf("%d pods of %s are pending, want %d", len(pending), namespace, want)
		}
		return err
	})
}

// refusals counts the requests that a proxy refuses, so that a test can wait for the scheduler to try something in vain.
type refusals struct {
	mutex   sync.Mutex
	refused int
}

func (s *refusals) refuseAll(*http.Request) fate {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.refused++
	return refuse
}

func (s *refusals) await(t *testing.T, want int) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if s.refused < want {
			return fmt.Errorf("%d requests were refused, want %d", s.refused, want)
		}
		return nil
	})
}

// TestConnectionsMayBreak cuts the scheduler's connections while it works, keeps back what its watches say while its
// requests are answered, and refuses its requests for a while.
func TestConnectionsMayBreak(t *testing.T) {
	const name, cpuPool, gpuPool, alive, rounds = "it-broken", "broken-cpus", "broken-gpus", 5, 3
	watcher := observe(t)
	nodes, gpuNodes := machines(t, cpuPool, 2), gpuMachines(t, gpuPool, churnGPUNodes)
	cpus, gpus := space(t, "inv-broken-cpus"), space(t, "inv-broken-gpus")
	elastic(t, cpus, cpus, "", "4", "40")
	middle, kubeconfig := startProxy(t)
	own := startScheduler(t, name, through(kubeconfig))
	reservations := &reservationStorm{namespace: space(t, "inv-broken-reserved"), pool: gpuPool, scheduler: name, alive: 5}
	reservations.clean(t)
	stop := background(t, churn{cpus, cpuPool, alive, corePod, "cpu"}.placedBy(name).run, churn{gpus, gpuPool, alive, gpuPod, "gpu"}.placedBy(name).run, reservations.run)
	awaitBindings(t, watcher, 5)
	for range rounds {
		middle.cut()
		awaitBindings(t, watcher, 5)
		middle.stall()
		awaitPending(t, cpus, 3) // pods that the scheduler does not hear of
		middle.resume()
		awaitBindings(t, watcher, 5)
		refusing := &refusals{}
		middle.rule(refusing.refuseAll)
		refusing.await(t, 3)
		middle.rule(nil)
		awaitBindings(t, watcher, 5)
	}
	stop()
	awaitBound(t, patience, cpus, alive, 0)
	awaitBound(t, patience, gpus, alive, 0)
	awaitAllBound(t, patience, reservations.namespace)
	agrees(t, watcher, own, cpus, nodes)
	agrees(t, watcher, own, gpus, gpuNodes)
	toTheLastCPU(t, nodes, cpuPool, own.places)
}

// unanswered has a proxy keep writes whose path ends in some way until it is opened, and then send them on and answer none.
type unanswered struct {
	mutex  sync.Mutex
	suffix string
	kept   map[string]bool
	opened chan struct{}
}

func (u *unanswered) decide(r *http.Request) fate {
	if r.Method == http.MethodGet || !strings.HasSuffix(r.URL.Path, u.suffix) {
		return pass
	}
	u.mutex.Lock()
	u.kept[r.URL.Path] = true
	u.mutex.Unlock()
	<-u.opened
	return lose
}

func (u *unanswered) await(t *testing.T, want int) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		u.mutex.Lock()
		defer u.mutex.Unlock()
		if len(u.kept) < want {
			return fmt.Errorf("%d writes are kept, want %d", len(u.kept), want)
		}
		return nil
	})
}

// TestBindingsWhoseOutcomeIsUnknown has bindings succeed without a response to the scheduler, and what its watches say kept
// back: what a pod was given must not be given to the one that waits for it.
func TestBindingsWhoseOutcomeIsUnknown(t *testing.T) {
	const name, pool, pods = "it-unknown", "unknown", 7
	watcher := observe(t)
	names := gpuMachines(t, pool, 1)
	namespace := space(t, "inv-unknown")
	middle, kubeconfig := startProxy(t)
	own := startScheduler(t, name, through(kubeconfig))
	pod := func(name string) *corev1.Pod {
		return own.places(binding(demand(namespace, name, pool, "cpu", "2", "koordinator.sh/gpu", "50"), ""))
	}
	lost := &unanswered{suffix: "/binding", kept: map[string]bool{}, opened: make(chan struct{})}
	middle.rule(lost.decide)
	for i := range pods {
		mustSubmit(t, pod(fmt.Sprintf("first-%d", i)))
	}
	lost.await(t, pods)
	for i := range pods {
		mustSubmit(t, pod(fmt.Sprintf("next-%d", i)))
		decided(t, namespace, fmt.Sprintf("next-%d", i))
	}
	middle.stall()
	middle.rule(nil)
	close(lost.opened)
	awaitBound(t, patience, namespace, pods, pods)
	// The answer is lost; what became of the pods can be read.
	sandboxtest.Eventually(t, patience, func() error {
		status, err := own.explain(t.Context(), namespace, "next-0")
		if err == nil && status.Status.Verdict != diagnosticsv1alpha1.PodUnschedulable {
			err = fmt.Errorf("next-0 is %s", status.Status.Verdict)
		}
		return err
	})
	middle.resume()
	agrees(t, watcher, own, namespace, names)
	awaitBound(t, time.Second, namespace, pods, pods)
	for i := range pods {
		if err := remove(t.Context(), namespace, fmt.Sprintf("first-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	awaitBound(t, patience, namespace, pods, 0)
	agrees(t, watcher, own, namespace, names)
}

// TestReservationsWhosePlacementIsUnknown has the placement of a Reservation succeed without a response to the scheduler: its
// room must not be given to the pod that waits for it.
func TestReservationsWhosePlacementIsUnknown(t *testing.T) {
	const name, pool = "it-placement", "placement"
	watcher := observe(t)
	names := machines(t, pool, 1)
	namespace := space(t, "inv-placement")
	middle, kubeconfig := startProxy(t)
	own := startScheduler(t, name, through(kubeconfig))
	pod := func(name string) *corev1.Pod {
		return own.places(binding(demand(namespace, name, pool, "cpu", "14"), ""))
	}
	lost := &unanswered{suffix: "/it-unknown-placement/status", kept: map[string]bool{}, opened: make(chan struct{})}
	middle.rule(lost.decide)
	reserve(t, reserving(pod("r"), "it-unknown-placement", "owner"))
	lost.await(t, 1)
	mustSubmit(t, pod("next"))
	decided(t, namespace, "next")
	middle.stall()
	middle.rule(nil)
	close(lost.opened)
	awaitPhase(t, patience, "it-unknown-placement", schedulingv1alpha1.ReservationAvailable, 0)
	mustSubmit(t, owning(pod("owner"), "owner"))
	sandboxtest.Eventually(t, patience, func() error {
		status, err := own.explain(t.Context(), namespace, "next")
		if err == nil && status.Status.Verdict != diagnosticsv1alpha1.PodUnschedulable {
			err = fmt.Errorf("next is %s", status.Status.Verdict)
		}
		return err
	})
	middle.resume()
	awaitBound(t, patience, namespace, 1, 1)
	agrees(t, watcher, own, namespace, names)
	if got := watcher.Seen().Reserved; got != 1 {
		t.Errorf("%d pods were seen to use reservations, want 1", got)
	}
}
