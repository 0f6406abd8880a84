package simulation

import (
	"fmt"
	"math/rand/v2"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// steps that a world can take, by their weights.
var steps = []struct {
	weight int
	do     func(*world)
}{
	{180, (*world).createPod},
	{25, (*world).createGang},
	{220, (*world).decideSome},
	{150, (*world).deliverSome},
	{150, (*world).performSome},
	{50, (*world).deletePod},
	{30, (*world).endPod},
	{40, (*world).flush},
	{50, func(w *world) { w.pass(time.Duration(1+w.random.IntN(1000)) * time.Millisecond) }},
	{8, func(w *world) { w.pass(time.Duration(5+w.random.IntN(40)) * time.Second) }},
	{2, func(w *world) { w.pass(time.Duration(5+w.random.IntN(10)) * time.Minute) }},
	{25, (*world).changeNode},
	{8, (*world).removeNode},
	{8, (*world).addNode},
	{12, (*world).changeDevice},
	{8, (*world).changeTopology},
	{25, (*world).measure},
	{30, (*world).createReservation},
	{12, (*world).deleteReservation},
	{15, (*world).changeQuota},
	{15, (*world).spoil},
	{12, (*world).cut},
	{6, (*world).restart},
	{4, (*world).jump},
}

func (w *world) step() {
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	draw := w.random.IntN(total)
	for _, s := range steps {
		if draw -= s.weight; draw < 0 {
			s.do(w)
			w.gather()
			break
		}
	}
	// Every step has its moment, so that no order depends on who was first in the same one.
	w.pass(time.Millisecond)
}

func pick[T any](random *rand.Rand, of []T) T { return of[random.IntN(len(of))] }

func (w *world) name(prefix string) string {
	w.number++
	return fmt.Sprintf("%s-%d", prefix, w.number)
}

// furnish makes what is there in the beginning.
func (w *world) furnish() {
	for range 2 + w.random.IntN(5) {
		w.addNode()
	}
	if w.random.IntN(2) == 0 {
		w.write(quotaKind, namespace+"/above", newQuota("above", "", "8", "20"))
		w.write(quotaKind, namespace+"/left", newQuota("left", "above", "2", "10"))
		w.write(quotaKind, namespace+"/right", newQuota("right", "above", "4", "14"))
	}
}

func (w *world) addNode() {
	name, gpus := w.name("node"), w.random.IntN(2) == 0
	w.note("node %s is added, with GPUs: %v", name, gpus)
	w.write(nodeKind, name, newNode(name, gpus))
	if w.random.IntN(10) > 0 {
		w.write(topologyKind, name, newTopology(name))
	}
	if gpus {
		w.write(deviceKind, name, newDevice(name))
	}
	w.write(metricKind, name, newMetric(name, "500m", w.store.now()))
}

func (w *world) some(k kind) *object {
	if all := w.store.list(k); len(all) > 0 {
		return pick(w.random, all)
	}
	return nil
}

func (w *world) changeNode() {
	found := w.some(nodeKind)
	if found == nil {
		return
	}
	edit(w, nodeKind, found.key, func(node *corev1.Node) {
		switch w.random.IntN(3) {
		case 0, 1:
			node.Spec.Unschedulable = !node.Spec.Unschedulable
			w.note("node %s unschedulable: %v", node.Name, node.Spec.Unschedulable)
		default:
			batch := pick(w.random, []string{"0", "1000", "3000", "6000"})
			node.Status.Allocatable["kubernetes.io/batch-cpu"] = amounts("x", batch)["x"]
			w.note("node %s has %s batch-cpu", node.Name, batch)
		}
	})
}

// removeNode takes a node away, and the pods on it, as their garbage collector does.
func (w *world) removeNode() {
	found := w.some(nodeKind)
	if found == nil || len(w.store.list(nodeKind)) < 2 {
		return
	}
	w.note("node %s is removed", found.key)
	for _, k := range []kind{nodeKind, topologyKind, deviceKind, metricKind} {
		w.remove(k, found.key)
	}
	for _, o := range w.store.list(podKind) {
		if into[corev1.Pod](o).Spec.NodeName == found.key {
			w.removePod(o)
		}
	}
}

func (w *world) changeDevice() {
	found := w.some(deviceKind)
	if found == nil {
		return
	}
	edit(w, deviceKind, found.key, func(device *schedulingv1alpha1.Device) {
		one := &device.Spec.Devices[w.random.IntN(len(device.Spec.Devices))]
		one.Health = !one.Health
		w.note("device %d of %s healthy: %v", *one.Minor, found.key, one.Health)
	})
}

func (w *world) changeTopology() {
	found := w.some(nodeKind)
	if found == nil {
		return
	}
	if w.store.get(topologyKind, found.key) == nil {
		w.note("topology of %s is known", found.key)
		w.write(topologyKind, found.key, newTopology(found.key))
		return
	}
	edit(w, topologyKind, found.key, func(report *topologyv1alpha1.NodeResourceTopology) {
		report.TopologyPolicies = []string{pick(w.random, []string{"None", "SingleNUMANodeContainerLevel", "SingleNUMANodePodLevel", "Restricted", "BestEffort"})}
		w.note("topology of %s has policy %s", found.key, report.TopologyPolicies[0])
	})
}

func (w *world) measure() {
	found := w.some(nodeKind)
	if found == nil {
		return
	}
	ago := pick(w.random, []time.Duration{0, 0, 0, time.Minute, 10 * time.Minute, -time.Hour})
	cpu := pick(w.random, []string{"100m", "2", "7", "80", "-1"})
	w.note("node %s uses %s, %s ago", found.key, cpu, ago)
	w.write(metricKind, found.key, newMetric(found.key, cpu, w.store.now().Add(-ago)))
}

func (w *world) createReservation() {
	name := w.name("reservation")
	requests := pick(w.random, []corev1.ResourceList{
		amounts("cpu", "1", "memory", "1Gi"), amounts("cpu", "2", "memory", "4Gi"), amounts("cpu", "4", "memory", "2Gi"),
		amounts("cpu", "1", "memory", "1Gi", "koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory-ratio", "100"),
	})
	r := newReservation(name, requests, fmt.Sprint(w.random.IntN(3)))
	once := w.random.IntN(2) == 0
	r.Spec.AllocateOnce = &once
	r.Spec.AllocatePolicy = pick(w.random, []schedulingv1alpha1.ReservationAllocatePolicy{"", "Aligned", "Restricted"})
	if w.random.IntN(3) == 0 {
		r.Spec.TTL = &metav1.Duration{Duration: time.Duration(1+w.random.IntN(300)) * time.Second}
	}
	w.note("reservation %s of %v, once: %v, policy %q", name, requests, once, r.Spec.AllocatePolicy)
	w.write(reservationKind, name, r)
}

func (w *world) deleteReservation() {
	if found := w.some(reservationKind); found != nil {
		w.note("reservation %s is deleted", found.key)
		w.remove(reservationKind, found.key)
	}
}

func (w *world) changeQuota() {
	if w.store.get(quotaKind, namespace+"/left") == nil {
		return
	}
	name, maximum := pick(w.random, []string{"left", "right"}), pick(w.random, []string{"4", "6", "10", "16"})
	minimum := pick(w.random, []string{"1", "2", "4"})
	w.note("quota %s has min %s, max %s", name, minimum, maximum)
	w.write(quotaKind, namespace+"/"+name, newQuota(name, "above", minimum, maximum))
}

// decideSome lets the leader decide about some pods.
func (w *world) decideSome() {
	for range 1 + w.random.IntN(4) {
		if !w.decide(w.live) {
			return
		}
	}
}

func (w *world) decide(p *process) bool {
	if !p.decide() {
		return false
	}
	w.decisions++
	w.note("%s decides", p.client)
	w.gather()
	time.Sleep(100 * time.Microsecond)
	w.gather()
	return true
}

// deliverSome lets some watches of the leader see some of what happened.
func (w *world) deliverSome() {
	var held []*watch
	for _, open := range w.store.open(w.live.client) {
		if open.held() > 0 {
			held = append(held, open)
		}
	}
	if len(held) == 0 {
		return
	}
	w.deliver(pick(w.random, held), 1+w.random.IntN(6))
}

func (w *world) deliver(open *watch, count int) {
	w.note("%s sees %d changes of %s", open.client, min(count, open.held()), open.kind.resource)
	for range count {
		open.deliver(1)
		synctest.Wait()
		time.Sleep(time.Microsecond)
	}
	w.gather()
}

func (w *world) performSome() {
	for range 1 + w.random.IntN(4) {
		w.performOne()
	}
}
