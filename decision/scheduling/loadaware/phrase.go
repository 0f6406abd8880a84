package loadaware

import (
	"fmt"

	"koordinator.sh/koord/api/finding"
)

// Phrase says a refusal in a summary, after the number of nodes.
func (v Verdict) Phrase() string {
	switch v.Code {
	case finding.LoadMetricExpired:
		return "had an expired NodeMetric"
	case finding.LoadAggregatedExceeded:
		return fmt.Sprintf("aggregated %s usage above %d%%", v.Resource, v.Threshold)
	}
	return fmt.Sprintf("%s usage above %d%%", v.Resource, v.Threshold)
}

// Distance of a refused node from passing: by how much of the node a threshold is exceeded, 1 where no usage is known.
func (v Verdict) Distance() float64 {
	if v.Code == finding.LoadMetricExpired {
		return 1
	}
	return float64(v.Percent-v.Threshold) / 100
}
