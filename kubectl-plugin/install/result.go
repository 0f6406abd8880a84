package install

import (
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/deploy/release"
)

// InstallationResult is what install and uninstall print with -o json: what was changed or, in a dry run, would be.
type InstallationResult struct {
	metav1.TypeMeta `json:",inline"`
	release.Result  `json:",inline"`
}

func newResult(result *release.Result) InstallationResult {
	return InstallationResult{TypeMeta: typeMeta("InstallationResult"), Result: *result}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: diagnosticsv1alpha1.GroupVersion.String(), Kind: kind}
}

func suffix(dryRun bool) string {
	if dryRun {
		return " (server dry run)"
	}
	return ""
}

// writeChanges prints `kind.group/name action` for each object, as kubectl does.
func writeChanges(w io.Writer, changes []release.Change, dryRun bool) error {
	for _, change := range changes {
		name := strings.ToLower(change.Kind)
		if version, err := schema.ParseGroupVersion(change.APIVersion); err == nil && version.Group != "" {
			name += "." + version.Group
		}
		note := ""
		if change.Note != "" {
			note = ": " + change.Note
		}
		if _, err := fmt.Fprintf(w, "%s/%s %s%s%s\n", name, change.Name, change.Action, note, suffix(dryRun && change.Action != release.Kept)); err != nil {
			return err
		}
	}
	return nil
}
