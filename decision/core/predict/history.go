package predict

import (
	"fmt"
	"math"
	"time"
)

// Resource says what is predicted.
type Resource string

const (
	// CPU can be taken away for a moment; a peak above the prediction slows pods down.
	CPU Resource = "cpu"
	// Memory cannot; a peak above the prediction ends in a kill, so nothing is predicted from deviations.
	Memory Resource = "memory"
)

// Pod is one pod and what it used.
type Pod struct {
	Name string
	// Limit is the most the pod may use, or else its request, in the unit of Usage. A prediction never exceeds it.
	Limit float64
	// Usage at regular steps, the oldest first; the last value is of the present. A pod that is younger than others has fewer.
	Usage []float64
}

// History is the pods of a node, or of a class on it, and their past.
type History struct {
	Resource Resource
	// Now is the time of the last values; the time of day matters to the seasonal predictor only.
	Now time.Time
	// Step between two values.
	Step time.Duration
	// ColdStart is the age below which a pod is taken to need its limit; 0 for pods without any past only.
	ColdStart time.Duration
	// Horizon is how far ahead the peak is looked for.
	Horizon time.Duration
	Pods    []Pod
}

// steps is the number of values in a time, at least one.
func (h *History) steps(of time.Duration) int { return max(int(of/h.Step), 1) }

// cold says whether a pod is too young to be predicted.
func (h *History) cold(p *Pod) bool {
	return len(p.Usage) == 0 || time.Duration(len(p.Usage))*h.Step < h.ColdStart
}

// warm are the pods to predict, and the sum of the limits of those that are too young.
func (h *History) warm() (pods []*Pod, cold float64) {
	for i := range h.Pods {
		if h.cold(&h.Pods[i]) {
			cold += h.Pods[i].Limit
			continue
		}
		pods = append(pods, &h.Pods[i])
	}
	return pods, cold
}

// limits is the sum of all limits.
func (h *History) limits() float64 {
	sum := 0.0
	for i := range h.Pods {
		sum += h.Pods[i].Limit
	}
	return sum
}

// sums adds up pods at each of the last n steps, as far back as the longest history. A pod that did not exist counts for
// nothing.
func sums(pods []*Pod, n int) []float64 {
	longest := 0
	for _, p := range pods {
		longest = max(longest, len(p.Usage))
	}
	out := make([]float64, min(longest, n))
	for _, p := range pods {
		usage := p.Usage[max(len(p.Usage)-len(out), 0):]
		for i, value := range usage {
			out[len(out)-len(usage)+i] += value
		}
	}
	return out
}

// Validate says what makes a history unusable: a step that is not positive, or a value that is no amount.
func (h *History) Validate() error {
	if h.Step <= 0 {
		return fmt.Errorf("predict: step %s is not positive", h.Step)
	}
	for i := range h.Pods {
		p := &h.Pods[i]
		if !amount(p.Limit) {
			return fmt.Errorf("predict: limit %g of pod %q is not an amount", p.Limit, p.Name)
		}
		for _, value := range p.Usage {
			if !amount(value) {
				return fmt.Errorf("predict: usage %g of pod %q is not an amount", value, p.Name)
			}
		}
	}
	return nil
}

func amount(value float64) bool { return value >= 0 && !math.IsInf(value, 0) }
