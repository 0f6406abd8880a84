package qos

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cfs"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

// relistInterval is how often the cgroups of best-effort pods are listed while no pod comes or goes.
const relistInterval = 10 * time.Second

// Suppression holds best-effort pods to the CPU that services leave.
type Suppression struct {
	// decision taken last, and what of.
	decision suppression.Decision
	input    suppression.Input
	// cpus and quota that are in force by that.
	cpus    cpuset.CPUSet
	quota   int64
	started bool
	// groups of best-effort pods, the root first, and when and for which pods they were listed.
	groups  []string
	listed  time.Time
	members int
}

// Name implements Feature.
func (*Suppression) Name() string { return nodefeature.BECPUSuppress.Name }

// Decision returns what was decided last.
func (s *Suppression) Decision() suppression.Decision { return s.decision }

// Input returns what the last decision was taken of, for repeating it with a trace.
func (s *Suppression) Input() suppression.Input { return s.input }

// Limit is what best-effort pods are held to, in milli-cores; negative while nothing holds them.
func (s *Suppression) Limit() int64 {
	if !s.decision.Enabled {
		return -1
	}
	limit := int64(s.cpus.Len()) * 1000
	if s.quota >= 0 {
		limit = min(limit, cfs.Milli(s.quota))
	}
	return limit
}

// DesiredValues implements Feature. While it is off it wants nothing, so that everything is as it was.
func (s *Suppression) DesiredValues(in NodeSnapshot) []executor.DesiredValue {
	strategy := in.SLO.ResourceUsedThresholdWithBE
	if !s.started {
		s.readCurrent(in)
	}
	s.input = suppression.Input{
		Now: in.Now, Strategy: strategy, Measurement: measurement(in), CPUs: cpusOf(in), CurrentCPUs: s.cpus, CurrentQuota: s.quota,
	}
	s.decision = suppression.Decide(s.input, nil)
	if !s.decision.Enabled {
		s.started = false
		return nil
	}
	if s.decision.CPUs.Hold == "" {
		s.cpus = s.decision.CPUs.CPUs
	}
	if s.decision.Quota.Hold == "" {
		s.quota = s.decision.Quota.Quota
	}
	s.dropOfflineCPUs(in.Topology)
	return s.values(in)
}

// dropOfflineCPUs drops CPUs that went offline from what stays in force: the kernel refuses a list with one of them as a whole.
func (s *Suppression) dropOfflineCPUs(topology *cpuset.Topology) {
	if topology == nil {
		return
	}
	if online := s.cpus.Intersection(topology.CPUs); !online.IsEmpty() {
		s.cpus = online
	}
}

// readCurrent takes over what is in force.
func (s *Suppression) readCurrent(in NodeSnapshot) {
	root := in.Layout.QoS(corev1.PodQOSBestEffort)
	s.started, s.quota, s.cpus = true, -1, cpuset.CPUSet{}
	if in.Topology != nil {
		s.cpus = in.Topology.CPUs
	}
	if list, found := in.read(cgroup.CPUSet, root); found && list != "" {
		if cpus, err := cpuset.Parse(list); err == nil {
			s.cpus = cpus
		}
	}
	if value, found := in.read(cgroup.CPUQuota, root); found {
		if quota, err := strconv.ParseInt(value, 10, 64); err == nil {
			s.quota = quota
		}
	}
}

// values are the quota of all best-effort pods together, and the CPUs of each of them.
func (s *Suppression) values(in NodeSnapshot) []executor.DesiredValue {
	why := s.reason()
	root := in.Layout.QoS(corev1.PodQOSBestEffort)
	values := []executor.DesiredValue{{Setting: cgroup.CPUQuota, Cgroup: root, Value: strconv.FormatInt(s.quota, 10), Why: why}}
	if s.cpus.IsEmpty() {
		return values
	}
	list := s.cpus.String()
	for _, at := range s.cgroups(in) {
		values = append(values, executor.DesiredValue{Setting: cgroup.CPUSet, Cgroup: at, Value: list, Why: why})
	}
	return values
}

func (s *Suppression) reason() string {
	if s.decision.Budget == nil {
		return s.decision.Hold
	}
	return fmt.Sprintf("best-effort pods may use %d milli-cores", s.decision.Budget.Milli)
}

// cgroups finds the cgroups of best-effort pods and their containers.
func (s *Suppression) cgroups(in NodeSnapshot) []string {
	if s.groups != nil && s.members == len(in.Pods) && in.Now.Sub(s.listed) < relistInterval && !in.Now.Before(s.listed) {
		return s.groups
	}
	root := in.Layout.QoS(corev1.PodQOSBestEffort)
	s.groups, s.listed, s.members = []string{root}, in.Now, len(in.Pods)
	for _, pod := range in.below(root) {
		s.groups = append(append(s.groups, pod), in.below(pod)...)
	}
	return s.groups
}

// measurement is what the budget is computed from.
func measurement(in NodeSnapshot) suppression.Measurement {
	out := suppression.Measurement{Capacity: in.Capacity.MilliCPU, Relief: in.Relief}
	if used, measured := in.Used(); measured {
		out.Observation, out.NodeUsed = freshness.Observation{At: in.Now, Period: in.Period}, used.Amount().MilliCPU
	}
	if in.Node != nil {
		size := capacity.Of(in.Node)
		out.Reserved = max(size.Total.MilliCPU-size.Raw.MilliCPU, 0)
	}
	for _, pod := range in.Pods {
		if used, measured := in.PodUsed(pod.UID); measured {
			out.Pods = append(out.Pods, suppression.Load{
				Namespace: pod.Object.Namespace, Name: pod.Object.Name, QoS: pod.QoS(), Used: used.Amount().MilliCPU,
			})
		}
	}
	for _, application := range in.SLO.HostApplications {
		if in.ApplicationUsed == nil {
			break
		}
		if used, measured := in.ApplicationUsed(application.Name); measured {
			out.HostApplications = append(out.HostApplications, suppression.Load{Name: application.Name, QoS: application.QoS, Used: used.Amount().MilliCPU})
		}
	}
	return out
}

// cpusOf are the CPUs and their owners.
func cpusOf(in NodeSnapshot) suppression.CPUs {
	out := suppression.CPUs{Topology: in.Topology}
	var lse cpuset.CPUSet
	for _, pod := range in.Pods {
		switch pod.QoS() {
		case extension.QoSLSE:
			lse = lse.Union(pod.Owned)
		case extension.QoSLSR:
			out.LSR = out.LSR.Union(pod.Owned)
		}
	}
	var node, topology map[string]string
	if in.Node != nil {
		node = in.Node.Annotations
	}
	if in.Reported != nil {
		topology = in.Reported.Annotations
	}
	out.Excluded = suppression.Exclusions(node, topology, lse)
	return out
}
