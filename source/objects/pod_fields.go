package objects

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// keyed are the maps of a pod whose keys are chosen by users: these stand in brackets.
var keyed = []string{"labels", "annotations", "requests", "limits", "overhead", "nodeSelector", "matchLabels"}

// podFields are the fields of a pod as text, by their paths, such as spec.containers[main].resources.requests[cpu].
func podFields(pod *corev1.Pod) (map[string]string, error) {
	encoded, err := json.Marshal(&corev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec})
	if err != nil {
		return nil, fmt.Errorf("encode pod: %w", err)
	}
	var decoded map[string]any
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		return nil, fmt.Errorf("decode pod: %w", err)
	}
	delete(decoded, "status")
	fields := map[string]string{}
	flatten(fields, "", "", decoded)
	return fields, nil
}

// flatten adds the fields below a path whose last part is name.
func flatten(fields map[string]string, path, name string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			switch {
			case path == "":
				flatten(fields, key, key, below)
			case slices.Contains(keyed, name):
				flatten(fields, path+"["+key+"]", "", below)
			default:
				flatten(fields, path+"."+key, key, below)
			}
		}
	case []any:
		names := itemNames(v)
		for i, below := range v {
			flatten(fields, path+"["+names[i]+"]", "", below)
		}
	case string:
		fields[path] = v
	case nil:
	default:
		text, _ := json.Marshal(v) // numbers and booleans always encode
		fields[path] = string(text)
	}
}

// itemNames are the names of the items of a list, or their places where they do not all have names of their own.
func itemNames(list []any) []string {
	names, taken := make([]string, len(list)), map[string]bool{}
	for i, item := range list {
		object, _ := item.(map[string]any)
		names[i], _ = object["name"].(string)
		if names[i] == "" || taken[names[i]] {
			for i := range list {
				names[i] = strconv.Itoa(i)
			}
			return names
		}
		taken[names[i]] = true
	}
	return names
}

// podChanges are the fields that differ between two pods, in the order of their paths, of those that count; nil counts all.
func podChanges(before, after *corev1.Pod, counts func(path string) bool) ([]diagnosticsv1alpha1.AdmissionChange, error) {
	old, err := podFields(before)
	if err != nil {
		return nil, err
	}
	changed, err := podFields(after)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(old)
	maps.Copy(all, changed)
	var out []diagnosticsv1alpha1.AdmissionChange
	for _, path := range slices.Sorted(maps.Keys(all)) {
		was, had := old[path]
		is, has := changed[path]
		if had == has && was == is || counts != nil && !counts(path) {
			continue
		}
		change := diagnosticsv1alpha1.AdmissionChange{Field: path}
		if had {
			change.Before = &was
		}
		if has {
			change.After = &is
		}
		out = append(out, change)
	}
	return out, nil
}
