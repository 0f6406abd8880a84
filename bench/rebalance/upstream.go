package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/nodeload"
)

// upstream is LowNodeLoad with the MigrationController and the scheduler.
type upstream struct {
	policy  *lownodeload.Policy
	history lownodeload.History
	nodes   []*corev1.Node
	objects []*corev1.Pod
	index   map[types.UID]int
	// jobs wait for their turn.
	jobs []job
}

type job struct{ pod, created int }

func newUpstream(d *day, abnormalities uint32, low, high float64) (*upstream, error) {
	args := &lownodeload.Args{PoolSettings: lownodeload.PoolSettings{
		LowThresholds: lownodeload.Thresholds{"cpu": low, "memory": 55}, HighThresholds: lownodeload.Thresholds{"cpu": high, "memory": 80},
		AnomalyCondition: &lownodeload.AnomalyCondition{ConsecutiveAbnormalities: abnormalities},
	}}
	lownodeload.SetDefaults(args)
	policy, err := lownodeload.Compile(args)
	if err != nil {
		return nil, err
	}
	u := &upstream{policy: policy, index: map[types.UID]int{}}
	for n := range d.nodes {
		u.nodes = append(u.nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(n)}, Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: cores(nodeCPU), corev1.ResourceMemory: gibibytes(nodeMemory), corev1.ResourcePods: resource.MustParse("110")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		}})
	}
	for i := range d.pods {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("pod-%d", i), UID: types.UID(fmt.Sprint(i)), CreationTimestamp: metav1.NewTime(midnight.Add(-24 * time.Hour))}}
		pod.Spec.Priority = new(int32(9000))
		pod.Spec.NodeName = nodeName(d.pods[i].start)
		requests := corev1.ResourceList{corev1.ResourceCPU: cores(podCPU), corev1.ResourceMemory: gibibytes(podMemory)}
		pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}
		u.objects = append(u.objects, pod)
		u.index[pod.UID] = i
	}
	return u, nil
}

func cores(v float64) resource.Quantity {
	return *resource.NewMilliQuantity(int64(v*1000), resource.DecimalSI)
}
func gibibytes(v float64) resource.Quantity {
	return *resource.NewQuantity(int64(v*(1<<30)), resource.BinarySI)
}
func used(cpu, memory float64) slov1alpha1.ResourceMap {
	return slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{corev1.ResourceCPU: cores(cpu), corev1.ResourceMemory: gibibytes(memory)}}
}

func (u *upstream) pass(c *cluster) {
	in := lownodeload.Input{Policy: u.policy, Now: timeOf(c.minute), Interval: minutesPerPass * time.Minute, History: u.history, Protected: map[types.UID]string{}}
	for _, job := range u.jobs {
		in.Protected[u.objects[job.pod].UID] = "the pod has a PodMigrationJob"
	}
	for n := range c.nodes {
		in.Nodes = append(in.Nodes, u.node(c, n))
	}
	verdict := lownodeload.Decide(in, nil)
	u.history = verdict.History
	for _, victim := range verdict.Victims {
		u.jobs = append(u.jobs, job{pod: u.index[victim.Pod.UID], created: c.minute})
	}
}

func (u *upstream) node(c *cluster, n int) lownodeload.Node {
	metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: nodeName(n)}}
	metric.Status.UpdateTime = new(metav1.NewTime(timeOf(c.minute)))
	metric.Status.NodeMetric = &slov1alpha1.NodeMetricInfo{NodeUsage: used(c.cpu[n], c.memory[n]), SystemUsage: used(systemCPU, systemMemory)}
	node := lownodeload.Node{Node: u.nodes[n]}
	for _, i := range c.byNode[n] {
		node.Pods = append(node.Pods, u.objects[i])
		metric.Status.PodsMetric = append(metric.Status.PodsMetric, &slov1alpha1.PodMetricInfo{
			Namespace: "default", Name: u.objects[i].Name, PodUsage: used(float64(c.pods[i].cpu[c.minute]), float64(c.pods[i].memory)),
		})
	}
	node.Metric = nodeload.Of(metric)
	return node
}

// between starts the jobs whose turn it is. The scheduler sees what was measured, and adds its estimate of what was placed since.
func (u *upstream) between(c *cluster) {
	var waiting []job
	leaving, arriving := map[int]int{}, map[int]int{}
	for _, job := range u.jobs {
		if !c.may(job.pod, leaving) {
			if c.minute-job.created < jobMinutes {
				waiting = append(waiting, job)
			}
			continue
		}
		target := schedule(c, c.on[job.pod], arriving)
		if target < 0 {
			continue // the reservation cannot be scheduled, and the job fails
		}
		leaving[c.on[job.pod]]++
		arriving[target]++
		c.move(job.pod, target)
		u.objects[job.pod] = u.objects[job.pod].DeepCopy()
		u.objects[job.pod].Spec.NodeName = nodeName(target)
		u.objects[job.pod].CreationTimestamp = metav1.NewTime(timeOf(c.minute))
	}
	u.jobs = waiting
}

// schedule is the node for a pod that must leave another; -1 for none.
func schedule(c *cluster, from int, arriving map[int]int) int {
	const estimatedCPU, estimatedMemory = 0.85 * podCPU, 0.7 * podMemory
	best, highest := -1, 0.0
	for n := range c.nodes {
		if n == from || !c.fits(n, 1) {
			continue
		}
		cpu := (c.cpu[n] + float64(arriving[n]+1)*estimatedCPU) / nodeCPU
		memory := (c.memory[n] + float64(arriving[n]+1)*estimatedMemory) / nodeMemory
		if cpu > schedulerCPU || memory > schedulerMemory {
			continue
		}
		requested := float64(len(c.byNode[n]) + 1)
		score := (1-cpu)/2 + (1-memory)/2 + (1-requested*podCPU/nodeCPU)/2 + (1-requested*podMemory/nodeMemory)/2
		if best < 0 || score > highest {
			best, highest = n, score
		}
	}
	return best
}
