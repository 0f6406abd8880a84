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

// nameOf writes kind.group/name of an object, as kubectl does.
func nameOf(change release.Change) string {
	name := strings.ToLower(change.Kind)
	if version, err := schema.ParseGroupVersion(change.APIVersion); err == nil && version.Group != "" {
		name += "." + version.Group
	}
	return name + "/" + change.Name
}

// writeChanges prints `kind.group/name action` for each object, as kubectl does, and that it was a dry run.
func (m *mutation) writeChanges(changes []release.Change) error {
	say := m.look().Say
	for _, change := range changes {
		note, end := "", m.dryRun.Suffix()
		if change.Note != "" {
			note = ": " + change.Note
		}
		if change.Action == release.Kept {
			end = ""
		}
		if _, err := fmt.Fprintln(m.Out, say(fmt.Sprintf("%s %s%s%s", nameOf(change), change.Action, note, end))); err != nil {
			return err
		}
	}
	return nil
}

// writeNames prints the names of the objects, without those that are left to others.
func writeNames(w io.Writer, changes []release.Change) error {
	for _, change := range changes {
		if change.Action == release.Kept {
			continue
		}
		if _, err := fmt.Fprintln(w, nameOf(change)); err != nil {
			return err
		}
	}
	return nil
}
