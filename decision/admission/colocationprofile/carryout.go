package colocationprofile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// PatchField is the field of a Merge step in the trace.
const PatchField = "patch"

// carryOut does one step on the pod and says what it changed.
func (s Step) carryOut(pod *corev1.Pod) (Change, error) {
	if s.Kind == Merge {
		return merge(pod, s.Patch)
	}
	before, present := s.Field.get(pod)
	change := Change{Field: s.Field.String(), Before: before, Outcome: Unchanged}
	value := s.Value
	switch s.Kind {
	case Remove:
		if present {
			s.Field.remove(pod)
			change.Outcome = Changed
		}
		return change, nil
	case Copy:
		source, ok := s.From.get(pod)
		if !ok {
			change.Outcome, change.After = Left, before
			change.Reason = fmt.Sprintf("there is no %s to copy", s.From)
			return change, nil
		}
		value, change.Reason = source, fmt.Sprintf("copied from %s", s.From)
	case Append:
		if !present {
			change.Outcome, change.Reason = Left, "the pod does not have it"
			return change, nil
		}
		value = before
		if !strings.HasSuffix(before, s.Value) {
			value = before + s.Value
		}
	}
	change.After = value
	if present && before == value {
		return change, nil
	}
	change.Outcome = Changed
	return change, s.Field.set(pod, value)
}

// merge applies a strategic merge patch to the pod.
func merge(pod *corev1.Pod, patch []byte) (Change, error) {
	before, err := json.Marshal(pod)
	if err != nil {
		return Change{}, fmt.Errorf("encode pod: %w", err)
	}
	merged, err := strategicpatch.StrategicMergePatch(before, patch, corev1.Pod{})
	if err != nil {
		return Change{}, fmt.Errorf("apply patch: %w", err)
	}
	var patched corev1.Pod
	if err := json.Unmarshal(merged, &patched); err != nil {
		return Change{}, fmt.Errorf("decode the patched pod: %w", err)
	}
	after, err := json.Marshal(&patched)
	if err != nil {
		return Change{}, fmt.Errorf("encode the patched pod: %w", err)
	}
	change := Change{Field: PatchField, Outcome: Unchanged, After: string(patch)}
	if !bytes.Equal(before, after) {
		change.Outcome = Changed
		*pod = patched
	}
	return change, nil
}
