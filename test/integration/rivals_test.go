package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
)

// bindTo binds a pod as any scheduler may. That another one was faster is no error.
func bindTo(ctx context.Context, namespace, name, node string) error {
	err := client.CoreV1().Pods(namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// contest starts a gang of two, binds one of them to a node as somebody else would, and ends an old gang. The pods own no
// CPUs, so that who binds them need not know what to allocate.
func contest(ctx context.Context, namespace, pool, scheduler, node string, i int) error {
	pair := func(i int) gang {
		return gang{namespace: namespace, name: fmt.Sprintf("gang-%03d", i), pool: pool, scheduler: scheduler, members: 2, minimum: 2, byPods: i%2 == 0, mode: extension.GangModeStrict, cpus: 1}
	}
	g := pair(i)
	if !g.byPods {
		if err := insist(ctx, podGroupResource, g.podGroup()); err != nil {
			return err
		}
	}
	for k := range g.members {
		pod := g.member(k)
		delete(pod.Labels, extension.LabelPodQoS)
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}}
		if err := submit(ctx, pod); err != nil {
			return err
		}
		if k != i%g.members {
			continue
		}
		if err := bindTo(ctx, namespace, pod.Name, node); err != nil {
			return err
		}
	}
	if i < 6 {
		return nil
	}
	return pair(i - 6).remove(ctx)
}

// TestOtherWritersAreHeeded has somebody else bind the pods that the scheduler is placing, members of gangs among them, delete
// pods the moment they get a node, change the annotations of others, and run other pods on the nodes.
func TestOtherWritersAreHeeded(t *testing.T) {
	const name, pool = "it-rivals", "rivals"
	watcher := observe(t)
	names := machines(t, pool, 4)
	namespace, others := space(t, "inv-rivals"), space(t, "inv-rivals-cpus")
	own := startScheduler(t, name)
	contested := func(ctx context.Context, stop <-chan struct{}) error {
		return storm(ctx, stop, 100*time.Millisecond, func(i int) error { return contest(ctx, namespace, pool, name, names[i%len(names)], i) })
	}
	// Pods with CPUs, deleted when they get a node, and annotated while they wait for it.
	fleeting := func(ctx context.Context, stop <-chan struct{}) error {
		return storm(ctx, stop, 50*time.Millisecond, func(i int) error {
			pod := own.places(binding(demand(others, fmt.Sprintf("fleeting-%03d", i), pool, "cpu", "4"), ""))
			if err := submit(ctx, pod); err != nil {
				return err
			}
			patch := fmt.Sprintf(`{"metadata":{"annotations":{"integration.koordinator.sh/step":"%d"}}}`, i)
			if _, err := client.CoreV1().Pods(others).Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				return err
			}
			if i < 2 {
				return nil
			}
			return remove(ctx, others, fmt.Sprintf("fleeting-%03d", i-2))
		})
	}
	stop := background(t, contested, fleeting)
	awaitGangs(t, watcher, 25)
	stop()
	awaitAllBound(t, patience, namespace)
	agrees(t, watcher, own, namespace, names)
	toTheLastCPU(t, names, pool, own.places)
}

// TestGangsAndReservationsMayChangeUnderLoad edits PodGroups and Reservations while the scheduler places their pods.
func TestGangsAndReservationsMayChangeUnderLoad(t *testing.T) {
	const name, pool, reservedPool = "it-changes", "changes", "changes-reserved"
	watcher := observe(t)
	names, reservedNames := machines(t, pool, 3), machines(t, reservedPool, 2)
	namespace := space(t, "inv-changes")
	own := startScheduler(t, name)
	gangs := &gangStorm{namespace: namespace, pool: pool, scheduler: name, alive: 5}
	reservations := &reservationStorm{namespace: space(t, "inv-changes-reserved"), pool: reservedPool, scheduler: name, alive: 6}
	reservations.clean(t)
	patches := func(ctx context.Context, stop <-chan struct{}) error {
		return storm(ctx, stop, 40*time.Millisecond, func(i int) error {
			if err := changeGroup(ctx, namespace, i); err != nil {
				return err
			}
			return changeReservation(ctx, i)
		})
	}
	stop := background(t, gangs.run, reservations.run, patches)
	awaitGangs(t, watcher, 12)
	awaitReserved(t, func() int { return watcher.Seen().Reserved }, 12)
	stop()
	for _, g := range gangs.last {
		if g.byPods {
			continue
		}
		// What a storm of edits left is set right, and then enough.
		if err := edited(t.Context(), podGroupResource, namespace, g.name, fmt.Sprintf(`{"spec":{"minMember":%d}}`, g.minimum)); err != nil {
			t.Fatal(err)
		}
	}
	gangs.leave(t, 2)
	awaitAllBound(t, patience, namespace)
	awaitAllBound(t, patience, reservations.namespace)
	agrees(t, watcher, own, namespace, names)
	agrees(t, watcher, own, reservations.namespace, reservedNames)
}

// edits of PodGroups and of Reservations.
var (
	podGroupEdits = []string{
		`{"spec":{"minMember":1}}`, `{"spec":{"minMember":4}}`, `{"spec":{"minMember":3}}`, `{"spec":{"scheduleTimeoutSeconds":1}}`,
		`{"metadata":{"annotations":{"` + extension.AnnotationGangMode + `":"NonStrict"}}}`, `{"spec":{"minMember":2}}`,
		`{"metadata":{"annotations":{"` + extension.AnnotationGangMatchPolicy + `":"waiting-and-running"}}}`,
	}
	// Every second one takes the one before it back.
	reservationEdits = []string{
		`{"spec":{"unschedulable":true}}`, `{"spec":{"unschedulable":false}}`,
		`{"spec":{"taints":[{"key":"integration.koordinator.sh/kept","effect":"NoSchedule"}]}}`, `{"spec":{"taints":null}}`,
		`{"metadata":{"labels":{"` + extension.LabelReservationOrder + `":"1"}}}`, `{"metadata":{"labels":{"` + extension.LabelReservationOrder + `":null}}}`,
	}
	// reservationEnds are made rarely, and not taken back.
	reservationEnds = []string{
		`{"spec":{"owners":[{"labelSelector":{"matchLabels":{"` + ownerLabel + `":"nobody"}}}]}}`, `{"spec":{"ttl":"1s"}}`, `{"spec":{"expires":"2026-01-01T00:00:00Z"}}`,
	}
)

// changeGroup makes the i-th edit of the latest PodGroup of a namespace. Sometimes it is gone for a moment.
func changeGroup(ctx context.Context, namespace string, i int) error {
	groups, err := dynamicClient.Resource(podGroupResource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil || len(groups.Items) == 0 {
		return err
	}
	group := groups.Items[len(groups.Items)-1]
	if i%20 != 19 {
		return edited(ctx, podGroupResource, namespace, group.GetName(), podGroupEdits[i%len(podGroupEdits)])
	}
	if err := withdraw(ctx, podGroupResource, namespace, group.GetName()); err != nil {
		return err
	}
	group.SetResourceVersion("")
	group.SetUID("")
	return insist(ctx, podGroupResource, &group)
}

// changeReservation makes the i-th edit of a Reservation, each of them in turn.
func changeReservation(ctx context.Context, i int) error {
	list, err := dynamicClient.Resource(reservationResource).List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) == 0 {
		return err
	}
	one := list.Items[i/2%len(list.Items)].GetName()
	if i%30 == 29 {
		return edited(ctx, reservationResource, "", one, reservationEnds[i/30%len(reservationEnds)])
	}
	return edited(ctx, reservationResource, "", one, reservationEdits[i%len(reservationEdits)])
}

// edited patches a PodGroup or a Reservation, if it is there.
func edited(ctx context.Context, kind schema.GroupVersionResource, namespace, name, patch string) error {
	_, err := dynamicClient.Resource(kind).Namespace(namespace).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
