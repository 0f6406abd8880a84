package prodovercommit

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// Trace says what became of a pod's requests.
type Trace struct {
	// Source of the factor: profile/NAME or namespace/NAME.
	Source string `json:"source"`
	// Factor by resource.
	Factor map[corev1.ResourceName]extension.Ratio `json:"factor,omitempty"`
	// Reason says why the pod is left alone; empty when it is not.
	Reason string `json:"reason,omitempty"`
	// Amounts lists the requests that follow from limits, in the order of containers and then cpu before memory.
	Amounts []Amount `json:"amounts,omitempty"`
}

// Amount is one request.
type Amount struct {
	// Field is its path in the pod.
	Field string `json:"field"`
	// Limit it follows from; Before is empty when nothing was requested.
	Limit  string `json:"limit"`
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
}

func (t *Trace) begin(source string) {
	if t != nil {
		*t = Trace{Source: source}
	}
}

func (t *Trace) read(factors map[corev1.ResourceName]extension.Ratio) {
	if t != nil {
		t.Factor = factors
	}
}

// spared records why the pod is left alone.
func (t *Trace) spared(format string, values ...any) {
	if t != nil {
		t.Reason = fmt.Sprintf(format, values...)
	}
}
