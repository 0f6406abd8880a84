package configuration

import (
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// DefaultResourceQOSStrategy returns the built-in kernel settings; every one of them is switched off.
func DefaultResourceQOSStrategy() *slov1alpha1.ResourceQOSStrategy {
	return &slov1alpha1.ResourceQOSStrategy{
		Policies: &slov1alpha1.ResourceQOSPolicies{
			CPUPolicy:    new(slov1alpha1.CPUQOSPolicyGroupIdentity),
			NETQOSPolicy: new(slov1alpha1.NETQOSPolicyTC),
		},
		LSRClass:    DefaultResourceQOS(extension.QoSLSR),
		LSClass:     DefaultResourceQOS(extension.QoSLS),
		BEClass:     DefaultResourceQOS(extension.QoSBE),
		SystemClass: DefaultResourceQOS(extension.QoSSystem),
	}
}

// DefaultResourceQOS returns the built-in kernel settings of one class, switched off; nil for a class without any.
func DefaultResourceQOS(class extension.QoSClass) *slov1alpha1.ResourceQOS {
	cpu, memory, resctrl := defaultCPUQOS(class), defaultMemoryQOS(class), defaultResctrlQOS(class)
	if cpu == nil {
		return nil
	}
	return &slov1alpha1.ResourceQOS{
		CPUQOS:     &slov1alpha1.CPUQOSCfg{Enable: new(false), CPUQOS: *cpu},
		MemoryQOS:  &slov1alpha1.MemoryQOSCfg{Enable: new(false), MemoryQOS: *memory},
		ResctrlQOS: &slov1alpha1.ResctrlQOSCfg{Enable: new(false), ResctrlQOS: *resctrl},
	}
}

func defaultCPUQOS(class extension.QoSClass) *slov1alpha1.CPUQOS {
	qos := func(identity int64, expeller bool) *slov1alpha1.CPUQOS {
		return &slov1alpha1.CPUQOS{GroupIdentity: &identity, SchedIdle: new(int64(0)), CoreExpeller: &expeller}
	}
	switch class {
	case extension.QoSLSE, extension.QoSLSR, extension.QoSLS:
		return qos(2, true)
	case extension.QoSBE:
		return qos(-1, false)
	case extension.QoSSystem:
		return qos(0, false)
	}
	return nil
}

func defaultResctrlQOS(class extension.QoSClass) *slov1alpha1.ResctrlQOS {
	end := int64(100)
	if class == extension.QoSBE {
		end = 30
	}
	return &slov1alpha1.ResctrlQOS{
		CATRangeStartPercent: new(int64(0)),
		CATRangeEndPercent:   &end,
		MBAPercent:           new(int64(100)),
	}
}

func defaultMemoryQOS(class extension.QoSClass) *slov1alpha1.MemoryQOS {
	ratio, scale, adjust := int64(95), int64(20), int64(-25)
	switch class {
	case extension.QoSBE:
		adjust = 50
	case extension.QoSSystem:
		ratio, scale, adjust = 0, 50, 0
	}
	return &slov1alpha1.MemoryQOS{
		MinLimitPercent:   new(int64(0)),
		LowLimitPercent:   new(int64(0)),
		ThrottlingPercent: new(int64(0)),
		WmarkRatio:        &ratio,
		WmarkScalePermill: &scale,
		WmarkMinAdj:       &adjust,
		PriorityEnable:    new(int64(0)),
		Priority:          new(int64(0)),
		OomKillGroup:      new(int64(0)),
	}
}
