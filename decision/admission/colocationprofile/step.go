package colocationprofile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// Kind of a step.
type Kind string

const (
	// Set gives Field the Value.
	Set Kind = "Set"
	// Remove deletes Field.
	Remove Kind = "Remove"
	// Copy gives Field the value of From; without From it stays.
	Copy Kind = "Copy"
	// Append adds Value to the end of Field unless it already ends with it; an absent field stays absent.
	Append Kind = "Append"
	// Merge is a strategic merge patch of the whole pod.
	Merge Kind = "Merge"
)

// Step is one change that a profile makes.
type Step struct {
	Kind  Kind
	Field Field
	// Value of Set and Append.
	Value string
	// From is what Copy reads.
	From Field
	// Patch of Merge, in JSON.
	Patch []byte
}

// MissingPriorityClassError means that a profile names a PriorityClass that does not exist.
type MissingPriorityClassError struct{ Profile, Class string }

// Error names the profile and the class.
func (e *MissingPriorityClassError) Error() string {
	return fmt.Sprintf("colocation profile %q: priorityclass %q not found", e.Profile, e.Class)
}

// CodeOf is the finding that an error of Decide stands for.
func CodeOf(err error) finding.Code {
	if missing := (*MissingPriorityClassError)(nil); errors.As(err, &missing) {
		return finding.AdmissionPriorityClassMissing
	}
	return finding.AdmissionProfileFailed
}

// Steps are the changes a profile makes, in order: labels, annotations, mapped keys, suffixes, scheduler, QoS class,
// priority class, koordinator priority, patch. Within each the keys are in order. The error is a
// *MissingPriorityClassError or says what is wrong with the patch.
func Steps(profile *configv1alpha1.ClusterColocationProfile, classes map[string]PriorityClass) ([]Step, error) {
	spec := &profile.Spec
	var steps []Step
	set := func(area Area, key, value string) {
		steps = append(steps, Step{Kind: Set, Field: Field{Area: area, Key: key}, Value: value})
	}
	setAll := func(area Area, values map[string]string) {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			set(area, key, values[key])
		}
	}
	setAll(Labels, spec.Labels)
	setAll(Annotations, spec.Annotations)
	steps = append(steps, copies(Labels, spec.LabelKeysMapping)...)
	steps = append(steps, copies(Annotations, spec.AnnotationKeysMapping)...)
	for _, key := range slices.Sorted(maps.Keys(spec.LabelSuffixes)) {
		steps = append(steps, Step{Kind: Append, Field: Field{Area: Labels, Key: key}, Value: spec.LabelSuffixes[key]})
	}
	if spec.SchedulerName != "" {
		set(SchedulerName, "", spec.SchedulerName)
	}
	if spec.QoSClass != "" {
		set(Labels, extension.LabelPodQoS, spec.QoSClass)
	}
	if spec.PriorityClassName != "" {
		class, ok := classes[spec.PriorityClassName]
		if !ok {
			return nil, &MissingPriorityClassError{Profile: profile.Name, Class: spec.PriorityClassName}
		}
		set(PriorityClassName, "", spec.PriorityClassName)
		set(Priority, "", strconv.FormatInt(int64(class.Value), 10))
		set(PreemptionPolicy, "", string(policyOrDefault(class.PreemptionPolicy)))
	}
	if spec.KoordinatorPriority != nil {
		set(Labels, extension.LabelPodPriority, extension.FormatSubPriority(int64(*spec.KoordinatorPriority)))
	}
	patched, err := patchSteps(spec.Patch.Raw)
	if err != nil {
		return nil, fmt.Errorf("colocation profile %q: %w", profile.Name, err)
	}
	return append(steps, patched...), nil
}

func policyOrDefault(policy corev1.PreemptionPolicy) corev1.PreemptionPolicy {
	if policy == "" {
		return corev1.PreemptLowerPriority
	}
	return policy
}

func copies(area Area, mapping map[string]string) []Step {
	var steps []Step
	for _, from := range slices.Sorted(maps.Keys(mapping)) {
		steps = append(steps, Step{Kind: Copy, From: Field{Area: area, Key: from}, Field: Field{Area: area, Key: mapping[from]}})
	}
	return steps
}

// patchSteps takes a patch of nothing but labels and annotations apart, and makes any other one Merge step.
func patchSteps(raw []byte) ([]Step, error) {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "{}" {
		return nil, nil
	}
	if steps, ok := metadataSteps(raw); ok {
		return steps, nil
	}
	// Merging with an empty pod shows whether the patch fits the type at all.
	merged, err := strategicpatch.StrategicMergePatch([]byte("{}"), raw, corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("read patch: %w", err)
	}
	if err := json.Unmarshal(merged, &corev1.Pod{}); err != nil {
		return nil, fmt.Errorf("read patch: %w", err)
	}
	return []Step{{Kind: Merge, Patch: raw}}, nil
}

// metadataSteps is true when a patch sets or removes labels and annotations and does nothing else.
func metadataSteps(raw []byte) ([]Step, bool) {
	var patch map[string]map[string]map[string]*string
	if err := json.Unmarshal(raw, &patch); err != nil || len(patch) != 1 {
		return nil, false
	}
	var steps []Step
	for _, name := range slices.Sorted(maps.Keys(patch["metadata"])) {
		area := Area("metadata." + name)
		if area != Labels && area != Annotations {
			return nil, false
		}
		values := patch["metadata"][name]
		for _, key := range slices.Sorted(maps.Keys(values)) {
			step := Step{Kind: Remove, Field: Field{Area: area, Key: key}}
			if key == "$patch" || key == "$retainKeys" {
				return nil, false
			}
			if value := values[key]; value != nil {
				step.Kind, step.Value = Set, *value
			}
			steps = append(steps, step)
		}
	}
	return steps, len(steps) > 0
}
