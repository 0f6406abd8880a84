package memoryqos

import (
	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Source says where the settings of a pod come from.
type Source string

const (
	// FromClass is the node's strategy for the pod's class.
	FromClass Source = "class"
	// FromReset is what the kernel begins with, because the class is switched off.
	FromReset Source = "disabled"
	// FromNone is the same, because the pod's annotation says none.
	FromNone Source = "podPolicyNone"
	// FromAuto is the built-in settings of the class, because the pod's annotation says auto.
	FromAuto Source = "podPolicyAuto"
)

// ResetSettings are what the kernel begins with.
func ResetSettings() slov1alpha1.MemoryQOS {
	return slov1alpha1.MemoryQOS{
		MinLimitPercent: new(int64(0)), LowLimitPercent: new(int64(0)), ThrottlingPercent: new(int64(0)),
		WmarkRatio: new(int64(0)), WmarkScalePermill: new(int64(50)), WmarkMinAdj: new(int64(0)),
		PriorityEnable: new(int64(0)), Priority: new(int64(0)), OomKillGroup: new(int64(0)),
	}
}

// SettingsOf are the settings of a pod: the node's for its class, overridden field by field by its annotation. A pod that
// says none is reset; one that says auto begins with the built-in settings, whatever the node has. Either argument may be nil.
func SettingsOf(strategy *slov1alpha1.ResourceQOSStrategy, class extension.QoSClass, pod *slov1alpha1.PodMemoryQOSConfig) (slov1alpha1.MemoryQOS, Source) {
	settings, source := ClassSettings(strategy, class)
	if pod == nil {
		return settings, source
	}
	switch pod.Policy {
	case slov1alpha1.PodMemoryQOSPolicyNone:
		return ResetSettings(), FromNone
	case slov1alpha1.PodMemoryQOSPolicyAuto:
		if builtin := configuration.DefaultResourceQOS(class); builtin != nil {
			settings, source = builtin.MemoryQOS.MemoryQOS, FromAuto
		}
	}
	return overridden(settings, pod.MemoryQOS), source
}

// ClassSettings are the settings of a class; the reset ones where it is not switched on.
func ClassSettings(strategy *slov1alpha1.ResourceQOSStrategy, class extension.QoSClass) (slov1alpha1.MemoryQOS, Source) {
	qos := strategy.OfClass(class)
	if qos == nil || qos.MemoryQOS == nil || qos.MemoryQOS.Enable == nil || !*qos.MemoryQOS.Enable {
		return ResetSettings(), FromReset
	}
	return qos.MemoryQOS.MemoryQOS, FromClass
}

// overridden takes the fields of the second where they are set.
func overridden(base, over slov1alpha1.MemoryQOS) slov1alpha1.MemoryQOS {
	take := func(field **int64, value *int64) {
		if value != nil {
			*field = value
		}
	}
	take(&base.MinLimitPercent, over.MinLimitPercent)
	take(&base.LowLimitPercent, over.LowLimitPercent)
	take(&base.ThrottlingPercent, over.ThrottlingPercent)
	take(&base.WmarkRatio, over.WmarkRatio)
	take(&base.WmarkScalePermill, over.WmarkScalePermill)
	take(&base.WmarkMinAdj, over.WmarkMinAdj)
	take(&base.PageCacheEnable, over.PageCacheEnable)
	take(&base.PageCacheLimitPercent, over.PageCacheLimitPercent)
	take(&base.PageCacheLimitSize, over.PageCacheLimitSize)
	take(&base.PageCacheReclaimSync, over.PageCacheReclaimSync)
	take(&base.PriorityEnable, over.PriorityEnable)
	take(&base.Priority, over.Priority)
	take(&base.OomKillGroup, over.OomKillGroup)
	return base
}
