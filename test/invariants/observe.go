package invariants

import (
	"maps"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// The functions named after a kind take one change of it; before is nil for what is new, after for what is gone.

func (w *Watcher) podChanged(name types.NamespacedName, _, after metav1.Object) {
	before := w.pods[name]
	pod, there := after.(*corev1.Pod)
	if !there {
		delete(w.pods, name)
		w.shareOut()
		w.checkGangs()
		return
	}
	w.pods[name] = pod
	same := before != nil && before.UID == pod.UID
	if same {
		w.report(pod.ResourceVersion, Kept(before, pod))
	}
	if pod.Spec.NodeName != "" && !ended(pod) {
		node := w.node(pod.Spec.NodeName)
		w.report(pod.ResourceVersion, node.CPUsOwnedOnce())
		w.report(pod.ResourceVersion, node.DevicesOwnedOnce())
		w.report(pod.ResourceVersion, node.ReservationsWithinAllocated())
		w.checkUsed(pod)
	}
	bound := occupies(pod) && (!same || before.Spec.NodeName == "")
	if bound || before == nil || !same || ended(before) != ended(pod) {
		w.shareOut()
	}
	if bound && w.synced["pods"] {
		w.bound(pod)
	}
	w.checkGangs()
}

// bound checks a pod, and the node that it came to, against what there is to hold.
func (w *Watcher) bound(pod *corev1.Pod) {
	w.seen.Bindings++
	if len(cpusOf(pod))+len(sharesOf(pod))+len(devicesOf(pod)) > 0 {
		w.seen.Allocations++
	}
	for _, check := range []func(*Node) []Violation{
		func(n *Node) []Violation { return n.WithinAllocatable(pod) },
		func(n *Node) []Violation { return n.WithinZones(pod) },
		func(n *Node) []Violation { return n.WithinDevices(pod) },
		func(n *Node) []Violation { return n.CPUsGivenAway(pod) },
		func(n *Node) []Violation { return n.WithinPolicy(pod) },
		func(n *Node) []Violation { return n.DevicesGivenAway(pod) },
		func(n *Node) []Violation { return n.CPUsAgree(pod) },
		func(n *Node) []Violation { return n.SharesAgree(pod) },
		func(n *Node) []Violation { return n.DevicesAgree(pod) },
	} {
		w.checkNode(pod, check)
	}
	w.checkQuota(pod)
	w.checkUse(pod)
}

// checkNode runs a check on the present version of the pod's node, and on others later if that fails.
func (w *Watcher) checkNode(pod *corev1.Pod, check func(*Node) []Violation) {
	node := w.node(pod.Spec.NodeName)
	if len(check(node)) == 0 {
		return
	}
	pods := node.Pods
	w.suspects = append(w.suspects, suspect{at: w.now(), revision: pod.ResourceVersion, judge: func(s suspect) []Violation {
		var violations []Violation
		versions := w.nodes[node.Name].versions
		for i := range versions {
			next := nextOf(versions, i, func(v nodeVersion) time.Time { return v.since })
			if !inForce(s.at, versions[i].since, next) {
				continue
			}
			if versions[i].found && s.at.Sub(versions[i].since) < Window {
				return nil
			}
			then := versions[i].node
			then.Pods = pods
			if violations = check(&then); len(violations) == 0 {
				return nil
			}
		}
		if violations == nil {
			violations = check(node)
		}
		return revised(violations, s.revision)
	}})
}

// nextOf is when the version after the i-th began, zero when there is none.
func nextOf[T any](versions []T, i int, since func(T) time.Time) time.Time {
	if i+1 < len(versions) {
		return since(versions[i+1])
	}
	return time.Time{}
}

func revised(violations []Violation, revision string) []Violation {
	for i := range violations {
		violations[i].Revision = revision
	}
	return violations
}

// allSynced is false while the present objects are not all listed yet.
func (w *Watcher) allSynced() bool { return len(w.synced) == len(w.kinds()) }

// node is the present version of a node, with its pods.
func (w *Watcher) node(name string) *Node {
	node := Node{Name: name}
	if history := w.nodes[name]; history != nil && len(history.versions) > 0 {
		node = history.versions[len(history.versions)-1].node
	}
	for _, pod := range w.pods {
		if pod.Spec.NodeName == name && !ended(pod) {
			node.Pods = append(node.Pods, pod)
		}
	}
	return &node
}

func (w *Watcher) history(name string) *nodeHistory {
	if w.nodes[name] == nil {
		w.nodes[name] = &nodeHistory{}
	}
	return w.nodes[name]
}

// renew begins a new version of a node.
func (w *Watcher) renew(name string) {
	history := w.history(name)
	node := Node{Name: name, Object: history.object, Topology: history.topology, Device: history.device}
	for _, reservation := range w.reservations {
		if reservation.Status.NodeName == name && reservation.Status.Phase == schedulingv1alpha1.ReservationAvailable {
			node.Reservations = append(node.Reservations, reservation)
		}
	}
	history.versions = append(history.versions, nodeVersion{since: w.now(), found: !w.allSynced(), node: node})
}

func (w *Watcher) nodeChanged(name types.NamespacedName, _, after metav1.Object) {
	history := w.history(name.Name)
	before := history.object
	history.object, _ = after.(*corev1.Node)
	if now := history.object; before != nil && now != nil && // heartbeats are not worth a version
		reflect.DeepEqual(before.Status.Allocatable, now.Status.Allocatable) &&
		maps.Equal(before.Labels, now.Labels) && maps.Equal(before.Annotations, now.Annotations) {
		return
	}
	w.renew(name.Name)
	w.shareOut()
}

func (w *Watcher) topologyChanged(name types.NamespacedName, _, after metav1.Object) {
	w.history(name.Name).topology, _ = after.(*topologyv1alpha1.NodeResourceTopology)
	w.renew(name.Name)
}

func (w *Watcher) deviceChanged(name types.NamespacedName, _, after metav1.Object) {
	w.history(name.Name).device, _ = after.(*schedulingv1alpha1.Device)
	w.renew(name.Name)
}

func (w *Watcher) quotaChanged(name types.NamespacedName, _, after metav1.Object) {
	delete(w.quotas, name)
	if quota, there := after.(*schedulingsigsv1alpha1.ElasticQuota); there {
		w.quotas[name] = quota
	}
	w.shareOut()
}

// tree is the present quotas and pods.
func (w *Watcher) tree() *Tree {
	tree := &Tree{Quotas: slices.Collect(maps.Values(w.quotas)), Total: corev1.ResourceList{}}
	total := amounts{}
	for _, history := range w.nodes {
		if history.object != nil {
			total.add(history.object.Status.Allocatable)
		}
	}
	maps.Copy(tree.Total, total)
	for _, pod := range w.pods {
		if !ended(pod) {
			tree.Pods = append(tree.Pods, pod)
		}
	}
	return tree
}

// shareOut begins a new version of what quotas may use. Without quotas other than those that always exist there is nothing
// to share.
func (w *Watcher) shareOut() {
	for name := range w.quotas {
		if !extension.IsBuiltInQuota(name.Name) {
			w.limits = append(w.limits, limitsVersion{since: w.now(), found: !w.allSynced(), limits: w.tree().Limits()})
			return
		}
	}
}

func (w *Watcher) checkQuota(pod *corev1.Pod) {
	tree := w.tree()
	quota := tree.Of(pod)
	if len(w.limits) == 0 || extension.IsBuiltInQuota(quota) {
		return
	}
	used, asks := tree.Used(quota), limitsOf(requestsOf(pod))
	if len(Exceeds(quota, used, w.limits[len(w.limits)-1].limits[quota], asks)) == 0 {
		return
	}
	w.suspects = append(w.suspects, suspect{at: w.now(), revision: pod.ResourceVersion, judge: func(s suspect) []Violation {
		var violations []Violation
		for i, version := range w.limits {
			next := nextOf(w.limits, i, func(v limitsVersion) time.Time { return v.since })
			if !inForce(s.at, version.since, next) {
				continue
			}
			if version.found && s.at.Sub(version.since) < Window {
				return nil
			}
			if violations = Exceeds(quota, used, version.limits[quota], asks); len(violations) == 0 {
				return nil
			}
		}
		return revised(violations, s.revision)
	}})
}
