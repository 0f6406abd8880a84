package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// componentVersions compares the images of the workloads with this program. Another build has versions of its own.
func componentVersions(f *Facts) Outcome {
	if unread := slices.Concat(f.Deployments.Unread, f.DaemonSets.Unread); len(unread) > 0 {
		return unknown(unread...)
	}
	workloads := f.workloads()
	var seen []string
	for _, w := range workloads {
		seen = append(seen, w.name+" "+cmp.Or(w.version, "<unknown>"))
	}
	detail := strings.Join(seen, ", ")
	own, err := version.ParseGeneric(f.Client)
	switch {
	case len(workloads) == 0:
		return skip("the components run outside the cluster")
	case f.upstream():
		return skip("another build: %s", detail)
	case err != nil:
		return skip("this program is a development build (%s); %s", f.Client, detail)
	}
	var found []diagnosticsv1alpha1.Finding
	for _, w := range workloads {
		if theirs, err := version.ParseGeneric(w.version); err == nil && theirs.String() != own.String() {
			found = append(found, report(finding.ComponentSkew, "", "%s is %s, this program is %s", w.name, w.version, f.Client))
		}
	}
	return judged(detail, found)
}

// workload is the workload of a component, and the version of its image; empty when that says none.
type workload struct{ name, version string }

func (f *Facts) workloads() []workload {
	var out []workload
	for _, name := range []string{managerName, schedulerName, deschedulerName, bridgeName} {
		if d := named(f.Deployments.Value, name); d != nil {
			out = append(out, workload{name, versionOf(d.Labels, d.Spec.Template)})
		}
	}
	if d := named(f.DaemonSets.Value, agentName); d != nil {
		out = append(out, workload{agentName, versionOf(d.Labels, d.Spec.Template)})
	}
	return out
}

// versionOf is the tag of the image, or of an image that is named by its digest the label of the workload.
func versionOf(labels map[string]string, template corev1.PodTemplateSpec) string {
	for _, container := range template.Spec.Containers {
		image, _, _ := strings.Cut(container.Image, "@")
		if at := strings.LastIndexByte(image, ':'); at > strings.LastIndexByte(image, '/') {
			return image[at+1:]
		}
	}
	return labels[versionLabel]
}

// most bounds the names that one finding lists; the others are counted.
const most = 3

// some lists the first names and counts the others.
func some(names []string) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
