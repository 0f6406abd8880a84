package quotas

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/quotaadmission"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// book is the bookkeeping behind a View. Its owner holds a lock during every call.
type book struct {
	options quota.Options
	// entries are the ElasticQuotas by namespace and name.
	entries map[types.NamespacedName]entry
	forest  *quota.Forest
	// replant is true when entries or options no longer make the forest.
	replant bool
	// belonging determines the quotas of pods.
	belonging quota.Belonging

	// pods are replaced, never changed, so that a fork can share them.
	pods roster
	// nodes are what each node has; total their sum, nil when it has to be added up again.
	nodes map[string]quota.Amounts
	total quota.Amounts
	// shared is true while another book has the same entries and nodes, which are copied before they change.
	shared bool

	scratch quota.Admission
	// index is entries as admission reads them, nil until it is asked for. It is replaced, never changed.
	index *quotaadmission.Index
}

type entry struct {
	object   *schedulingsigsv1alpha1.ElasticQuota
	spec     *quota.Spec
	problems []quota.Problem
}

// holding is a pod that counts.
type holding struct {
	pod   *corev1.Pod
	quota string
	held  quota.Holding
	// known is true once the pod was observed; what is only reserved can be gone before it ever is.
	known bool
	// assumed pods were reserved on a node and are not observed there yet.
	assumed bool
}

func newBook(options quota.Options) *book {
	return &book{
		options: options, entries: map[types.NamespacedName]entry{}, replant: true,
		pods: newRoster(), nodes: map[string]quota.Amounts{},
	}
}

// fork returns a copy that can be changed independently. What is large is shared until one of the two changes it.
func (b *book) fork() *book {
	b.recompute()
	b.shared = true
	fork := *b
	fork.pods = b.pods.fork()
	fork.forest, fork.scratch = b.forest.Clone(), quota.Admission{}
	return &fork
}

// own copies what is shared with a fork, before it changes.
func (b *book) own() {
	b.index = nil
	if b.shared {
		b.entries, b.nodes, b.shared = maps.Clone(b.entries), maps.Clone(b.nodes), false
	}
}

// recompute makes the forest follow from everything else.
func (b *book) recompute() {
	if b.replant {
		b.plant()
	}
	if b.total == nil {
		b.total = quota.Amounts{}
		for _, name := range slices.Sorted(maps.Keys(b.nodes)) {
			b.total = b.total.Plus(b.nodes[name])
		}
		b.forest.SetTotal(b.total)
	}
}

func (b *book) plant() {
	specs := make([]*quota.Spec, 0, len(b.entries))
	for _, entry := range b.entries {
		specs = append(specs, entry.spec)
	}
	b.forest, b.replant, b.total = quota.BuildForest(b.options, specs), false, nil
	b.belonging = quota.BelongingTo(specs)
	var moves []*holding
	for pod := range b.pods.all {
		if quota := b.quotaOf(pod.pod); quota != pod.quota {
			moved := *pod
			moved.quota = quota
			pod, moves = &moved, append(moves, &moved)
		}
		b.forest.Tree(pod.quota).Hold(pod.quota, pod.held)
	}
	for _, moved := range moves {
		b.pods.set(moved.pod.UID, moved)
	}
}

// quotaOf names the quota that a pod counts against.
func (b *book) quotaOf(pod *corev1.Pod) string {
	return b.belonging.Of(pod, func(name string) bool { return b.forest.Tree(name) != nil })
}

// observe takes over what the cluster says of a pod.
func (b *book) observe(pod *corev1.Pod) {
	before := b.pods.get(pod.UID)
	if !podrequest.Consumes(pod) {
		b.remove(pod.UID)
		return
	}
	assumed := before != nil && before.assumed && pod.Spec.NodeName == ""
	b.put(&holding{pod: pod, known: true, assumed: assumed, held: heldBy(pod, assumed)})
}

func heldBy(pod *corev1.Pod, assumed bool) quota.Holding {
	return quota.Holding{
		Request:        requestOf(pod),
		Assigned:       assumed || pod.Spec.NodeName != "",
		NonPreemptible: extension.IsPodNonPreemptible(pod.Labels),
	}
}

func requestOf(pod *corev1.Pod) quota.Amounts {
	return quota.AmountsOf(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{
		UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true,
	}))
}

// put counts a pod in the place of what was known of it. While the forest waits to be planted, it is not touched.
func (b *book) put(pod *holding) {
	before := b.pods.get(pod.pod.UID)
	b.pods.set(pod.pod.UID, pod)
	if b.replant {
		return
	}
	pod.quota = b.quotaOf(pod.pod)
	if before != nil && before.quota == pod.quota && equal(before.held, pod.held) {
		return
	}
	if before != nil {
		b.forest.Tree(before.quota).Release(before.quota, before.held)
	}
	b.forest.Tree(pod.quota).Hold(pod.quota, pod.held)
}

func (b *book) remove(uid types.UID) {
	before := b.pods.get(uid)
	if before == nil {
		return
	}
	b.pods.set(uid, nil)
	if !b.replant {
		b.forest.Tree(before.quota).Release(before.quota, before.held)
	}
}

func equal(a, b quota.Holding) bool {
	return a.Assigned == b.Assigned && a.NonPreemptible == b.NonPreemptible && slices.Equal(a.Request, b.Request)
}

// reserve counts a pod as assigned. What was observed of it counts before what the scheduler has in hand.
func (b *book) reserve(pod *corev1.Pod) {
	before := b.pods.get(pod.UID)
	switch {
	case before == nil:
		b.put(&holding{pod: pod, assumed: true, held: heldBy(pod, true)})
	case !before.held.Assigned:
		reserved := *before
		reserved.assumed, reserved.held.Assigned = true, true
		b.put(&reserved)
	}
}

func (b *book) unreserve(pod *corev1.Pod) {
	before := b.pods.get(pod.UID)
	switch {
	case before == nil || !before.assumed:
	case !before.known:
		b.remove(pod.UID)
	default:
		pending := *before
		pending.assumed, pending.held.Assigned = false, false
		b.put(&pending)
	}
}

// setQuota takes over an ElasticQuota. It reports whether anything changed that matters.
func (b *book) setQuota(object *schedulingsigsv1alpha1.ElasticQuota) bool {
	b.own()
	key := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
	spec, problems := quota.Decode(object)
	before, known := b.entries[key]
	if known && before.spec.Equal(&spec) {
		b.entries[key] = entry{object: object, spec: before.spec, problems: problems}
		return false
	}
	b.entries[key] = entry{object: object, spec: &spec, problems: problems}
	b.replant = true
	return true
}

func (b *book) removeQuota(key types.NamespacedName) bool {
	b.own()
	_, known := b.entries[key]
	delete(b.entries, key)
	b.replant = b.replant || known
	return known
}

// setNode takes over what a node has, nil when it is gone.
func (b *book) setNode(name string, has quota.Amounts) bool {
	before, known := b.nodes[name]
	if known == (has != nil) && slices.Equal(before, has) {
		return false
	}
	b.own()
	if b.nodes[name] = has; has == nil {
		delete(b.nodes, name)
	}
	b.total = nil
	return true
}
