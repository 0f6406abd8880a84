package check

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// componentVersions compares the images of the workloads with this program. Another build has versions of its own.
func componentVersions(f *Facts) Outcome {
	if unread := append(f.Deployments.Unread, f.DaemonSets.Unread...); len(unread) > 0 {
		return unknown(unread...)
	}
	var seen []string
	var found []diagnosticsv1alpha1.Finding
	own, err := version.ParseGeneric(f.Client)
	for _, w := range f.workloads() {
		seen = append(seen, w.name+" "+cmp.Or(w.version, "<unknown>"))
		theirs, parseErr := version.ParseGeneric(w.version)
		if err != nil || parseErr != nil || f.upstream() || w.version == "" {
			continue
		}
		if theirs.String() != own.String() {
			found = append(found, report(finding.ComponentSkew, "", "%s is %s, this program is %s", w.name, w.version, f.Client))
		}
	}
	detail := strings.Join(seen, ", ")
	switch {
	case len(seen) == 0:
		return skip("the components run outside the cluster")
	case f.upstream():
		return skip("another build: %s", detail)
	case err != nil:
		return skip("this program is a development build (%s); %s", f.Client, detail)
	}
	return judged(detail, found)
}

// workload is a component's and the version of its image.
type workload struct{ name, version string }

func (f *Facts) workloads() []workload {
	var out []workload
	for _, name := range []string{managerName, schedulerName, deschedulerName} {
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
