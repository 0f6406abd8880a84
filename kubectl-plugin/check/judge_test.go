package check

import (
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/certificate"
	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/kubectl-plugin/install"
)

// statusFinds puts a finding into the status.
func statusFinds(code finding.Code) func(*testing.T, *Facts) {
	return func(_ *testing.T, f *Facts) {
		f.Installation.Status.Findings = append(f.Installation.Status.Findings, report(code, "", "%s is found", code))
	}
}

// lintFinds puts a finding into what is noticed about the configuration.
func lintFinds(code finding.Code, severity diagnosticsv1alpha1.Severity) func(*testing.T, *Facts) {
	return func(_ *testing.T, f *Facts) {
		f.Config.Value.Found = append(f.Config.Value.Found, decision.Finding{Code: code, Severity: severity, Key: "colocation-config", Path: "enable", Message: "is wrong"})
	}
}

func statusOf(f *Facts, name string) *install.ComponentStatus {
	return f.Installation.Status.Component(name)
}

func podNamed(f *Facts, name string) *corev1.Pod { return named(f.Pods.Value, name) }

// asUpstream makes the installation one of upstream's.
func asUpstream(_ *testing.T, f *Facts) {
	for i := range f.Deployments.Value {
		f.Deployments.Value[i].Labels = map[string]string{upstreamLabel: f.Deployments.Value[i].Name}
		f.Deployments.Value[i].Spec.Template.Spec.Containers[0].Image = "koordinator.example.com/koord:v1.7.0"
	}
	f.Installation.Status.API.State = install.StateAbsent
	f.APIService.Value = nil
}

func unread(what string) []string { return []string{what + ": not permitted (KOORD0002)"} }

// judgeCase is one change to a healthy installation, and what a check says of it.
type judgeCase struct {
	id        string
	change    func(*testing.T, *Facts)
	wantState State
	wantCode  finding.Code
	// wantText is part of the detail or of the first finding.
	wantText string
}

func runJudgeCases(t *testing.T, tests map[string]judgeCase) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			i := slices.IndexFunc(All(), func(c Check) bool { return c.ID == tc.id })
			if i < 0 {
				t.Fatalf("there is no check %q", tc.id)
			}
			c, facts := All()[i], healthy(t)
			if tc.change != nil {
				tc.change(t, facts)
			}
			got := c.Judge(facts)
			text, code := got.Detail, finding.Code("")
			if len(got.Findings) > 0 {
				text, code = got.Findings[0].Message, finding.Code(got.Findings[0].Code)
			}
			if got.State != tc.wantState || code != tc.wantCode || !strings.Contains(text, tc.wantText) {
				t.Errorf("got %s %s %q, want %s %s %q", got.State, code, text, tc.wantState, tc.wantCode, tc.wantText)
			}
			for _, f := range got.Findings {
				if !slices.Contains(c.Codes, finding.Code(f.Code)) {
					t.Errorf("check %s reports %s, which it does not declare", c.ID, f.Code)
				}
			}
		})
	}
}

// TestAHealthyInstallationPasses: no check finds anything, and none lacks a fact.
func TestAHealthyInstallationPasses(t *testing.T) {
	for _, before := range []bool{false, true} {
		for _, result := range Run(All(), Selection{Categories: Categories(), Before: before}, healthy(t)) {
			if result.State != Pass {
				t.Errorf("before %t: %s is %s: %s %+v", before, result.ID, result.State, result.Detail, result.Findings)
			}
		}
	}
}

func TestChecksOfKubernetes(t *testing.T) {
	runJudgeCases(t, map[string]judgeCase{
		"a supported version":   {"api-server-version", nil, Pass, "", "Kubernetes v1.36.3"},
		"an unsupported one":    {"api-server-version", statusFinds(finding.KubernetesSkew), Warning, finding.KubernetesSkew, "is found"},
		"one that is no number": {"api-server-version", func(_ *testing.T, f *Facts) { f.Installation.Unread[install.PartKubernetes] = unread("version") }, Unknown, "", "version: not permitted"},
		"nothing is installed": {"installed", func(_ *testing.T, f *Facts) {
			f.Installation.Status.ReleaseState, f.Installation.Status.Definitions.State, f.Installation.Status.Config.State = install.StateAbsent, install.StateAbsent, install.StateAbsent
		}, Failed, finding.NotInstalled, `not installed in namespace "koordinator-system"`},
		"a release":        {"release", nil, Pass, "", "koordinator, revision 3, chart 1.2.3"},
		"a failed release": {"release", statusFinds(finding.InstallFailed), Failed, finding.InstallFailed, ""},
		"manifests and no Helm": {"release", func(_ *testing.T, f *Facts) {
			f.Installation.Status.Release, f.Installation.Status.ReleaseState = nil, install.StateAbsent
		}, Skipped, "", "no Helm release"},
		"a definition is gone": {"definitions", func(_ *testing.T, f *Facts) { f.Definitions.Value = nil }, Failed, finding.DefinitionUnserved, "does not exist"},
		"it serves another": {"definitions", func(_ *testing.T, f *Facts) {
			f.Definitions.Value[0] = definitionOf("nodeslos.slo.koordinator.sh", "v1", "v2")
		}, Failed, finding.DefinitionUnserved, "does not serve v1alpha1, only v1, v2"},
		"it is not established":  {"definitions", func(_ *testing.T, f *Facts) { delete(f.Definitions.Value[0].Object, "status") }, Failed, finding.DefinitionUnserved, "is not established"},
		"upstream has fewer":     {"definitions", func(t *testing.T, f *Facts) { asUpstream(t, f); f.Definitions.Value = nil }, Pass, "", "0/0"},
		"definitions are unread": {"definitions", func(_ *testing.T, f *Facts) { f.Definitions.Unread = unread("list customresourcedefinitions") }, Unknown, "", "customresourcedefinitions"},
		"one version":            {"component-versions", nil, Pass, "", "koord-manager 1.2.3, koord-scheduler 1.2.3, koord-descheduler 1.2.3, koord-bridge 1.2.3, koordlet 1.2.3"},
		"an older component": {"component-versions", func(_ *testing.T, f *Facts) {
			f.Deployments.Value[1].Spec.Template.Spec.Containers[0].Image = "koord-scheduler:v1.1.0@sha256:0"
		},
			Warning, finding.ComponentSkew, "koord-scheduler is v1.1.0, this program is v1.2.3"},
		"an image by its digest": {"component-versions", func(_ *testing.T, f *Facts) {
			f.Deployments.Value[1].Spec.Template.Spec.Containers[0].Image = "registry:5000/koord-scheduler@sha256:0"
		}, Pass, "", "koord-scheduler 1.2.3"},
		"upstream's versions": {"component-versions", asUpstream, Skipped, "", "koord-manager v1.7.0"},
		"a development build": {"component-versions", func(_ *testing.T, f *Facts) { f.Client = "devel" }, Skipped, "", "development build"},
		"outside the cluster": {"component-versions", func(_ *testing.T, f *Facts) { f.Deployments.Value, f.DaemonSets.Value = nil, nil }, Skipped, "", "outside the cluster"},
		"the API is down": {"diagnostics-api", func(t *testing.T, f *Facts) {
			f.Installation.Status.API = install.APIStatus{Name: install.APIServiceName, State: install.StateDown, Detail: "no response from 10.0.0.1"}
			statusFinds(finding.DiagnosticsUnavailable)(t, f)
		}, Failed, finding.DiagnosticsUnavailable, "no response from 10.0.0.1"},
		"upstream has no API":  {"diagnostics-api", asUpstream, Skipped, "", "answered from API objects"},
		"its bundle is broken": {"diagnostics-certificate", func(_ *testing.T, f *Facts) { f.APIService.Value.Object["spec"].(map[string]any)["caBundle"] = "bm8=" }, Failed, finding.BundleInvalid, "it is not PEM"},
		"it is not registered": {"diagnostics-certificate", func(_ *testing.T, f *Facts) { f.APIService.Value = nil }, Skipped, "", ""},
		"a policy is gone":     {"protections", statusFinds(finding.ProtectionMissing), Failed, finding.ProtectionMissing, ""},
		"protections are unread": {"protections", func(_ *testing.T, f *Facts) {
			f.Installation.Unread[install.PartProtections] = unread("get configmaps")
		}, Unknown, "", "configmaps"},
		"another namespace has one": {"other-installations", func(_ *testing.T, f *Facts) { f.Elsewhere.Value = []string{"koord"} }, Failed, finding.InstallationConflict, `namespace "koord"`},
		"namespaces are unread":     {"other-installations", func(_ *testing.T, f *Facts) { f.Elsewhere.Unread = unread("list deployments") }, Unknown, "", "deployments"},
	})
}

func TestChecksBeforeAnInstallation(t *testing.T) {
	create := Right{Verb: "create", Group: "apps", Resource: "deployments", Namespace: namespace}
	runJudgeCases(t, map[string]judgeCase{
		"a right is missing": {"install-rights", func(_ *testing.T, f *Facts) {
			patch := create
			patch.Verb = "patch"
			f.Rights.Value = []Right{create, patch}
		}, Failed, finding.RightsMissing, "create, patch deployments.apps -n koordinator-system"},
		"only escalate is": {"install-rights", func(_ *testing.T, f *Facts) {
			f.Rights.Value = []Right{{Verb: "escalate", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}}
		}, Warning, finding.RightsMissing, "every right that they grant"},
		"rights are unread": {"install-rights", func(_ *testing.T, f *Facts) { f.Rights.Unread = unread("create selfsubjectaccessreviews") }, Unknown, "", "selfsubjectaccessreviews"},
		"another's definition is compatible": {"foreign-definitions", func(_ *testing.T, f *Facts) {
			f.Kept = map[string]string{"nodeslos.slo.koordinator.sh": "not installed by this release"}
		}, Pass, "", "of others: 1"},
		"another's has another version": {"foreign-definitions", func(_ *testing.T, f *Facts) {
			f.Definitions.Value[0] = definitionOf("nodeslos.slo.koordinator.sh", "v1")
			f.Kept = map[string]string{"nodeslos.slo.koordinator.sh": "not installed by this release"}
		}, Failed, finding.DefinitionUnserved, "not installed by this release, does not serve v1alpha1"},
		"another's has another scope": {"foreign-definitions", func(_ *testing.T, f *Facts) {
			f.Kept = map[string]string{"nodeslos.slo.koordinator.sh": "not installed by this release"}
			f.Definitions.Value[0].Object["spec"].(map[string]any)["scope"] = "Namespaced"
		}, Failed, finding.DefinitionUnserved, "has spec.scope Namespaced, not Cluster"},
		"an upgrade":            {"existing-release", nil, Pass, "", "would be upgraded"},
		"upstream is installed": {"existing-release", asUpstream, Failed, finding.InstallationConflict, "did not install"},
	})
}

// changeNode changes what a node says of itself.
func changeNode(change func(*corev1.NodeSystemInfo)) func(*testing.T, *Facts) {
	return func(_ *testing.T, f *Facts) { change(&f.Nodes.Value[1].Status.NodeInfo) }
}

// changeFeature changes what an agent answers.
func changeFeature(change func(*diagnosticsv1alpha1.AgentFeature)) func(*testing.T, *Facts) {
	return func(_ *testing.T, f *Facts) { change(&f.Agents.Value[1].Agent.Features[0]) }
}

func TestChecksOfNodes(t *testing.T) {
	runJudgeCases(t, map[string]judgeCase{
		"windows":             {"node-platform", changeNode(func(i *corev1.NodeSystemInfo) { i.OperatingSystem = "windows" }), Warning, finding.NodeUnsupported, `operating system "windows", koordlet needs linux: node-2`},
		"another processor":   {"node-platform", changeNode(func(i *corev1.NodeSystemInfo) { i.Architecture = "s390x" }), Warning, finding.NodeUnsupported, "s390x"},
		"nodes are unread":    {"node-platform", func(_ *testing.T, f *Facts) { f.Nodes.Unread = unread("list nodes") }, Unknown, "", "list nodes"},
		"no nodes":            {"node-platform", func(_ *testing.T, f *Facts) { f.Nodes.Value = nil }, Skipped, "", "there are no nodes"},
		"a newer kubelet":     {"node-kubelet", changeNode(func(i *corev1.NodeSystemInfo) { i.KubeletVersion = "v1.37.0" }), Warning, finding.NodeUnsupported, "kubelet 1.37 is newer"},
		"three older":         {"node-kubelet", changeNode(func(i *corev1.NodeSystemInfo) { i.KubeletVersion = "v1.33.0" }), Pass, "", "2/2 nodes"},
		"four older":          {"node-kubelet", changeNode(func(i *corev1.NodeSystemInfo) { i.KubeletVersion = "v1.32.9" }), Warning, finding.NodeUnsupported, "more than three"},
		"a simulated kubelet": {"node-kubelet", changeNode(func(i *corev1.NodeSystemInfo) { i.KubeletVersion = "kwok" }), Pass, "", "1/1 nodes"},
		"containerd 1.6":      {"node-runtime", changeNode(func(i *corev1.NodeSystemInfo) { i.ContainerRuntimeVersion = "containerd://1.6.33" }), Warning, finding.NodeUnsupported, "has no NRI"},
		"containerd 1.7":      {"node-runtime", changeNode(func(i *corev1.NodeSystemInfo) { i.ContainerRuntimeVersion = "containerd://1.7.22" }), Warning, finding.NodeUnsupported, "disabled by default"},
		"cri-o":               {"node-runtime", changeNode(func(i *corev1.NodeSystemInfo) { i.ContainerRuntimeVersion = "cri-o://1.32.1" }), Pass, "", "2/2"},
		"docker":              {"node-runtime", changeNode(func(i *corev1.NodeSystemInfo) { i.ContainerRuntimeVersion = "docker://27.1.1" }), Warning, finding.NodeUnsupported, "koord-runtime-proxy"},
		"an old kernel":       {"node-kernel", changeNode(func(i *corev1.NodeSystemInfo) { i.KernelVersion = "3.10.0-1160.el7.x86_64" }), Warning, finding.NodeUnsupported, "Linux 3.10"},
		"cgroups as told":     {"node-kernel", nil, Pass, "", "cgroups v2, systemd: 2"},
		"a feature that is configured and not supported": {capabilitiesID, changeFeature(func(a *diagnosticsv1alpha1.AgentFeature) {
			a.Supported, a.Reason = diagnosticsv1alpha1.FeatureNo, "the kernel has no cpu.max"
		}), Warning, finding.FeatureUnsupported, "BECPUSuppress is configured and not supported: the kernel has no cpu.max; on node-2"},
		"one that is partly": {capabilitiesID, changeFeature(func(a *diagnosticsv1alpha1.AgentFeature) {
			a.Supported, a.Problems = diagnosticsv1alpha1.FeaturePartly, []string{"no L3 cache allocation"}
		}), Warning, finding.FeatureUnsupported, "only partly supported: no L3 cache allocation"},
		"one that is not configured": {capabilitiesID, changeFeature(func(a *diagnosticsv1alpha1.AgentFeature) {
			a.Supported, a.Configured = diagnosticsv1alpha1.FeatureNo, diagnosticsv1alpha1.FeatureNo
		}), Pass, "", "agents that answered: 2/2"},
		"one whose gate is off": {capabilitiesID, changeFeature(func(a *diagnosticsv1alpha1.AgentFeature) { a.Supported, a.Gate = diagnosticsv1alpha1.FeatureNo, false }), Pass, "", ""},
		"no agent answers": {capabilitiesID, func(_ *testing.T, f *Facts) {
			for i := range f.Agents.Value {
				f.Agents.Value[i].Agent.Component = "koordctl"
			}
		}, Unknown, "", "no agent"},
		"agents may not be asked": {capabilitiesID, func(_ *testing.T, f *Facts) {
			f.Agents = Fact[[]AgentAnswer]{Unread: unread("create nodeexplanationbatches")}
		}, Unknown, "", "nodeexplanationbatches"},
		"values that are not in force": {"node-effects", changeFeature(func(a *diagnosticsv1alpha1.AgentFeature) {
			a.Effective, a.InForce, a.LastError = diagnosticsv1alpha1.FeatureNo, 0, "cpu.max: invalid argument"
		}), Warning, finding.ConfigInert, "none is in force: cpu.max: invalid argument; on node-2"},
		"nothing is wanted":            {"node-effects", changeFeature(func(a *diagnosticsv1alpha1.AgentFeature) { a.Effective, a.Wanted = diagnosticsv1alpha1.FeatureNo, 0 }), Pass, "", ""},
		"a node offers too much":       {"node-offers", statusFinds(finding.OfferBeyondNode), Warning, finding.OfferBeyondNode, ""},
		"nodes of offers are not read": {"node-offers", func(_ *testing.T, f *Facts) { f.Installation.Unread[install.PartNodes] = unread("list nodes") }, Unknown, "", "list nodes"},
	})
}

func TestChecksOfComponents(t *testing.T) {
	terminated := func(ago time.Duration) func(*testing.T, *Facts) {
		return func(_ *testing.T, f *Facts) {
			status := &podNamed(f, "koord-manager-a").Status.ContainerStatuses[0]
			status.RestartCount = 4
			status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.NewTime(now.Add(-ago))}
		}
	}
	arguments := func(pod string, values ...string) func(*testing.T, *Facts) {
		return func(_ *testing.T, f *Facts) { podNamed(f, pod).Spec.Containers[0].Args = values }
	}
	runJudgeCases(t, map[string]judgeCase{
		"all replicas are ready": {"manager-available", nil, Pass, "", "2/2 ready"},
		"one is not":             {"manager-available", func(_ *testing.T, f *Facts) { statusOf(f, managerName).Ready = new(int32(1)) }, Warning, finding.WorkloadUnavailable, "deployment koord-manager has 1 of 2"},
		"none leads": {"manager-available", func(t *testing.T, f *Facts) {
			statusOf(f, managerName).State = install.StateDown
			statusFinds(finding.ManagerUnavailable)(t, f)
		}, Failed, finding.ManagerUnavailable, ""},
		"the scheduler is down": {"scheduler-available", statusFinds(finding.SchedulerUnavailable), Failed, finding.SchedulerUnavailable, ""},
		"no descheduler":        {"descheduler-available", func(_ *testing.T, f *Facts) { f.Installation.Status.Components = nil }, Skipped, "", "no workload"},
		"workloads are unread": {"scheduler-available", func(_ *testing.T, f *Facts) {
			statusOf(f, schedulerName).State = install.StateUnknown
			statusOf(f, schedulerName).Ready = nil
			f.Installation.Unread[install.PartLeases] = unread("get deployments")
		}, Unknown, "", "deployments"},
		"agents on no node":     {"agent-available", func(t *testing.T, f *Facts) { statusFinds(finding.AgentUnavailable)(t, f) }, Failed, finding.AgentUnavailable, ""},
		"a current lease":       {"scheduler-leader", nil, Pass, "", "led by s_1, renewed 2s ago"},
		"a lease of the future": {"scheduler-leader", func(_ *testing.T, f *Facts) { statusOf(f, schedulerName).RenewedAt.Time = now.Add(time.Minute) }, Warning, finding.ClockSkew, "1m0s in the future"},
		"within the tolerance":  {"scheduler-leader", func(_ *testing.T, f *Facts) { statusOf(f, schedulerName).RenewedAt.Time = now.Add(3 * time.Second) }, Pass, "", "renewed 0s ago"},
		"leases are unread": {"scheduler-leader", func(_ *testing.T, f *Facts) {
			statusOf(f, schedulerName).Leader = ""
			f.Installation.Unread[install.PartLeases] = unread("get leases")
		}, Unknown, "", "leases"},
		"a recent restart": {"manager-restarts", terminated(5 * time.Minute), Warning, finding.ContainerRestarts, "was restarted 5m0s ago (restarts: 4), OOMKilled with exit code 137"},
		"an old restart":   {"manager-restarts", terminated(2 * time.Hour), Pass, "", ""},
		"a crash loop": {"manager-restarts", func(_ *testing.T, f *Facts) {
			podNamed(f, "koord-manager-a").Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		}, Failed, finding.ContainerRestarts, "waits: CrashLoopBackOff"},
		"a container that starts": {"manager-restarts", func(_ *testing.T, f *Facts) {
			podNamed(f, "koord-manager-a").Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
		}, Pass, "", ""},
		"pods are unread":             {"agent-restarts", func(_ *testing.T, f *Facts) { f.Pods.Unread = unread("list pods") }, Unknown, "", "list pods"},
		"without pods":                {"agent-restarts", func(_ *testing.T, f *Facts) { f.Pods.Value = nil }, Skipped, "", "no pods"},
		"upstream's plain port":       {"scheduler-ports", arguments("koord-scheduler-a", "--port=10251", "--config=/config"), Warning, finding.PortInsecure, "--port=10251 serves the scheduler's state"},
		"a port that is off":          {"scheduler-ports", arguments("koord-scheduler-a", "--insecure-port", "0"), Pass, "", ""},
		"a port on loopback":          {"scheduler-ports", arguments("koord-scheduler-a", "-insecure-port=127.0.0.1:10251"), Pass, "", ""},
		"upstream's agent":            {"agent-ports", arguments("koordlet-a", "-addr=:9316"), Warning, finding.PortInsecure, "--addr=:9316 serves metrics, pods and events"},
		"metrics on the pod network":  {"manager-ports", nil, Pass, "", ""},
		"metrics on the host network": {"manager-ports", func(_ *testing.T, f *Facts) { podNamed(f, "koord-manager-a").Spec.HostNetwork = true }, Warning, finding.PortInsecure, "on the network of the host"},
		"metrics on a host port": {"manager-ports", func(_ *testing.T, f *Facts) {
			podNamed(f, "koord-manager-a").Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 8080}}
		}, Warning, finding.PortInsecure, "on a port of the host"},
		"a quota beyond its max": {"scheduler-quotas", statusFinds(finding.QuotaAboveMax), Warning, finding.QuotaAboveMax, ""},
	})
}

func TestChecksOfCertificates(t *testing.T) {
	replace := func(from, until time.Duration, host string) func(*testing.T, *Facts) {
		return func(t *testing.T, f *Facts) {
			ca := newAuthority(t, now.Add(10*365*24*time.Hour))
			f.Secrets[certificate.ManagerSecret].Value = ca.issue(t, certificate.ManagerSecret, host, now.Add(from), now.Add(until))
			f.Webhooks.Value[0].Client.CABundle = ca.bundle()
		}
	}
	const day = 24 * time.Hour
	runJudgeCases(t, map[string]judgeCase{
		"a valid one":          {"manager-certificate", nil, Pass, "", "valid until 2031-05-01"},
		"31 days left":         {"manager-certificate", replace(-day, 31*day, host), Pass, "", ""},
		"29 days left":         {"manager-certificate", replace(-day, 29*day, host), Warning, finding.CertificateExpiring, "in 29 days"},
		"expired":              {"manager-certificate", replace(-10*day, -time.Second, host), Failed, finding.CertificateInvalid, "expired at 2030-05-01T07:59:59Z"},
		"not valid yet":        {"manager-certificate", replace(day, 90*day, host), Failed, finding.CertificateInvalid, "is valid from"},
		"for another name":     {"manager-certificate", replace(-day, 90*day, "koord-manager.elsewhere.svc"), Failed, finding.CertificateInvalid, `not valid for service "koord-manager"`},
		"no certificate in it": {"manager-certificate", func(_ *testing.T, f *Facts) { f.Secrets[certificate.ManagerSecret].Value.Data = nil }, Failed, finding.CertificateInvalid, "has no certificate"},
		"garbage in it": {"manager-certificate", func(_ *testing.T, f *Facts) {
			f.Secrets[certificate.ManagerSecret].Value.Data = map[string][]byte{"tls.crt": []byte("x")}
		}, Failed, finding.CertificateInvalid, "key tls.crt: it is not PEM"},
		"may not be read": {"manager-certificate", func(_ *testing.T, f *Facts) {
			f.Secrets[certificate.ManagerSecret].Unread = unread("get secrets")
			f.Secrets[certificate.ManagerSecret].Value = nil
		}, Unknown, "", "secrets"},
		"there is none":         {"manager-certificate", func(_ *testing.T, f *Facts) { f.Secrets[certificate.ManagerSecret].Value = nil }, Skipped, "", ""},
		"of a webhook":          {"webhook-certificate", nil, Pass, "", "valid until"},
		"of a webhook, expired": {"webhook-certificate", replace(-10*day, -day, host), Failed, finding.CertificateInvalid, "expired"},
		"of another authority": {"webhook-certificate", func(t *testing.T, f *Facts) {
			f.Webhooks.Value[0].Client.CABundle = newAuthority(t, now.Add(day)).bundle()
		}, Failed, finding.CertificateInvalid, "does not verify the certificate"},
		"of a webhook, may not read": {"webhook-certificate", func(_ *testing.T, f *Facts) {
			f.Secrets[certificate.ManagerSecret].Unread = unread("get secrets")
			f.Secrets[certificate.ManagerSecret].Value = nil
		}, Unknown, "", "secrets"},
		"upstream's Secret": {"webhook-certificate", func(t *testing.T, f *Facts) {
			ca := newAuthority(t, now.Add(90*day))
			issued := ca.issue(t, upstreamSecret, upstreamService+"."+namespace+".svc", now.Add(-day), now.Add(20*day))
			issued.Data = map[string][]byte{"cert.pem": issued.Data["tls.crt"]}
			f.Secrets[upstreamSecret].Value = issued
			f.Webhooks.Value[0].Client.CABundle, f.Webhooks.Value[0].Client.Service.Name = ca.bundle(), upstreamService
		}, Warning, finding.CertificateExpiring, upstreamSecret},
		"no bundle":             {"webhook-ca-bundle", func(_ *testing.T, f *Facts) { f.Webhooks.Value[0].Client.CABundle = nil }, Failed, finding.BundleInvalid, "webhook mutate-pod.koordinator.sh of mutatingwebhookconfiguration koordinator-admission has no caBundle"},
		"a bundle that is none": {"webhook-ca-bundle", func(_ *testing.T, f *Facts) { f.Webhooks.Value[0].Client.CABundle = []byte("-----BEGIN") }, Failed, finding.BundleInvalid, "cannot be read: it is not PEM"},
		"an expired bundle": {"webhook-ca-bundle", func(t *testing.T, f *Facts) {
			f.Webhooks.Value[0].Client.CABundle = newAuthority(t, now.Add(-day)).bundle()
		}, Failed, finding.BundleInvalid, "has expired"},
		"an old one beside": {"webhook-ca-bundle", func(t *testing.T, f *Facts) {
			f.Webhooks.Value[0].Client.CABundle = append(newAuthority(t, now.Add(-day)).bundle(), newAuthority(t, now.Add(day)).bundle()...)
		}, Pass, "", "webhooks: 1"},
	})
}

// TestEveryBundleThatDoesNotVerifyIsNamed, and what is wrong with the certificate once.
func TestEveryBundleThatDoesNotVerifyIsNamed(t *testing.T) {
	f := healthy(t)
	issuer := newAuthority(t, now.Add(time.Hour))
	f.Secrets[certificate.ManagerSecret].Value = issuer.issue(t, certificate.ManagerSecret, host, now.Add(-2*time.Hour), now.Add(-time.Hour))
	for _, name := range []string{"mutate-node", "mutate-quota"} {
		w := webhookOf(newAuthority(t, now.Add(time.Hour)).bundle())
		w.Name = name
		f.Webhooks.Value = append(f.Webhooks.Value, w)
	}
	got := webhookCertificates(f)
	wants := []string{"expired at", "the caBundle of webhook mutate-pod.", "the caBundle of webhook mutate-node ", "the caBundle of webhook mutate-quota "}
	if got.State != Failed || len(got.Findings) != len(wants) {
		t.Fatalf("%s with findings %+v", got.State, got.Findings)
	}
	for i, want := range wants {
		if !strings.Contains(got.Findings[i].Message, want) {
			t.Errorf("finding %d is %q, want %q", i, got.Findings[i].Message, want)
		}
	}
}

func TestChecksOfWebhooks(t *testing.T) {
	webhook := func(change func(*WebhookFacts)) func(*testing.T, *Facts) {
		return func(_ *testing.T, f *Facts) { change(&f.Webhooks.Value[0]) }
	}
	injector := func(configuration, resource string) func(*testing.T, *Facts) {
		return func(_ *testing.T, f *Facts) {
			f.Webhooks.Value = append(f.Webhooks.Value, WebhookFacts{
				Kind: mutatingKind, Configuration: configuration, Name: "inject", Rules: rulesFor(resource),
				Client: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "mesh", Name: "mesh"}},
			})
		}
	}
	runJudgeCases(t, map[string]judgeCase{
		"registered":           {registeredID, nil, Pass, "", "webhooks: 1"},
		"none of ours":         {registeredID, func(_ *testing.T, f *Facts) { f.Webhooks.Value = nil }, Skipped, "", "no webhook"},
		"webhooks are unread":  {registeredID, func(_ *testing.T, f *Facts) { f.Webhooks = Fact[[]WebhookFacts]{Unread: unread("list webhooks")} }, Unknown, "", "webhooks"},
		"an endpoint is ready": {"webhook-endpoints", nil, Pass, "", "koord-manager: 1"},
		"none is ready":        {"webhook-endpoints", func(_ *testing.T, f *Facts) { f.Endpoints.Value[0].Endpoints = f.Endpoints.Value[0].Endpoints[1:] }, Failed, finding.WebhookUnserved, "no ready endpoint"},
		"no endpoints":         {"webhook-endpoints", func(_ *testing.T, f *Facts) { f.Endpoints = Fact[[]discoveryv1.EndpointSlice]{} }, Failed, finding.WebhookUnserved, "no ready endpoint"},
		"no Service":           {"webhook-endpoints", func(_ *testing.T, f *Facts) { f.Services.Value = nil }, Failed, finding.WebhookUnserved, `service "koord-manager" does not exist`},
		"outside the cluster": {"webhook-endpoints", func(_ *testing.T, f *Facts) {
			f.Services.Value[0].Spec.ExternalName = "localhost"
			f.Endpoints.Value = nil
		}, Pass, "", "outside the cluster"},
		"endpoints are unread":   {"webhook-endpoints", func(_ *testing.T, f *Facts) { f.Endpoints.Unread = unread("list endpointslices") }, Unknown, "", "endpointslices"},
		"its own pods":           {"webhook-deadlock", webhook(func(w *WebhookFacts) { w.Namespaces = nil }), Failed, finding.WebhookDeadlock, "failurePolicy Fail"},
		"by a label that is not": {"webhook-deadlock", func(_ *testing.T, f *Facts) { f.NamespaceLabels.Value = nil }, Failed, finding.WebhookDeadlock, ""},
		"with conditions":        {"webhook-deadlock", webhook(func(w *WebhookFacts) { w.Namespaces, w.Conditional = nil, true }), Warning, finding.WebhookDeadlock, "matchConditions"},
		"failures are ignored":   {"webhook-deadlock", webhook(func(w *WebhookFacts) { w.Namespaces, w.Fails = nil, false }), Pass, "", ""},
		"other resources":        {"webhook-deadlock", webhook(func(w *WebhookFacts) { w.Namespaces, w.Rules = nil, rulesFor("nodes") }), Pass, "", ""},
		"all resources":          {"webhook-deadlock", webhook(func(w *WebhookFacts) { w.Namespaces, w.Rules = nil, rulesFor("*") }), Failed, finding.WebhookDeadlock, ""},
		"objects are exempt": {"webhook-deadlock", webhook(func(w *WebhookFacts) {
			w.Namespaces, w.Objects = nil, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		}), Pass, "", ""},
		"labels are unread":         {"webhook-deadlock", func(_ *testing.T, f *Facts) { f.NamespaceLabels.Unread = unread("get namespaces") }, Unknown, "", "namespaces"},
		"a long timeout":            {"webhook-settings", webhook(func(w *WebhookFacts) { w.TimeoutSeconds = 30 }), Warning, finding.WebhookSettings, "timeoutSeconds 30"},
		"others are unread":         {"webhook-settings", func(_ *testing.T, f *Facts) { f.UnlistedWebhooks = unread("list webhooks") }, Unknown, "", "webhooks"},
		"a later injector":          {"webhook-settings", injector("sidecars", "pods"), Warning, finding.WebhookSettings, "added by sidecars"},
		"an earlier one":            {"webhook-settings", injector("injector", "pods"), Pass, "", ""},
		"one of Deployments":        {"webhook-settings", injector("sidecars", "deployments"), Pass, "", ""},
		"a later one, called again": {"webhook-settings", func(t *testing.T, f *Facts) { injector("sidecars", "pods")(t, f); f.Webhooks.Value[0].Reinvoked = true }, Pass, "", ""},
	})
}

func TestChecksOfAgents(t *testing.T) {
	metric := func(state diagnosticsv1alpha1.MetricState) func(*testing.T, *Facts) {
		return func(_ *testing.T, f *Facts) { f.Overviews.Value[1].Metric.State = state }
	}
	noPod := func(change func(*appsv1.DaemonSet, *corev1.Node)) func(*testing.T, *Facts) {
		return func(_ *testing.T, f *Facts) {
			f.Pods.Value = slices.DeleteFunc(f.Pods.Value, func(p corev1.Pod) bool { return p.Name == "koordlet-b" })
			change(&f.DaemonSets.Value[0], &f.Nodes.Value[1])
		}
	}
	taint := func(key string) func(*appsv1.DaemonSet, *corev1.Node) {
		return func(_ *appsv1.DaemonSet, n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: key, Effect: corev1.TaintEffectNoSchedule}}
		}
	}
	runJudgeCases(t, map[string]judgeCase{
		"on every node":           {"agent-coverage", nil, Pass, "", "2/2 nodes"},
		"a taint":                 {"agent-coverage", noPod(taint("gpu")), Warning, finding.AgentUnavailable, "no koordlet on node-2: it does not tolerate taint gpu:NoSchedule"},
		"a taint that is ignored": {"agent-coverage", noPod(taint("node.kubernetes.io/unschedulable")), Warning, finding.AgentUnavailable, "it has no pod there"},
		"a selector": {"agent-coverage", noPod(func(d *appsv1.DaemonSet, _ *corev1.Node) {
			d.Spec.Template.Spec.NodeSelector = map[string]string{"pool": "b"}
		}), Warning, finding.AgentUnavailable, "does not match the node"},
		"its pod waits": {"agent-coverage", func(_ *testing.T, f *Facts) {
			pod := podNamed(f, "koordlet-b")
			pod.Status.Conditions = nil
			pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}
		}, Warning, finding.AgentUnavailable, "its pod waits: ImagePullBackOff"},
		"no DaemonSet":          {"agent-coverage", func(_ *testing.T, f *Facts) { f.DaemonSets.Value = nil }, Skipped, "", "judged by their NodeMetrics"},
		"DaemonSets are unread": {"agent-coverage", func(_ *testing.T, f *Facts) { f.DaemonSets.Unread = unread("list daemonsets") }, Unknown, "", "daemonsets"},
		"fresh":                 {"agent-metrics", nil, Pass, "", "2/2 fresh"},
		"stale":                 {"agent-metrics", metric(diagnosticsv1alpha1.MetricStale), Warning, finding.MetricStale, "the NodeMetric is stale: node-2"},
		"expired":               {"agent-metrics", metric(diagnosticsv1alpha1.MetricExpired), Failed, finding.MetricExpired, "expired: node-2"},
		"absent":                {"agent-metrics", metric(diagnosticsv1alpha1.MetricAbsent), Failed, finding.MetricAbsent, ""},
		"invalid":               {"agent-metrics", metric(diagnosticsv1alpha1.MetricInvalid), Failed, finding.MetricInvalid, ""},
		"some are not known":    {"agent-metrics", metric(diagnosticsv1alpha1.MetricUnknown), Pass, "", "1/2 fresh"},
		"none is known": {"agent-metrics", func(t *testing.T, f *Facts) {
			metric(diagnosticsv1alpha1.MetricUnknown)(t, f)
			f.Overviews.Value[0].Metric.State = diagnosticsv1alpha1.MetricUnknown
		}, Unknown, "", "could not be read"},
		"nodes are unread":       {"agent-metrics", func(_ *testing.T, f *Facts) { f.Overviews.Unread = unread("list nodes") }, Unknown, "", "nodes"},
		"they answer":            {"agent-answers", nil, Pass, "", "2/2 agents"},
		"one is silent":          {"agent-answers", func(_ *testing.T, f *Facts) { f.Agents.Value[1].Agent = nil }, Warning, finding.AgentUnavailable, "did not answer on node-2"},
		"nothing asks them":      {"agent-answers", func(_ *testing.T, f *Facts) { f.Installation.Status.API.State = install.StateDown }, Skipped, "", "not available"},
		"upstream's do not":      {"agent-answers", asUpstream, Skipped, "", "no diagnostics API"},
		"they enforce":           {"agent-enforcement", nil, Pass, "", "2/2 nodes"},
		"one cannot":             {"agent-enforcement", statusFinds(finding.AgentNotEnforcing), Failed, finding.AgentNotEnforcing, ""},
		"they do not report it":  {"agent-enforcement", func(_ *testing.T, f *Facts) { f.Installation.Status.Enforcement.Silent = 2 }, Skipped, "", "do not report"},
		"the budget is used up":  {"agent-evictions", statusFinds(finding.EvictionBudgetCluster), Warning, finding.EvictionBudgetCluster, ""},
		"the record is not read": {"agent-evictions", func(_ *testing.T, f *Facts) { f.Installation.Unread[install.PartEvictions] = unread("get configmaps") }, Unknown, "", "configmaps"},
	})
}

func TestTheMatrixCountsNodesByTheirAnswer(t *testing.T) {
	unsupported := suppression()
	unsupported.Supported, unsupported.Effective, unsupported.Reason = diagnosticsv1alpha1.FeatureNo, diagnosticsv1alpha1.FeatureNo, "no cpu.max"
	off := suppression()
	off.Gate, off.Configured = false, diagnosticsv1alpha1.FeatureNo
	silent := agentOf("node-4", suppression())
	silent.Agent.Component = "koord-manager"
	simulated := suppression()
	simulated.Supported = diagnosticsv1alpha1.FeatureUnknown
	facts := &Facts{Agents: Fact[[]AgentAnswer]{Value: []AgentAnswer{
		agentOf("node-1", suppression()), agentOf("node-6", simulated), agentOf("node-2", unsupported), agentOf("node-3", off), silent, {Node: "node-5"},
	}}}
	got := capabilities(facts.answering())
	if len(got) != 1 {
		t.Fatalf("matrix %+v", got)
	}
	row := got[0]
	if row.Nodes != 4 || row.Enabled != 3 || row.Configured != 3 || row.Supported != 2 || row.Effective != 3 || row.Unknown != 1 {
		t.Errorf("row %+v", row)
	}
	if len(row.Unsupported) != 1 || row.Unsupported[0].Reason != "no cpu.max" || !slices.Equal(row.Unsupported[0].Nodes, []string{"node-2"}) {
		t.Errorf("gaps %+v", row.Unsupported)
	}
}
