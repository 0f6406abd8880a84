package explain

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/plugins"
	"koordinator.sh/koord/scheduler/plugins/coscheduling"
	"koordinator.sh/koord/scheduler/plugins/deviceshare"
	"koordinator.sh/koord/scheduler/plugins/elasticquota"
	"koordinator.sh/koord/scheduler/plugins/loadaware"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
	"koordinator.sh/koord/scheduler/plugins/reservation"
	"koordinator.sh/koord/scheduler/state/devices"
	"koordinator.sh/koord/scheduler/state/gangs"
	"koordinator.sh/koord/scheduler/state/quotas"
	"koordinator.sh/koord/scheduler/state/reservations"
	"koordinator.sh/koord/scheduler/state/topologies"
	"koordinator.sh/koord/test/eventually"
)

// sharedState is what all plugins of a cluster share. Quotas and topologies take over the informers' stores on demand;
// Devices come from their source, once for all clusters of a test.
type sharedState struct {
	t          testing.TB
	quotas     *quotas.State
	topologies *topologies.State
	devices    *devices.State
	reserved   *reservations.State
	// reservationEvents and userEvents are what reserved does on events.
	reservationEvents, userEvents cache.ResourceEventHandler
	// gangEvents and memberEvents are what gangs does, of the objects listed.
	gangEvents, memberEvents cache.ResourceEventHandler
	gangObjects              []any
	gangs                    *gangs.State
	source                   *cachetesting.FakeControllerSource
	numaHooks                *nodenumaresource.Hooks
	gpuHooks                 *deviceshare.Hooks
}

func newSharedState(t testing.TB, c *cluster) *sharedState {
	t.Helper()
	pods, nodes := c.informers.Core().V1().Pods().Informer(), c.informers.Core().V1().Nodes().Informer()
	s := &sharedState{t: t, source: cachetesting.NewFakeControllerSource(), numaHooks: nodenumaresource.NewHooks(), gpuHooks: deviceshare.NewHooks()}
	var err error
	if s.quotas, err = quotas.NewFrom(&cache.ListWatch{}, pods, nodes); err != nil {
		t.Fatal(err)
	}
	if s.topologies, err = topologies.NewFrom(&cache.ListWatch{}, pods, nodes); err != nil {
		t.Fatal(err)
	}
	if s.reserved, err = reservations.NewFrom(&cache.ListWatch{}, pods); err != nil {
		t.Fatal(err)
	}
	s.reservationEvents, s.userEvents = s.reserved.Handlers()
	s.reserved.Attach(c)
	s.reserved.AddReservePodHandler(s.topologies.ReservePodHandler())
	if s.gangs, err = gangs.NewFrom(&cache.ListWatch{}, pods, func() time.Time { return now }); err != nil {
		t.Fatal(err)
	}
	s.gangEvents, s.memberEvents = s.gangs.Handlers()
	if s.devices, err = devices.NewFrom(s.source, c.client, pods, nodes); err != nil {
		t.Fatal(err)
	}
	s.reserved.AddReservePodHandler(s.devices.ReservePodHandler())
	return s
}

// parts are all plugins of koord-scheduler: on these states, and those without one here as they declare themselves.
func (s *sharedState) parts(c *cluster, now func() time.Time) part.Set {
	given := map[string]*part.Instance{}
	for _, instance := range []*part.Instance{
		loadaware.Instance(c.state, now), nodenumaresource.Instance(s.topologies, s.numaHooks), deviceshare.Instance(s.devices, s.gpuHooks, s.numaHooks),
		elasticquota.Instance(s.quotas), coscheduling.Instance(s.gangs), reservation.Instance(s.reserved, nil, now, nil),
	} {
		given[instance.Name] = instance
	}
	declared := plugins.Parts()
	for i, p := range declared {
		if instance, found := given[p.Name]; found {
			declared[i].New = func(*part.Cluster) (*part.Instance, error) { return instance, nil }
		}
	}
	set, err := part.Connect(declared, &part.Cluster{Config: &rest.Config{}, Informers: c.informers, Now: now})
	if err != nil {
		s.t.Fatal(err)
	}
	return set
}

// podChanged passes on that a pod was added or changed, podGone that one was deleted.
func (s *sharedState) podChanged(before, pod *corev1.Pod) {
	s.quotas.PodChanged(pod)
	if before == nil {
		s.userEvents.OnAdd(pod, false)
		s.memberEvents.OnAdd(pod, false)
	} else {
		s.userEvents.OnUpdate(before, pod)
		s.memberEvents.OnUpdate(before, pod)
	}
}

func (s *sharedState) podGone(pod *corev1.Pod) {
	s.quotas.PodChanged(pod)
	s.userEvents.OnDelete(pod)
	s.memberEvents.OnDelete(pod)
}

func (s *sharedState) nodeChanged(name string) {
	s.quotas.NodeChanged(name)
	s.topologies.Refresh(name)
}

// clear forgets quotas, topologies and gangs.
func (s *sharedState) clear() {
	for _, object := range s.gangObjects {
		s.gangEvents.OnDelete(object)
	}
	s.gangObjects = nil
	for _, object := range s.quotas.Informer().GetIndexer().List() {
		quota := object.(*schedulingsigsv1alpha1.ElasticQuota)
		_ = s.quotas.Informer().GetIndexer().Delete(quota)
		s.quotas.QuotaChanged(types.NamespacedName{Namespace: quota.Namespace, Name: quota.Name})
	}
	for _, object := range s.topologies.Informer().GetIndexer().List() {
		report := object.(*topologyv1alpha1.NodeResourceTopology)
		_ = s.topologies.Informer().GetIndexer().Delete(report)
		s.topologies.Refresh(report.Name)
	}
}

// newShippedCluster has the profile that koord-scheduler ships, with what it leaves off: a bound for every usage
// class, and gangs that gather in the network.
func newShippedCluster(t testing.TB, objects ...*schedulingv1alpha1.Device) *cluster {
	t.Helper()
	text, err := os.ReadFile("../app/default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := newClusterWith(t, string(text)+`
      - name: UsageClass
        args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: UsageClassArgs, defaultMaxPercent: 60, classes: {search: {maxPods: 1}}}
      - name: Coscheduling
        args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: CoschedulingArgs, awareNetworkTopology: true}
`)
	for _, object := range objects {
		c.shared.source.Add(object)
	}
	ctx := t.Context()
	done := make(chan struct{})
	go func() { defer close(done); c.shared.devices.Run(ctx) }()
	t.Cleanup(func() { <-done })
	eventually.True(t, "Devices are known", func() bool {
		for _, object := range objects {
			if c.shared.devices.Node(object.Name) == nil {
				return false
			}
		}
		return c.shared.devices.Settled()
	})
	return c
}

func (c *cluster) addQuota(object *schedulingsigsv1alpha1.ElasticQuota) {
	c.must(c.shared.quotas.Informer().GetIndexer().Add(object))
	c.shared.quotas.QuotaChanged(types.NamespacedName{Namespace: object.Namespace, Name: object.Name})
}

func (c *cluster) addReport(report *topologyv1alpha1.NodeResourceTopology) {
	c.must(c.shared.topologies.Informer().GetIndexer().Add(report))
	c.shared.topologies.Refresh(report.Name)
}

// newQuota bounds cpu; min and max are in cores, and none at 0 for max.
func newQuota(name, parent string, minimum, maximum int) *schedulingsigsv1alpha1.ElasticQuota {
	object := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{}}}
	if parent != "" {
		object.Labels[extension.LabelQuotaParent] = parent
	}
	object.Spec.Min = list("cpu", fmt.Sprint(minimum))
	object.Spec.Max = list("cpu", fmt.Sprint(maximum))
	return object
}

// newReport has two zones of 4 cores with two CPUs each, and 32Gi.
func newReport(node string) *topologyv1alpha1.NodeResourceTopology {
	report := &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: node, Annotations: map[string]string{}}}
	detail := extension.CPUTopology{}
	for id := range int32(16) {
		detail.Detail = append(detail.Detail, extension.CPUInfo{ID: id, Core: id / 2, Node: id / 8, Socket: id / 8})
	}
	encoded, err := json.Marshal(detail)
	if err != nil {
		panic(err)
	}
	report.Annotations[extension.AnnotationNodeCPUTopology] = string(encoded)
	for zone := range 2 {
		resources := list("cpu", "8", "memory", "32Gi")
		cpu, memory := resources["cpu"], resources["memory"]
		report.Zones = append(report.Zones, topologyv1alpha1.Zone{Name: fmt.Sprintf("node-%d", zone), Type: "Node", Resources: topologyv1alpha1.ResourceInfoList{
			{Name: "cpu", Capacity: cpu, Allocatable: cpu, Available: cpu}, {Name: "memory", Capacity: memory, Allocatable: memory, Available: memory},
		}})
	}
	return report
}

// newDevice has GPUs of 64Gi, two on a PCIe switch, with a NIC on each switch.
func newDevice(node string, gpus int) *schedulingv1alpha1.Device {
	object := &schedulingv1alpha1.Device{ObjectMeta: metav1.ObjectMeta{Name: node}}
	add := func(kind schedulingv1alpha1.DeviceType, minor, pcie int, resources corev1.ResourceList) {
		object.Spec.Devices = append(object.Spec.Devices, schedulingv1alpha1.DeviceInfo{
			Type: kind, Minor: new(int32(minor)), UUID: fmt.Sprintf("%s-%d", kind, minor), Health: true, Resources: resources,
			Topology: &schedulingv1alpha1.DeviceTopology{NodeID: int32(pcie % 2), PCIEID: fmt.Sprint("pcie-", pcie)},
		})
	}
	for i := range gpus {
		add(schedulingv1alpha1.GPU, i, i/2, list("koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory", "64Gi", "koordinator.sh/gpu-memory-ratio", "100"))
	}
	for i := range gpus / 2 {
		add(schedulingv1alpha1.RDMA, i, i, list("koordinator.sh/rdma", "100"))
	}
	return object
}

// holdingGPUs writes an allocation of whole GPUs on a pod.
func holdingGPUs(pod *corev1.Pod, percent int, minors ...int) *corev1.Pod {
	var items []string
	for _, minor := range minors {
		items = append(items, fmt.Sprintf(`{"minor":%d,"resources":{"koordinator.sh/gpu-core":"%d","koordinator.sh/gpu-memory-ratio":"%d"}}`, minor, percent, percent))
	}
	pod.Annotations = map[string]string{extension.AnnotationDeviceAllocated: `{"gpu":[` + strings.Join(items, ",") + `]}`}
	ask(pod, "koordinator.sh/gpu", fmt.Sprint(percent*len(minors)))
	return pod
}

// holdingCPUs binds a pod to CPUs.
func holdingCPUs(pod *corev1.Pod, cpus string) *corev1.Pod {
	pod.Annotations = map[string]string{extension.AnnotationResourceStatus: fmt.Sprintf(`{"cpuset":%q}`, cpus)}
	return pod
}

// ask adds a request to a pod: an allocation that is not requested is not believed.
func ask(pod *corev1.Pod, name corev1.ResourceName, amount string) {
	requests := &pod.Spec.Containers[0].Resources.Requests
	if *requests == nil {
		*requests = corev1.ResourceList{}
	}
	(*requests)[name] = resource.MustParse(amount)
}
