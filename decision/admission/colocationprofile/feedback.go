package colocationprofile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

// Feedback finds the profiles that would change a pod again if they were applied to their own result: those of which one
// reads what another writes, a selector included. It returns the reason by the name of the profile, for the reading and the
// writing one. Without such profiles and without probabilities Decide is idempotent, so that admission may repeat it after
// another webhook has added a container. Profiles that never apply take no part.
func Feedback(profiles []configv1alpha1.ClusterColocationProfile, classes map[string]PriorityClass) map[string]string {
	type access struct {
		profile string
		step    int
		field   Field
	}
	var writes, reads []access
	found := map[string]string{}
	selectors := map[string]labels.Requirements{}
	for _, profile := range ByName(profiles) {
		steps, err := Steps(profile, classes)
		parsed, selectorErr := SelectorsOf(profile)
		percent, percentErr := Percent(profile.Spec.Probability)
		if err != nil || selectorErr != nil || percentErr != nil || percent == 0 {
			continue
		}
		selectors[profile.Name] = stableUnder(parsed.Pod, steps)
		for i, step := range steps {
			for _, field := range step.writes() {
				writes = append(writes, access{profile.Name, i, field})
			}
			for _, field := range step.reads() {
				reads = append(reads, access{profile.Name, i, field})
			}
			if step.Kind == Merge && touchesResources(step.Patch) {
				found[profile.Name] = "its patch sets resources, which are translated afterwards"
			}
			if step.Kind == Merge && replacesMetadata(step.Patch) {
				found[profile.Name] = "its patch replaces the labels or annotations as a whole"
			}
		}
		for i := range parsed.Pod {
			reads = append(reads, access{profile.Name, -1, Field{Area: Labels, Key: parsed.Pod[i].Key()}})
		}
	}
	writes = append(writes, access{step: -1, field: Field{Area: Annotations, Key: extension.AnnotationExtendedResourceSpec}})
	for _, read := range reads {
		for _, write := range writes {
			sameStep := read.profile == write.profile && read.step == write.step
			if read.field != write.field || sameStep || read.step == -1 && read.profile == write.profile && keeps(selectors[read.profile], read.field.Key) {
				continue
			}
			reason := fmt.Sprintf("profile %q reads %s, which profile %q writes", read.profile, read.field, write.profile)
			found[read.profile] = reason
			if write.profile != "" {
				found[write.profile] = reason
			}
		}
	}
	return found
}

// stableUnder returns the requirements that the profile's own steps leave met: every write to the key sets a value that
// meets all requirements on it.
func stableUnder(list labels.Requirements, steps []Step) labels.Requirements {
	var stable labels.Requirements
	for i := range list {
		met := true
		for _, step := range steps {
			if !slices.Contains(step.writes(), Field{Area: Labels, Key: list[i].Key()}) {
				continue
			}
			met = met && step.Kind == Set && list[i].Matches(labels.Set{list[i].Key(): step.Value})
		}
		if met {
			stable = append(stable, list[i])
		}
	}
	return stable
}

// keeps reports whether a key is among the requirements.
func keeps(list labels.Requirements, key string) bool {
	return slices.ContainsFunc(list, func(r labels.Requirement) bool { return r.Key() == key })
}

func (s Step) reads() []Field {
	switch s.Kind {
	case Copy:
		return []Field{s.From}
	case Append:
		return []Field{s.Field}
	}
	return nil
}

func (s Step) writes() []Field {
	if s.Kind != Merge {
		return []Field{s.Field}
	}
	var patch struct {
		Metadata struct {
			Labels      map[string]any `json:"labels"`
			Annotations map[string]any `json:"annotations"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(s.Patch, &patch); err != nil {
		return nil
	}
	var fields []Field
	for _, key := range slices.Sorted(maps.Keys(patch.Metadata.Labels)) {
		fields = append(fields, Field{Area: Labels, Key: key})
	}
	for _, key := range slices.Sorted(maps.Keys(patch.Metadata.Annotations)) {
		fields = append(fields, Field{Area: Annotations, Key: key})
	}
	return fields
}

// replacesMetadata reports whether a patch removes or replaces all labels or annotations, whatever they are.
func replacesMetadata(raw []byte) bool {
	var patch struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &patch); err != nil {
		return true
	}
	for name, value := range patch.Metadata {
		whole := string(value) == "null" || bytes.Contains(value, []byte(`"$`))
		if whole && (name == "labels" || name == "annotations" || name == "$patch") {
			return true
		}
	}
	return patch.Metadata["$patch"] != nil
}

// touchesResources reports whether a patch sets resources of the pod or of a container.
func touchesResources(raw []byte) bool {
	var patch struct {
		Spec struct {
			Resources      any              `json:"resources"`
			Overhead       any              `json:"overhead"`
			Containers     []map[string]any `json:"containers"`
			InitContainers []map[string]any `json:"initContainers"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &patch); err != nil {
		return true
	}
	return patch.Spec.Resources != nil || patch.Spec.Overhead != nil ||
		slices.ContainsFunc(slices.Concat(patch.Spec.Containers, patch.Spec.InitContainers), func(container map[string]any) bool {
			return container["resources"] != nil
		})
}
