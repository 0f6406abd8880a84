package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/test/invariants"
	"koordinator.sh/koord/test/sandboxtest"
)

var podGroupResource = schedulingsigsv1alpha1.GroupVersion.WithResource("podgroups")

// gang is a group of pods that a test wants to start together.
type gang struct {
	namespace, name  string
	pool, scheduler  string
	members, minimum int
	// byPods has the members bring the rules in annotations; a PodGroup does otherwise.
	byPods bool
	mode   extension.GangMode
	// group are the names of the gangs that start with it, itself among them.
	group []string
	// cpus that each member owns.
	cpus int
}

// gangWait is how long members wait for each other.
const gangWait = 3 * time.Second

func (g gang) rules() map[string]string {
	rules := map[string]string{extension.AnnotationGangMode: string(g.mode)}
	if g.byPods {
		rules[extension.AnnotationGangName], rules[extension.AnnotationGangMinAvailable] = g.name, fmt.Sprint(g.minimum)
		rules[extension.AnnotationGangWaitingTime] = gangWait.String()
	}
	if len(g.group) > 0 {
		var names []string
		for _, name := range g.group {
			names = append(names, g.namespace+"/"+name)
		}
		text, _ := json.Marshal(names) // plain strings
		rules[extension.AnnotationGangGroups] = string(text)
	}
	return rules
}

func (g gang) member(i int) *corev1.Pod {
	pod := binding(demand(g.namespace, fmt.Sprintf("%s-%d", g.name, i), g.pool, "cpu", fmt.Sprint(g.cpus)), "")
	if g.scheduler != "" {
		pod.Spec.SchedulerName = g.scheduler
	}
	if g.byPods {
		pod.Annotations = g.rules()
	} else {
		pod.Labels[extension.LabelPodGroup] = g.name
	}
	return pod
}

func (g gang) podGroup() *schedulingsigsv1alpha1.PodGroup {
	return &schedulingsigsv1alpha1.PodGroup{
		TypeMeta:   metav1.TypeMeta{APIVersion: schedulingsigsv1alpha1.GroupVersion.String(), Kind: "PodGroup"},
		ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: g.name, Annotations: g.rules()},
		Spec:       schedulingsigsv1alpha1.PodGroupSpec{MinMember: int32(g.minimum), ScheduleTimeoutSeconds: new(int32(gangWait / time.Second))},
	}
}

// submit creates the gang, through outages.
func (g gang) submit(ctx context.Context) error {
	if !g.byPods {
		if err := insist(ctx, podGroupResource, g.podGroup()); err != nil {
			return err
		}
	}
	for i := range g.members {
		if err := submit(ctx, g.member(i)); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes the gang, through outages.
func (g gang) remove(ctx context.Context) error {
	for i := range g.members {
		if err := remove(ctx, g.namespace, g.member(i).Name); err != nil {
			return err
		}
	}
	if g.byPods {
		return nil
	}
	return withdraw(ctx, podGroupResource, g.namespace, g.name)
}

// mustSubmitGangs creates gangs and fails the test where that fails.
func mustSubmitGangs(t *testing.T, gangs ...gang) {
	t.Helper()
	for _, g := range gangs {
		if err := g.submit(t.Context()); err != nil {
			t.Fatalf("create gang %s/%s: %v", g.namespace, g.name, err)
		}
	}
}

// storm repeats a step until it is stopped.
func storm(ctx context.Context, stop <-chan struct{}, pace time.Duration, step func(i int) error) error {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for i := 0; ; i++ {
		if err := step(i); err != nil {
			return err
		}
		select {
		case <-stop:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// background runs storms until the function that it returns is called, which fails the test where one failed.
func background(t *testing.T, storms ...func(ctx context.Context, stop <-chan struct{}) error) (stop func()) {
	t.Helper()
	ended, failures := make(chan struct{}), make(chan error, len(storms))
	var running sync.WaitGroup
	for _, s := range storms {
		running.Go(func() { failures <- s(t.Context(), ended) })
	}
	return func() {
		t.Helper()
		close(ended)
		running.Wait()
		for range storms {
			if err := <-failures; err != nil {
				t.Fatal(err)
			}
		}
	}
}

// gangStorm starts gangs of all kinds and ends old ones. Of every fifth a member is deleted at once, wherever it is.
type gangStorm struct {
	namespace, pool, scheduler string
	alive                      int
	// last are the gangs that are left when it stopped.
	last []gang
}

func (s *gangStorm) run(ctx context.Context, stop <-chan struct{}) error {
	random := rand.New(rand.NewPCG(11, 12))
	return storm(ctx, stop, 200*time.Millisecond, func(i int) error {
		for _, g := range s.next(random, i) {
			if err := g.submit(ctx); err != nil {
				return fmt.Errorf("create gang %s: %w", g.name, err)
			}
			if i%5 == 4 {
				if err := remove(ctx, g.namespace, g.member(random.IntN(g.members)).Name); err != nil {
					return err
				}
			}
			s.last = append(s.last, g)
		}
		for len(s.last) > s.alive {
			if err := s.last[0].remove(ctx); err != nil {
				return fmt.Errorf("delete gang %s: %w", s.last[0].name, err)
			}
			s.last = s.last[1:]
		}
		return nil
	})
}

// next is a gang by PodGroup or by annotations, Strict or not, or two that start together. Of every fifth a member may go.
func (s *gangStorm) next(random *rand.Rand, i int) []gang {
	g := gang{
		namespace: s.namespace, pool: s.pool, scheduler: s.scheduler, name: fmt.Sprintf("gang-%03d", i),
		members: 3 + random.IntN(2), minimum: 3, cpus: 2, byPods: i%2 == 1, mode: extension.GangModeStrict,
	}
	if i%5 == 4 {
		g.members = 4
	}
	if i%3 == 2 {
		g.mode = extension.GangModeNonStrict
	}
	if i%4 != 3 {
		return []gang{g}
	}
	other := g
	other.name += "-b"
	g.group = []string{g.name, other.name}
	other.group = g.group
	return []gang{g, other}
}

// leave removes all gangs but the last ones, so that there is room for what is left. Gangs that start together go together: one
// that waits for a gang that was removed would wait for ever.
func (s *gangStorm) leave(t *testing.T, gangs int) {
	t.Helper()
	first := len(s.last) - gangs
	for first < len(s.last) && len(s.last[first].group) > 0 && s.last[first].group[0] != s.last[first].name {
		first++
	}
	for _, g := range s.last[:first] {
		if err := g.remove(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.last = s.last[first:]
}

// awaitGangs waits until so many gangs became whole.
func awaitGangs(t *testing.T, watcher *invariants.Watcher, more int) {
	t.Helper()
	before := watcher.Seen().Gangs
	sandboxtest.Eventually(t, patience, func() error {
		if whole := watcher.Seen().Gangs - before; whole < more {
			return fmt.Errorf("%d gangs became whole, want %d", whole, more)
		}
		return nil
	})
}

// awaitAllBound waits until no pod of a namespace is pending.
func awaitAllBound(t *testing.T, within time.Duration, namespace string) {
	t.Helper()
	sandboxtest.Eventually(t, within, func() error {
		bound, pending, err := boundIn(t.Context(), namespace)
		if err == nil && (len(pending) > 0 || len(bound) == 0) {
			err = fmt.Errorf("%s: %d pods are bound and %d pending%s", namespace, len(bound), len(pending), why(pending))
		}
		return err
	})
}

func TestMembersThatGoWhileTheyWait(t *testing.T) {
	const pool = "gang-waiting"
	watcher := observe(t)
	names := machines(t, pool, 1)
	namespace := space(t, "inv-gang-waiting")
	own := startScheduler(t, "it-gang-waiting")
	// The members hold a node each until all of them do: the sixth would need more CPUs than there are.
	g := gang{namespace: namespace, pool: pool, scheduler: own.name, name: "six", members: 6, minimum: 6, cpus: 2, mode: extension.GangModeNonStrict}
	blocker := own.places(binding(demand(namespace, "blocker", pool, "cpu", "4"), ""))
	mustSubmit(t, blocker)
	awaitBound(t, patience, namespace, 1, 0)
	mustSubmitGangs(t, g)
	decided(t, namespace, "six-5")
	for i := range 3 {
		if err := remove(t.Context(), namespace, g.member(i).Name); err != nil {
			t.Fatal(err)
		}
	}
	// What they held is free at once, although the others wait on.
	mustSubmit(t, own.places(binding(demand(namespace, "next", pool, "cpu", "4"), "")))
	awaitBound(t, patience, namespace, 2, 3)
	for i := range 3 {
		mustSubmit(t, g.member(i))
	}
	if err := remove(t.Context(), namespace, "next"); err != nil {
		t.Fatal(err)
	}
	if err := remove(t.Context(), namespace, blocker.Name); err != nil {
		t.Fatal(err)
	}
	awaitBound(t, patience, namespace, 6, 0)
	agrees(t, watcher, own, namespace, names)
	toTheLastCPU(t, names, pool, own.places)
}

// TestAGangThatLacksRoomForOneMemberDoesNotStart has gangs of eight on machines with room for seven.
func TestAGangThatLacksRoomForOneMemberDoesNotStart(t *testing.T) {
	watcher := observe(t)
	namespace := space(t, "inv-gang-short")
	own := startScheduler(t, "it-gang-short")
	var gangs []gang
	for _, mode := range []extension.GangMode{extension.GangModeStrict, extension.GangModeNonStrict} {
		for _, byPods := range []bool{false, true} {
			pool := fmt.Sprintf("gang-short-%d", len(gangs))
			machines(t, pool, 1)
			gangs = append(gangs, gang{
				namespace: namespace, name: pool, pool: pool, scheduler: own.name, members: 8, minimum: 8, cpus: 2, byPods: byPods, mode: mode,
			})
		}
	}
	mustSubmitGangs(t, gangs...)
	for _, g := range gangs {
		for i := range g.members { // those that wait for the last one are told when they have waited long enough
			decided(t, namespace, g.member(i).Name)
		}
	}
	awaitBound(t, time.Second, namespace, 0, len(gangs)*gangs[0].members)
	for _, g := range gangs {
		if err := remove(t.Context(), namespace, g.member(0).Name); err != nil {
			t.Fatal(err)
		}
		smaller := g.member(0)
		smaller.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}}
		delete(smaller.Labels, extension.LabelPodQoS)
		mustSubmit(t, smaller)
	}
	awaitAllBound(t, patience, namespace)
	sandboxtest.Eventually(t, patience, func() error {
		if got := watcher.Seen().Gangs; got != len(gangs) {
			return fmt.Errorf("%d gangs became whole, want %d", got, len(gangs))
		}
		return nil
	})
}
