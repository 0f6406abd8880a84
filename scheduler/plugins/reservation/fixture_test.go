package reservation

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// memory is a State without a cluster behind it.
type memory struct {
	objects map[string]*schedulingv1alpha1.Reservation
	views   []*reservations.View
	assumed map[types.UID]types.UID
	refuse  error
}

func (m *memory) Empty() bool { return len(m.views) == 0 }
func (m *memory) Get(name string) (*schedulingv1alpha1.Reservation, bool) {
	object, found := m.objects[name]
	return object, found
}
func (m *memory) All() []*reservations.View { return m.views }
func (m *memory) filter(keep func(*reservations.View) bool) (kept []*reservations.View) {
	for _, view := range m.views {
		if keep(view) {
			kept = append(kept, view)
		}
	}
	return kept
}
func (m *memory) Owned(pod *corev1.Pod) []*reservations.View {
	return m.filter(func(v *reservations.View) bool { return v.MatchesOwner(pod) })
}
func (m *memory) OnNode(node string) []*reservations.View {
	return m.filter(func(v *reservations.View) bool { return v.Node == node })
}
func (m *memory) ByUID(uid types.UID) (*reservations.View, bool) {
	found := m.filter(func(v *reservations.View) bool { return v.UID == uid })
	if len(found) == 0 {
		return nil, false
	}
	return found[0], true
}
func (m *memory) UsedBy(pod types.UID) (*reservations.View, bool) {
	found := m.filter(func(v *reservations.View) bool { _, uses := v.Pods[pod]; return uses })
	if len(found) == 0 {
		return nil, false
	}
	return found[0], true
}
func (m *memory) Assume(pod *corev1.Pod, reservation types.UID, _ map[string]string) error {
	m.assumed[pod.UID] = reservation
	return m.refuse
}
func (m *memory) Expect(types.UID, string, []*corev1.Pod) {}
func (m *memory) Forget(pod types.UID)                    { delete(m.assumed, pod) }

func cpus(amount string) corev1.ResourceList {
	return corev1.ResourceList{"cpu": resource.MustParse(amount)}
}

func newPod(name, app, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": app}, Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: cpus(cpu)}}}},
	}
}

func newReservation(name, node, cpu string) *schedulingv1alpha1.Reservation {
	return &schedulingv1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)},
		Spec: schedulingv1alpha1.ReservationSpec{
			Template: &corev1.PodTemplateSpec{Spec: newPod("", "", cpu).Spec}, AllocateOnce: new(false), AllocatePolicy: "Restricted",
			Owners: []schedulingv1alpha1.ReservationOwner{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}},
		},
		Status: schedulingv1alpha1.ReservationStatus{Phase: "Available", NodeName: node, Allocatable: cpus(cpu)},
	}
}

type fixture struct {
	plugin *Plugin
	state  *memory
	nodes  map[string]fwk.NodeInfo
}

// newFixture has nodes of 10 CPUs named node-1 to node-3 on which the reservations and the pods stand.
func newFixture(t testing.TB, args string, objects []*schedulingv1alpha1.Reservation, pods ...*corev1.Pod) *fixture {
	t.Helper()
	metrics.Register()
	f := &fixture{state: &memory{objects: map[string]*schedulingv1alpha1.Reservation{}, assumed: map[types.UID]types.UID{}}, nodes: map[string]fwk.NodeInfo{}}
	all := append([]*corev1.Pod(nil), pods...)
	for _, object := range objects {
		compiled, problems := decision.Compile(object)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		users := map[types.UID]decision.User{}
		for _, pod := range pods {
			if allocated, _ := extension.GetReservationAllocated(pod.Annotations); allocated != nil && allocated.UID == object.UID {
				users[pod.UID] = decision.NewUser(pod, pod.Annotations)
			}
		}
		view := &reservations.View{Candidate: decision.Candidate{Reservation: compiled, Use: decision.UseOf(compiled, users)}, Object: object, Pods: users}
		if decision.Active(object) {
			view.Held = decision.Remainder(compiled, decision.ReservePod(object, "s", false), users)
			f.state.views = append(f.state.views, view)
		}
		if view.Held != nil {
			all = append(all, view.Held)
		}
		f.state.objects[object.Name] = object
	}
	var nodes []*corev1.Node
	for i := range 3 {
		amounts := corev1.ResourceList{"cpu": resource.MustParse("10"), "pods": resource.MustParse("100")}
		nodes = append(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("node-", i+1)}, Status: corev1.NodeStatus{Allocatable: amounts}})
	}
	snapshot := internalcache.NewSnapshot(all, nodes)
	for _, node := range nodes {
		f.nodes[node.Name], _ = snapshot.NodeInfos().Get(node.Name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	handle, err := frameworkruntime.NewFramework(ctx, nil, nil, frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(fake.NewClientset(), 0)))
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := Factory(f.state, nil, time.Now)(ctx, &runtime.Unknown{Raw: []byte(args)}, handle)
	if err != nil {
		t.Fatal(err)
	}
	f.plugin = plugin.(*Plugin)
	return f
}

// outcome is what becomes of a pod on the three nodes.
type outcome struct {
	Skipped bool
	Refused string
	// Nodes by name: "ok", "ok r" with the reservation nominated, or the reasons.
	Nodes map[string]string
	// Proposed nodes.
	Proposed []string
	Summary  string
}

func (f *fixture) run(t testing.TB, pod *corev1.Pod) (fwk.CycleState, outcome) {
	t.Helper()
	state := framework.NewCycleState()
	var infos []fwk.NodeInfo
	for _, info := range f.nodes {
		infos = append(infos, info)
	}
	result, status := f.plugin.PreFilter(t.Context(), state, pod, infos)
	got := outcome{Skipped: status.IsSkip()}
	if !status.IsSuccess() && !status.IsSkip() {
		got.Refused = status.Message()
		return state, got
	}
	if got.Skipped {
		return state, got
	}
	got.Nodes = map[string]string{}
	for name, info := range f.nodes {
		if !result.AllNodes() && !result.NodeNames.Has(name) {
			continue
		}
		if status := f.plugin.Filter(t.Context(), state, pod, frameworkext.NodeOf(state, info)); !status.IsSuccess() {
			got.Nodes[name] = strings.Join(status.Reasons(), "; ")
			continue
		}
		got.Nodes[name] = "ok"
		if view, found := Nominated(state, name); found {
			got.Nodes[name] = fmt.Sprintf("ok %s, %d in use", view.Name, frameworkext.NodeOf(state, info).GetRequested().GetMilliCPU())
		}
	}
	got.Proposed = f.plugin.Propose(t.Context(), state, pod)
	if c := cycleOf(state); c != nil && c.census != nil && len(c.census.Entries) > 0 {
		got.Summary = c.census.Summary()
	}
	return state, got
}

func user(name, cpu, node, reservation string) *corev1.Pod {
	pod := newPod(name, "web", cpu)
	pod.Spec.NodeName = node
	pod.Annotations[extension.AnnotationReservationAllocated] = fmt.Sprintf(`{"name":%q,"uid":"uid-%s"}`, reservation, reservation)
	return pod
}
