package qos

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/parameter"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/cpupool"
	"koordinator.sh/koord/decision/nodeqos/groupidentity"
	"koordinator.sh/koord/decision/nodeqos/networkqos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/decision/nodeqos/oomscore"
	"koordinator.sh/koord/decision/nodeqos/sysctl"
)

// maxProblems bounds the problems listed of one feature.
const maxProblems = 50

// Problems are what is configured and cannot be followed, by the names of features: settings of the NodeSLO that are meant for
// something else, or that this kernel does not have, and annotations of pods that cannot be read. What a feature sees only while it
// works it reports itself. Problems may be called at any time; it writes nothing.
func Problems(in NodeSnapshot) map[string][]string {
	out := problems{}
	out.unsupportedSettings(in.SLO)
	out.system(&in)
	out.memory(&in)
	out.network(&in)
	for i := range in.SLO.HostApplications {
		if _, err := in.Layout.HostApplication(&in.SLO.HostApplications[i]); err != nil {
			out.add(GroupIdentity{}.Name(), "%v", err)
		}
	}
	node := poolsOf(in)
	for _, pod := range in.Pods {
		if pod.Running() {
			out.pod(&in, node, pod)
		}
	}
	return out
}

// problems by the names of features, each once.
type problems map[string][]string

func (p problems) add(feature, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(p[feature]) < maxProblems && !slices.Contains(p[feature], text) {
		p[feature] = append(p[feature], text)
	}
}

// system adds parameters that this kernel does not have.
func (p problems) system(in *NodeSnapshot) {
	result := sysctl.Of(in.SLO.SystemStrategy, in.Capacity.Memory)
	for _, problem := range result.Problems {
		p.add(SystemConfig{}.Name(), "%s: %s", problem.Name, problem.Reason)
	}
	for _, setting := range result.Settings {
		has := slices.ContainsFunc(parameter.Find(setting), func(found parameter.Parameter) bool { return found.Supported(in.Proc, in.Sys) })
		switch {
		case has:
		case setting.Name == sysctl.SchedFeatures:
			p.add(SystemConfig{}.Name(), "%s: this kernel has no scheduler feature for %s", setting.Name, setting.Value)
		default:
			p.add(SystemConfig{}.Name(), "%s: this kernel has no such parameter", setting.Name)
		}
	}
}

// memory adds settings of memory that this kernel does not have. Zero is what it does without any.
func (p problems) memory(in *NodeSnapshot) {
	for _, class := range classesOf(in.SLO.ResourceQOSStrategy) {
		if class.qos.MemoryQOS == nil || !isOn(class.qos.MemoryQOS.Enable) || class.name == cgroupRoot {
			continue
		}
		qos := &class.qos.MemoryQOS.MemoryQOS
		for _, wanted := range []struct {
			name  string
			value *int64
			by    []cgroup.Setting
		}{
			{"minLimitPercent", qos.MinLimitPercent, []cgroup.Setting{cgroup.MemoryMin}}, {"lowLimitPercent", qos.LowLimitPercent, []cgroup.Setting{cgroup.MemoryLow}},
			{"throttlingPercent", qos.ThrottlingPercent, []cgroup.Setting{cgroup.MemoryHigh}},
			{"wmarkRatio", qos.WmarkRatio, []cgroup.Setting{cgroup.WmarkRatio, cgroup.MemoryReclaim}}, {"wmarkMinAdj", qos.WmarkMinAdj, []cgroup.Setting{cgroup.WmarkMinAdj}},
			{"priorityEnable", qos.PriorityEnable, []cgroup.Setting{cgroup.PriorityOOM}}, {"priority", qos.Priority, []cgroup.Setting{cgroup.OOMPriority}},
			{"oomKillGroup", qos.OomKillGroup, []cgroup.Setting{cgroup.OOMGroup}}, {"pageCacheEnable", qos.PageCacheEnable, []cgroup.Setting{cgroup.PageCacheEnable}},
		} {
			if wanted.value != nil && *wanted.value != 0 && !slices.ContainsFunc(wanted.by, in.supports) {
				p.add(MemoryQoS{}.Name(), "memoryQOS.%s: this kernel has no %s", wanted.name, wanted.by[0].Name)
			}
		}
	}
}

// network adds what Terway does not support, and what only Terway supports. The queues of the node report their own problems.
func (p problems) network(in *NodeSnapshot) {
	annotation := ""
	if in.Node != nil {
		annotation = in.Node.Annotations[extension.AnnotationNodeNetworkBandwidth]
	}
	total, _ := networkqos.TotalOf(in.SLO.SystemStrategy, annotation, 0)
	wanted, byTerway := networkqos.TerwayOf(in.SLO.ResourceQOSStrategy, total)
	for _, problem := range wanted.Problems {
		p.add(nodefeature.TerwayQoS.Name, "%s", problem)
	}
	for _, pod := range in.Pods {
		switch problem := networkqos.OfPod(pod.Object.Annotations, total).Problem; {
		case pod.Object.Annotations[extension.AnnotationNetworkQOS] == "":
		case !byTerway:
			p.add(nodefeature.TCNetworkQoS.Name, "%s: annotation %s is not supported: only Terway limits single pods", named(pod), extension.AnnotationNetworkQOS)
		case problem != "":
			p.add(nodefeature.TerwayQoS.Name, "%s: %s", named(pod), problem)
		}
	}
}

// pod adds the annotations of a pod that cannot be parsed.
func (p problems) pod(in *NodeSnapshot, node cpupool.Node, pod *state.Pod) {
	annotations, class := pod.Object.Annotations, extension.PodQoSClass(pod.Object)
	report := func(feature, problem string) {
		if problem != "" {
			p.add(feature, "%s: %s", named(pod), problem)
		}
	}
	report(CPUSetAllocator{}.Name(), cpupool.Choose(node, cpupool.Pod{QoS: class, KubeQOS: pod.Class(), Annotations: annotations, Owned: pod.Owned}).Problem)
	report(CPUSetAllocator{}.Name(), pod.OwnedProblem)
	identity := groupidentity.OfPod(in.SLO.ResourceQOSStrategy, groupidentity.Pod{QoS: class, KubeQOS: pod.Class(), Annotations: annotations})
	report(GroupIdentity{}.Name(), identity.Problem)
	if _, err := slov1alpha1.PodMemoryQOS(annotations); err != nil {
		report(MemoryQoS{}.Name(), err.Error())
	}
	if _, err := slov1alpha1.PodCPUBurst(annotations); err != nil {
		report((*CPUBurst)(nil).Name(), err.Error())
	}
	for _, containers := range [][]corev1.Container{pod.Object.Spec.InitContainers, pod.Object.Spec.Containers} {
		for i := range containers {
			report((*OOMScoreAdj)(nil).Name(), oomscore.Of(annotations, containers[i].Name, 0).Problem)
		}
	}
}

func named(pod *state.Pod) string { return "pod " + pod.Object.Namespace + "/" + pod.Object.Name }
