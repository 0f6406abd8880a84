package report

import (
	"encoding/json"
	"fmt"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// ownFields are the fields of a NodeMetric's status that the agent answers for. Those it does not set are removed, so
// that no old value outlives its measurement; all others are left as they are.
var ownFields = []string{"nodeMetric", "podsMetric", "hostApplicationMetric", "prodReclaimableMetric", "prodPeakMetric", "conditions"}

// ownNodeFields are the agent's fields of status.nodeMetric.
var ownNodeFields = []string{"nodeUsage", "aggregatedNodeUsages", "systemUsage", "aggregatedSystemUsages", "numaUsages"}

// Patch is the JSON merge patch (RFC 7386) that makes a NodeMetric's status say what it should, and leaves fields that
// this version does not know alone.
func Patch(status *slov1alpha1.NodeMetricStatus) ([]byte, error) {
	fields, err := object(status)
	if err != nil {
		return nil, err
	}
	removeAbsent(fields, ownFields)
	if status.NodeMetric != nil {
		node, err := object(status.NodeMetric)
		if err != nil {
			return nil, err
		}
		removeAbsent(node, ownNodeFields)
		if fields["nodeMetric"], err = json.Marshal(node); err != nil {
			return nil, fmt.Errorf("encode node usage: %w", err)
		}
	}
	patch, err := json.Marshal(map[string]any{"status": fields})
	if err != nil {
		return nil, fmt.Errorf("encode NodeMetric status: %w", err)
	}
	return patch, nil
}

// object is the JSON of a value, one level deep.
func object(value any) (map[string]json.RawMessage, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode NodeMetric status: %w", err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, fmt.Errorf("encode NodeMetric status: %w", err)
	}
	return fields, nil
}

func removeAbsent(fields map[string]json.RawMessage, own []string) {
	for _, name := range own {
		if _, set := fields[name]; !set {
			fields[name] = json.RawMessage("null")
		}
	}
}
