package fleet

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host/simulated"
	"koordinator.sh/koord/agent/host/trace"
	"koordinator.sh/koord/agent/report"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/cpupool"
)

// The informers keep these records instead of whole objects: of 30,000 pods, only what the simulation needs.

// podRecord is a pod.
type podRecord struct {
	metav1.ObjectMeta
	nodeName string
	running  bool
	qos      extension.QoSClass
	band     extension.PriorityClass
	// request of plain cpu and memory.
	request podrequest.Amount
	// owned are the CPUs that the scheduler bound the pod to.
	owned cpuset.CPUSet
	sim   *simulated.Pod
	// problem is what is wrong with the pod's annotations.
	problem error
}

// cpus that the pod owns; none of a nil pod.
func (p *podRecord) cpus() cpuset.CPUSet {
	if p == nil {
		return cpuset.CPUSet{}
	}
	return p.owned
}

// nodeRecord is a node.
type nodeRecord struct {
	metav1.ObjectMeta
	sim         simulated.Node
	allocatable podrequest.Amount
	topology    report.TopologyNode
	problem     error
}

// metricRecord is a NodeMetric without what was reported.
type metricRecord struct {
	metav1.ObjectMeta
	spec slov1alpha1.NodeMetricSpec
	// reported reports whether there ever was a report.
	reported bool
}

// identityOf keeps what an informer needs of an object's metadata.
func identityOf(meta *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: meta.Name, Namespace: meta.Namespace, UID: meta.UID, ResourceVersion: meta.ResourceVersion}
}

// recordPod returns the transformation of an informer for pods. Objects that are no pods, such as tombstones and
// records, pass through.
func recordPod(timeline simulated.Timeline, recordings *trace.Set) func(any) (any, error) {
	return func(object any) (any, error) {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return object, nil
		}
		requests := podrequest.Of(pod)
		sim, problem := simulated.FromPod(pod, timeline)
		if recordings != nil && requests.Band == extension.PriorityProd {
			sim.Load = recordings.For(sim.Workload, sim.Name)
		}
		return &podRecord{
			ObjectMeta: identityOf(&pod.ObjectMeta),
			nodeName:   pod.Spec.NodeName,
			running:    pod.Status.Phase == corev1.PodRunning,
			qos:        requests.QoS,
			band:       requests.Band,
			request:    requests.Requests.Plain,
			owned:      cpupool.Owners([]*corev1.Pod{pod})[0].CPUs,
			sim:        sim,
			problem:    problem,
		}, nil
	}
}

func recordNode(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	sim, problem := simulated.FromNode(node)
	return &nodeRecord{
		ObjectMeta: identityOf(&node.ObjectMeta), sim: sim, allocatable: capacity.Of(node).Raw,
		topology: report.TopologyNodeOf(node), problem: problem,
	}, nil
}

func recordMetric(object any) (any, error) {
	metric, ok := object.(*slov1alpha1.NodeMetric)
	if !ok {
		return object, nil
	}
	return &metricRecord{
		ObjectMeta: identityOf(&metric.ObjectMeta), spec: metric.Spec, reported: metric.Status.UpdateTime != nil,
	}, nil
}

// recordTopology keeps a NodeResourceTopology whole, because updates are made of it, but for who wrote which field.
func recordTopology(object any) (any, error) {
	if topology, ok := object.(*topologyv1alpha1.NodeResourceTopology); ok {
		topology.ManagedFields = nil
	}
	return object, nil
}
