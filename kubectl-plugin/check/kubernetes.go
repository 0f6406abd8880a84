package check

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/certificate"
	"koordinator.sh/koord/kubectl-plugin/install"
)

// installedID is what every check of something installed needs.
const installedID = "installed"

var kubernetesChecks = []Check{
	{
		ID: "api-server-version", Category: Kubernetes, Stage: Always, Title: "the API server has a version that koord-scheduler supports",
		Codes: []finding.Code{finding.KubernetesSkew}, Judge: apiServerVersion,
	}, {
		ID: installedID, Category: Kubernetes, Retry: true, Title: "the system is installed in the namespace",
		Codes: []finding.Code{finding.NotInstalled}, Judge: installed,
	}, {
		ID: "release", Category: Kubernetes, Retry: true, Needs: []string{installedID}, Title: "the Helm release is deployed",
		Codes: []finding.Code{finding.InstallFailed}, Judge: helmRelease,
	}, {
		ID: "definitions", Category: Kubernetes, Retry: true, Needs: []string{installedID},
		Title: "the custom resource definitions are established and serve the versions that are used",
		Codes: []finding.Code{finding.DefinitionUnserved}, Judge: definitionsServed,
	}, {
		ID: "component-versions", Category: Kubernetes, Needs: []string{installedID}, Title: "the components have the version of this program",
		Codes: []finding.Code{finding.ComponentSkew}, Judge: componentVersions,
	}, {
		ID: "diagnostics-api", Category: Kubernetes, Retry: true, Needs: []string{installedID}, Title: "the diagnostics API is available",
		Codes: []finding.Code{finding.DiagnosticsUnavailable}, Judge: diagnosticsAPI,
	}, {
		ID: "diagnostics-certificate", Category: Kubernetes, Retry: true, Needs: []string{installedID},
		Title: "the API server can verify the certificate of the diagnostics API",
		Codes: certificateCodes, Judge: diagnosticsCertificate,
	}, {
		ID: "protections", Category: Kubernetes, Needs: []string{installedID}, Title: "the admission policies and webhook configurations of the chart are in force",
		Codes: []finding.Code{finding.ProtectionMissing, finding.ProtectionWeakened}, Judge: protections,
	}, {
		ID: "other-installations", Category: Kubernetes, Stage: Always, Title: "no other namespace has a koord-manager",
		Codes: []finding.Code{finding.InstallationConflict}, Judge: otherInstallations,
	},
}

func apiServerVersion(f *Facts) Outcome {
	state := f.Installation.Status.Kubernetes
	return f.ofStatus(install.PartKubernetes, "Kubernetes "+state.Version, finding.KubernetesSkew)
}

func installed(f *Facts) Outcome {
	if f.Installation.Status.Installed() {
		return pass("namespace %s", f.Namespace)
	}
	return judged("", []diagnosticsv1alpha1.Finding{
		report(finding.NotInstalled, "koordctl install", "the system is not installed in namespace %q", f.Namespace),
	})
}

func helmRelease(f *Facts) Outcome {
	status := f.Installation.Status
	switch {
	case status.ReleaseState == install.StateAbsent:
		return skip("no Helm release in namespace %s", f.Namespace)
	case status.Release == nil:
		return f.ofStatus(install.PartRelease, "", finding.InstallFailed)
	}
	detail := fmt.Sprintf("%s, revision %d, chart %s", status.Release.Name, status.Release.Revision, status.Release.ChartVersion)
	return f.ofStatus(install.PartRelease, detail, finding.InstallFailed)
}

// definitionsServed compares the definitions with those of the chart. Another build may have fewer: those are not missed.
func definitionsServed(f *Facts) Outcome {
	if len(f.Definitions.Unread) > 0 {
		return unknown(f.Definitions.Unread...)
	}
	var found []diagnosticsv1alpha1.Finding
	served, expected := 0, 0
	for _, wanted := range f.Wanted {
		live := named(f.Definitions.Value, wanted.GetName())
		if live == nil && f.upstream() {
			continue
		}
		expected++
		if problem := definitionProblem(live, wanted); problem != "" {
			found = append(found, report(finding.DefinitionUnserved, "", "customresourcedefinition %q %s", wanted.GetName(), problem))
			continue
		}
		served++
	}
	return judged(fmt.Sprintf("%d/%d", served, expected), found)
}

// definitionProblem says why a definition does not serve what the chart's does; empty when it does.
func definitionProblem(live, wanted *unstructured.Unstructured) string {
	if live == nil {
		return "does not exist"
	}
	if established, message := install.Condition(live, "Established"); !established {
		return strings.TrimRight("is not established: "+message, ": ")
	}
	have := servedVersions(live)
	for _, version := range servedVersions(wanted) {
		if !slices.Contains(have, version) {
			return fmt.Sprintf("does not serve %s, only %s", version, strings.Join(have, ", "))
		}
	}
	return ""
}

// servedVersions are the versions of a definition that are served.
func servedVersions(definition *unstructured.Unstructured) []string {
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions") // a definition without has none
	var out []string
	for _, entry := range versions {
		fields, _ := entry.(map[string]any)
		if name, ok := fields["name"].(string); ok && fields["served"] == true {
			out = append(out, name)
		}
	}
	return out
}

func diagnosticsAPI(f *Facts) Outcome {
	state := f.Installation.Status.API
	if state.State == install.StateAbsent && f.upstream() {
		return skip("this build of koord-manager has none; questions are answered from API objects")
	}
	found := f.found(finding.DiagnosticsUnavailable)
	for i := range found {
		// Status treats it as a loss of precision; that it is registered and does not answer is a fault.
		found[i].Severity = diagnosticsv1alpha1.SeverityError
		if state.Detail != "" {
			found[i].Message += ": " + state.Detail
		}
	}
	if unread := f.Installation.Unread[install.PartAPI]; len(unread) > 0 {
		return unknown(unread...)
	}
	return judged(state.Name, found)
}

func diagnosticsCertificate(f *Facts) Outcome {
	switch {
	case len(f.APIService.Unread) > 0:
		return unknown(f.APIService.Unread...)
	case f.APIService.Value == nil:
		return skip("no APIService %s", install.APIServiceName)
	}
	object := f.APIService.Value.Object
	service, _, _ := unstructured.NestedString(object, "spec", "service", "name") // a local APIService has none
	encoded, _, _ := unstructured.NestedString(object, "spec", "caBundle")
	return f.serving(served{
		subject: "apiservice " + install.APIServiceName, service: service, bundle: decodeBundle(encoded), secret: f.Secrets[certificate.ManagerSecret],
	})
}

func protections(f *Facts) Outcome {
	state := f.Installation.Status.Protections
	if f.upstream() {
		return skip("this build was not installed by the chart")
	}
	detail := state.Detail
	if state.InForce != nil {
		detail = fmt.Sprintf("%d/%d", *state.InForce, *state.Expected)
	}
	return f.ofStatus(install.PartProtections, detail, finding.ProtectionMissing, finding.ProtectionWeakened)
}

func otherInstallations(f *Facts) Outcome {
	if len(f.Elsewhere.Unread) > 0 {
		return unknown(f.Elsewhere.Unread...)
	}
	var found []diagnosticsv1alpha1.Finding
	for _, namespace := range f.Elsewhere.Value {
		found = append(found, report(finding.InstallationConflict, "kubectl -n "+namespace+" get deployments",
			"namespace %q has a Deployment koord-manager too", namespace))
	}
	return judged("", found)
}
