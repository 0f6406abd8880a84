package burst

import (
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Defaults of a burst strategy.
const (
	DefaultCPUBurstPercent   = 1000
	DefaultQuotaBurstPercent = 300
	DefaultPeriodSeconds     = -1
	DefaultSharePoolPercent  = 50
)

// Config is how far the containers of one pod may burst.
type Config struct {
	Policy slov1alpha1.CPUBurstPolicy `json:"policy"`
	// CPUBurstPercent of the limit may be saved up.
	CPUBurstPercent int64 `json:"cpuBurstPercent"`
	// QuotaBurstPercent of the limit is the largest quota.
	QuotaBurstPercent int64 `json:"cfsQuotaBurstPercent"`
	// PeriodSeconds for which the largest quota may be used up; negative for ever.
	PeriodSeconds int64 `json:"cfsQuotaBurstPeriodSeconds"`
}

// ConfigOf merges what a pod's annotation sets over what the node's strategy sets over the defaults. Either may be nil.
func ConfigOf(node, pod *slov1alpha1.CPUBurstConfig) Config {
	out := Config{
		Policy: slov1alpha1.CPUBurstNone, CPUBurstPercent: DefaultCPUBurstPercent,
		QuotaBurstPercent: DefaultQuotaBurstPercent, PeriodSeconds: DefaultPeriodSeconds,
	}
	for _, layer := range []*slov1alpha1.CPUBurstConfig{node, pod} {
		if layer == nil {
			continue
		}
		if layer.Policy != "" {
			out.Policy = layer.Policy
		}
		set(&out.CPUBurstPercent, layer.CPUBurstPercent)
		set(&out.QuotaBurstPercent, layer.CFSQuotaBurstPercent)
		set(&out.PeriodSeconds, layer.CFSQuotaBurstPeriodSeconds)
	}
	return out
}

func set(value *int64, layer *int64) {
	if layer != nil {
		*value = *layer
	}
}

// Bursts says whether the policy lets containers have more than their limit at any time; a policy that is not known does not.
func (c Config) Bursts() bool { return c.saves() || c.scales() }

// saves says whether unused quota may be saved up.
func (c Config) saves() bool {
	return c.Policy == slov1alpha1.CPUBurstOnly || c.Policy == slov1alpha1.CPUBurstAuto
}

// scales says whether the quota may grow.
func (c Config) scales() bool {
	return c.Policy == slov1alpha1.CFSQuotaBurstOnly || c.Policy == slov1alpha1.CPUBurstAuto
}

// Burstable says whether pods of a class may burst: those that share CPUs and are not best effort. LSE and LSR pods have
// exclusive CPUs and no quota.
func Burstable(class extension.QoSClass) bool {
	return class != extension.QoSLSE && class != extension.QoSLSR && class != extension.QoSBE
}
