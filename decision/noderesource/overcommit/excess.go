package overcommit

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/configmerge"
)

// whole is the largest reclaim threshold, in percent, at which no more is offered than the node has left.
const whole = 100

// Excess is the part of an offer that the node does not have.
type Excess struct {
	// Name of the resource.
	Name corev1.ResourceName
	// Offered in all, and Beyond what the node has left, in milli-cores or bytes.
	Offered, Beyond int64
	// Setting that allows it.
	Setting diagnosticsv1alpha1.Setting
}

// Excesses compares an offer with the one that the same node would make if no more than all of it could be used. A
// threshold above 100 % is legal and may be meant, but then pods that are given the offer can want more than there is.
func Excesses(in NodeInput, result Result) []Excess {
	capped := in
	strategy := &capped.Strategy.Strategy
	cpu, memory := capAt(&strategy.CPUReclaimThresholdPercent), capAt(&strategy.MemoryReclaimThresholdPercent)
	if !cpu && !memory {
		return nil
	}
	possible := Calculate(capped, nil)
	var out []Excess
	for _, resource := range []struct {
		name corev1.ResourceName
		key  string
	}{{extension.BatchCPU, "cpuReclaimThresholdPercent"}, {extension.BatchMemory, "memoryReclaimThresholdPercent"}} {
		offered, _ := result.Of(resource.name)
		left, _ := possible.Of(resource.name)
		if more := offered.Value - left.Value; more > 0 {
			out = append(out, Excess{
				Name: resource.name, Offered: offered.Value, Beyond: more, Setting: excessSetting(in.Strategy, resource.key),
			})
		}
	}
	return out
}

// capAt replaces a threshold above 100 % by one of 100 %, and reports whether it was.
func capAt(threshold **int64) bool {
	if *threshold == nil || **threshold <= whole {
		return false
	}
	*threshold = new(int64(whole))
	return true
}

func excessSetting(merged configmerge.Merged, key string) diagnosticsv1alpha1.Setting {
	for _, setting := range merged.Settings {
		if setting.Key == key {
			return setting
		}
	}
	return diagnosticsv1alpha1.Setting{Key: key, Value: "above 100"}
}

// Finding reports the excess of a node. The object is what holds the setting.
func (e Excess) Finding(in *NodeInput) diagnosticsv1alpha1.Finding {
	out := diagnosticsv1alpha1.Finding{
		Code: string(finding.OfferBeyondNode), Severity: diagnosticsv1alpha1.SeverityWarning, Message: e.Message(in.Node.Name),
	}
	switch e.Setting.Layer {
	case configmerge.LayerNodeAnnotation, configmerge.LayerNodeLabel:
		out.Object = &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: in.Node.Name, Field: "metadata"}
		out.Hint = "kubectl edit node " + in.Node.Name
	default:
		out.Object = &diagnosticsv1alpha1.SourceRef{
			Kind: "ConfigMap", Namespace: in.ConfigMap.Namespace, Name: in.ConfigMap.Name, Field: "data[" + configuration.ColocationConfigKey + "]",
		}
		out.Hint = configmerge.EditHint
	}
	return out
}

// Message is one sentence with the numbers and the setting.
func (e Excess) Message(node string) string {
	where := ""
	if e.Setting.Layer != "" {
		where = " (" + e.Setting.Layer + ")"
	}
	return fmt.Sprintf("Node %s offers %s of %s, %s more than it has left: %s is %s%s.", node, e.amount(e.Offered),
		strings.TrimPrefix(string(e.Name), extension.ResourceDomainPrefix), e.amount(e.Beyond), e.Setting.Key, e.Setting.Value, where)
}

// amount shows milli-cores as cores, and bytes with a binary suffix.
func (e Excess) amount(value int64) string {
	if e.Name == extension.BatchCPU {
		return formatCPU(value)
	}
	return formatBytes(value)
}
