package check

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/install"
)

var preinstallChecks = []Check{
	{
		ID: "install-rights", Category: Kubernetes, Stage: BeforeInstall, Title: "you have the rights that installing needs",
		Codes: []finding.Code{finding.RightsMissing}, Judge: rightsToInstall,
	}, {
		ID: "foreign-definitions", Category: Kubernetes, Stage: BeforeInstall,
		Title: "custom resource definitions of others with the same names serve the versions that are used",
		Codes: []finding.Code{finding.DefinitionUnserved}, Judge: foreignDefinitions,
	}, {
		ID: "existing-release", Category: Kubernetes, Stage: BeforeInstall, Title: "what is installed in the namespace can be upgraded",
		Codes: []finding.Code{finding.InstallationConflict, finding.InstallFailed}, Judge: existingRelease,
	},
}

// rightsToInstall names what the user lacks, resource by resource. A user who lacks only escalate and bind may still hold every right
// that the roles of the chart grant, which only the API server knows.
func rightsToInstall(f *Facts) Outcome {
	if len(f.Rights.Unread) > 0 {
		return unknown(f.Rights.Unread...)
	}
	verbs := map[Right][]string{}
	var order []Right
	for _, right := range f.Rights.Value {
		of := right
		of.Verb = ""
		if verbs[of] == nil {
			order = append(order, of)
		}
		verbs[of] = append(verbs[of], right.Verb)
	}
	var found []diagnosticsv1alpha1.Finding
	for _, of := range order {
		lacking := verbs[of]
		asked := of
		asked.Verb = lacking[0]
		one := report(finding.RightsMissing, "kubectl auth can-i "+asked.String(), "not permitted: %s%s", strings.Join(lacking, ", "), of)
		if !slices.ContainsFunc(lacking, func(verb string) bool { return verb != "escalate" && verb != "bind" }) {
			one.Severity = diagnosticsv1alpha1.SeverityWarning
			one.Message += "; writing the roles of the chart then needs every right that they grant"
		}
		found = append(found, one)
	}
	return judged("", found)
}

// foreignDefinitions looks at definitions that installing leaves alone because others own them.
func foreignDefinitions(f *Facts) Outcome {
	if len(f.Definitions.Unread) > 0 {
		return unknown(f.Definitions.Unread...)
	}
	var found []diagnosticsv1alpha1.Finding
	kept := 0
	for _, wanted := range f.Wanted {
		live, owner := named(f.Definitions.Value, wanted.GetName()), f.Kept[wanted.GetName()]
		if live == nil || owner == "" {
			continue
		}
		kept++
		problem := definitionProblem(live, wanted)
		if problem == "" {
			problem = otherShape(live, wanted)
		}
		if problem != "" {
			found = append(found, report(finding.DefinitionUnserved, "kubectl get customresourcedefinition "+wanted.GetName()+" -o yaml",
				"customresourcedefinition %q, %s, %s", wanted.GetName(), owner, problem))
		}
	}
	return judged(fmt.Sprintf("of others: %d", kept), found)
}

// otherShape says in what the name or scope of a definition differs.
func otherShape(live, wanted *unstructured.Unstructured) string {
	for _, path := range [][]string{{"spec", "scope"}, {"spec", "names", "kind"}} {
		have, _, _ := unstructured.NestedString(live.Object, path...)
		want, _, _ := unstructured.NestedString(wanted.Object, path...)
		if have != want {
			return fmt.Sprintf("has %s %s, not %s", strings.Join(path, "."), have, want)
		}
	}
	return ""
}

func existingRelease(f *Facts) Outcome {
	status := f.Installation.Status
	switch {
	case len(f.Deployments.Unread) > 0:
		return unknown(f.Deployments.Unread...)
	case f.upstream():
		return judged("", []diagnosticsv1alpha1.Finding{report(finding.InstallationConflict, "",
			"namespace %q has a koord-manager that this chart did not install", f.Namespace)})
	case status.ReleaseState == install.StateAbsent:
		return pass("nothing is installed in namespace %s", f.Namespace)
	case status.Release == nil:
		return f.ofStatus(install.PartRelease, "", finding.InstallFailed)
	}
	return f.ofStatus(install.PartRelease, fmt.Sprintf("release %s, chart %s, would be upgraded", status.Release.Name, status.Release.ChartVersion), finding.InstallFailed)
}
