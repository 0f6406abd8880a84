package qos

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/networkqos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// Names of classes in a ResourceQOSStrategy.
const (
	lsrClass    = "lsrClass"
	lsClass     = "lsClass"
	beClass     = "beClass"
	systemClass = "systemClass"
	cgroupRoot  = "cgroupRoot"
)

// namedClass is the settings of one class, which are there.
type namedClass struct {
	name string
	qos  *slov1alpha1.ResourceQOS
}

// classesOf a strategy that there are.
func classesOf(strategy *slov1alpha1.ResourceQOSStrategy) []namedClass {
	if strategy == nil {
		return nil
	}
	return slices.DeleteFunc([]namedClass{
		{lsrClass, strategy.LSRClass}, {lsClass, strategy.LSClass}, {beClass, strategy.BEClass}, {systemClass, strategy.SystemClass}, {cgroupRoot, strategy.CgroupRoot},
	}, func(c namedClass) bool { return c.qos == nil })
}

func isOn(enable *bool) bool { return enable != nil && *enable }

// unsupportedSettings adds the settings of a NodeSLO that are set where they have no effect. TestEverySettingIsFollowed lists where each has one.
func (p problems) unsupportedSettings(slo *slov1alpha1.NodeSLOSpec) {
	policy := networkqos.PolicyOf(slo.ResourceQOSStrategy)
	for _, class := range classesOf(slo.ResourceQOSStrategy) {
		p.unsupportedClass(class)
		p.unsupportedNetwork(class, policy)
		if blocks := class.qos.BlkIOQOS; blocks != nil && isOn(blocks.Enable) {
			for _, block := range blocks.Blocks {
				p.unsupportedBlock(class.name, block)
			}
		}
	}
	p.unsupportedPolicies(slo, policy)
}

// setting is the path of a setting in messages.
func setting(class, name string) string { return "resourceQOSStrategy." + class + "." + name }

// unsupportedClass adds settings that a class cannot have.
func (p problems) unsupportedClass(class namedClass) {
	qos := class.qos
	cpu, memory := qos.CPUQOS != nil && isOn(qos.CPUQOS.Enable), qos.MemoryQOS != nil && isOn(qos.MemoryQOS.Enable)
	switch resctrl := qos.ResctrlQOS != nil && isOn(qos.ResctrlQOS.Enable); {
	case resctrl && class.name == systemClass:
		p.add(nodefeature.RdtResctrl.Name, "%s is not supported: SYSTEM pods stay in the root group", setting(class.name, "resctrlQOS"))
	case resctrl && class.name == cgroupRoot:
		p.add(nodefeature.RdtResctrl.Name, "%s is not supported: the root group has everything", setting(class.name, "resctrlQOS"))
	}
	if class.name != cgroupRoot {
		return
	}
	if cpu {
		p.add(GroupIdentity{}.Name(), "%s is not supported: only groups of pods have an identity", setting(class.name, "cpuQOS"))
	}
	if memory {
		p.add(MemoryQoS{}.Name(), "%s is not supported: only groups of pods are protected and bounded", setting(class.name, "memoryQOS"))
	}
}

// unsupportedNetwork adds bandwidths that nothing enforces.
func (p problems) unsupportedNetwork(class namedClass, policy slov1alpha1.NETQOSPolicy) {
	qos := class.qos.NetworkQOS
	if qos == nil || !isOn(qos.Enable) {
		return
	}
	feature := nodefeature.TCNetworkQoS.Name
	if policy == slov1alpha1.NETQOSPolicyTerwayQos {
		feature = nodefeature.TerwayQoS.Name
	}
	why := ""
	switch {
	case class.name == lsrClass:
		why = "LSE and LSR pods are among those of lsClass"
	case class.name == cgroupRoot:
		why = "it is the node's, see systemStrategy.totalNetworkBandwidth"
	case class.name == systemClass && feature == nodefeature.TerwayQoS.Name:
		why = "Terway has no level for SYSTEM pods"
	}
	if why != "" {
		p.add(feature, "%s is not supported: %s", setting(class.name, "networkQOS"), why)
		return
	}
	if feature != nodefeature.TerwayQoS.Name && (changesBandwidth(qos.IngressRequest, 0) || changesBandwidth(qos.IngressLimit, 100)) {
		p.add(feature, "%s is not supported: what pods receive is not queued", setting(class.name, "networkQOS.ingress*"))
	}
}

// changesBandwidth is true for a bandwidth that is set to something else than the percentage that changes nothing.
func changesBandwidth(bandwidth *intstr.IntOrString, idle int32) bool {
	return bandwidth != nil && (bandwidth.Type != intstr.Int || bandwidth.IntVal != idle)
}

// unsupportedBlock adds settings of a block device that belong to another cgroup.
func (p problems) unsupportedBlock(class string, block *slov1alpha1.BlockCfg) {
	if block == nil {
		return
	}
	feature, at := (*BlkIOReconcile)(nil).Name(), fmt.Sprintf("%s %.64q", setting(class, "blkioQOS"), block.Name)
	switch block.BlockType {
	case slov1alpha1.BlockTypeDevice, slov1alpha1.BlockTypeVolumeGroup:
	case slov1alpha1.BlockTypePodVolume:
		if class == cgroupRoot {
			p.add(feature, "%s is not supported: a podvolume belongs to a pod", at)
			return
		}
	default:
		p.add(feature, "%s is not supported: unknown block type %.64q", at, block.BlockType)
		return
	}
	io := &block.IOCfg
	bounds := set(map[string]bool{
		"readIOPS": io.ReadIOPS != nil, "writeIOPS": io.WriteIOPS != nil, "readBPS": io.ReadBPS != nil, "writeBPS": io.WriteBPS != nil, "ioWeightPercent": io.IOWeightPercent != nil,
	})
	costs := set(map[string]bool{
		"readLatency": io.ReadLatency != nil, "writeLatency": io.WriteLatency != nil, "readLatencyPercent": io.ReadLatencyPercent != nil,
		"writeLatencyPercent": io.WriteLatencyPercent != nil, "enableUserModel": io.EnableUserModel != nil && *io.EnableUserModel,
	})
	switch {
	case class == cgroupRoot && bounds != "":
		p.add(feature, "%s: %s is not supported: the root has no bounds and no siblings", at, bounds)
	case class != cgroupRoot && costs != "":
		p.add(feature, "%s: %s is not supported: it is for cgroupRoot", at, costs)
	}
}

// set lists the names that are.
func set(names map[string]bool) string {
	var out []string
	for name, is := range names {
		if is {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// unsupportedPolicies adds unknown policies, and settings that the chosen policy leaves without effect.
func (p problems) unsupportedPolicies(slo *slov1alpha1.NodeSLOSpec, network slov1alpha1.NETQOSPolicy) {
	if network != slov1alpha1.NETQOSPolicyTC && network != slov1alpha1.NETQOSPolicyTerwayQos {
		p.add(nodefeature.TCNetworkQoS.Name, "resourceQOSStrategy.policies.netQOSPolicy %.64q is not supported", network)
	}
	if burst := slo.CPUBurstStrategy; burst != nil {
		switch burst.Policy {
		case "", slov1alpha1.CPUBurstNone, slov1alpha1.CPUBurstOnly, slov1alpha1.CFSQuotaBurstOnly, slov1alpha1.CPUBurstAuto:
		default:
			p.add((*CPUBurst)(nil).Name(), "cpuBurstStrategy.policy %.64q is not supported", burst.Policy)
		}
	}
	strategy := slo.ResourceQOSStrategy
	if strategy == nil {
		return
	}
	policy := slov1alpha1.CPUQOSPolicyGroupIdentity
	if strategy.Policies != nil && strategy.Policies.CPUPolicy != nil {
		policy = *strategy.Policies.CPUPolicy
	}
	switch policy {
	case slov1alpha1.CPUQOSPolicyCoreSched:
		return
	case slov1alpha1.CPUQOSPolicyGroupIdentity, "":
	default:
		p.add(GroupIdentity{}.Name(), "resourceQOSStrategy.policies.cpuPolicy %.64q is not supported", policy)
	}
	for _, class := range classesOf(strategy) {
		if cpu := class.qos.CPUQOS; cpu != nil && isOn(cpu.Enable) && cpu.SchedIdle != nil && *cpu.SchedIdle != 0 && class.name != cgroupRoot {
			p.add(GroupIdentity{}.Name(), "%s has no effect: it requires the policy coreSched", setting(class.name, "cpuQOS.schedIdle"))
		}
	}
}
