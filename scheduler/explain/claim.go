package explain

import (
	"regexp"
	"slices"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// claimNotFound is how the volume plugins of Kubernetes report a claim that does not exist, some with words before it.
var claimNotFound = regexp.MustCompile(`persistentvolumeclaim "[^"]+" not found$`)

// onceForEachClaim keeps one refusal for each claim that does not exist. Every plugin that looks up volumes reports it, where the
// scheduler stops at the first: it counts as refused by VolumeBinding, or else by the first that says so.
func onceForEachClaim(refusals []refusal) []refusal {
	reporting := map[string]string{}
	for _, r := range refusals {
		claim := claimNotFound.FindString(r.reason)
		if claim != "" && (reporting[claim] == "" || r.plugin == names.VolumeBinding) {
			reporting[claim] = r.plugin
		}
	}
	if len(reporting) == 0 {
		return refusals
	}
	return slices.DeleteFunc(refusals, func(r refusal) bool {
		claim := claimNotFound.FindString(r.reason)
		return claim != "" && reporting[claim] != r.plugin
	})
}
