package check

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/certificate"
	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/kubectl-plugin/install"
)

var now = time.Date(2030, time.May, 1, 8, 0, 0, 0, time.UTC)

const namespace = "koordinator-system"

// authority signs certificates for tests.
type authority struct {
	leaf *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB, until time.Time) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: now.Add(-1000 * time.Hour), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{leaf, key}
}

func (a authority) bundle() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.leaf.Raw})
}

// issue is a Secret with a certificate for a host.
func (a authority) issue(t testing.TB, secretName, host string, from, until time.Time) *corev1.Secret {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.leaf, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: secretName},
		Data:       map[string][]byte{"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})},
	}
}

const host = managerName + "." + namespace + ".svc"

func labelled(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{nameLabel: name, release.PartOfLabel: release.PartOf, versionLabel: "1.2.3"}}
}

func template(name string, arguments ...string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: "registry.example.com:5000/koordinator/" + name + ":1.2.3", Args: arguments}}}}
}

func deploymentOf(name string) appsv1.Deployment {
	return appsv1.Deployment{ObjectMeta: labelled(name), Spec: appsv1.DeploymentSpec{Template: template(name)}}
}

func podOf(name, component, node string, arguments ...string) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: labelled(name), Spec: template(component, arguments...).Spec}
	pod.Labels[nameLabel], pod.Spec.NodeName = component, node
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: component, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	return pod
}

func nodeOf(name string) corev1.Node {
	return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": "a"}}, Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{
		OperatingSystem: "linux", Architecture: "amd64", KubeletVersion: "v1.36.1", ContainerRuntimeVersion: "containerd://2.1.4", KernelVersion: "6.8.0-45-generic",
	}}}
}

func definitionOf(name string, versions ...string) unstructured.Unstructured {
	var served []any
	for _, version := range versions {
		served = append(served, map[string]any{"name": version, "served": true})
	}
	return unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": name, "labels": map[string]any{release.PartOfLabel: release.PartOf}},
		"spec":     map[string]any{"scope": "Cluster", "names": map[string]any{"kind": "NodeSLO"}, "versions": served},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}},
	}}
}

func componentOf(name, leader string) install.ComponentStatus {
	return install.ComponentStatus{
		Name: name, State: install.StateReady, Workload: "Deployment", Ready: new(int32(2)), Desired: new(int32(2)),
		Leader: leader, RenewedAt: &metav1.MicroTime{Time: now.Add(-2 * time.Second)},
	}
}

func overviewOf(name string, state diagnosticsv1alpha1.MetricState) diagnosticsv1alpha1.NodeOverview {
	return diagnosticsv1alpha1.NodeOverview{ObjectMeta: metav1.ObjectMeta{Name: name}, Metric: diagnosticsv1alpha1.MetricFacts{State: state}}
}

// suppression is a feature that works.
func suppression() diagnosticsv1alpha1.AgentFeature {
	return diagnosticsv1alpha1.AgentFeature{
		Name: "BECPUSuppress", Gate: true, Configured: diagnosticsv1alpha1.FeatureYes, Supported: diagnosticsv1alpha1.FeatureYes,
		Active: diagnosticsv1alpha1.FeatureYes, Effective: diagnosticsv1alpha1.FeatureYes, Wanted: 3, InForce: 3,
	}
}

func agentOf(node string, features ...diagnosticsv1alpha1.AgentFeature) AgentAnswer {
	return AgentAnswer{Node: node, Agent: &diagnosticsv1alpha1.AgentExplanation{Component: "koordlet", Cgroups: "v2, systemd", Features: features}}
}

func rulesFor(resource string) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{resource}},
	}}
}

// exempting selects all namespaces but the system's.
func exempting() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: []string{namespace},
	}}}
}

func webhookOf(bundle []byte) WebhookFacts {
	return WebhookFacts{
		Kind: mutatingKind, Configuration: "koordinator-admission", Name: "mutate-pod.koordinator.sh", Fails: true,
		Client: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: namespace, Name: managerName}, CABundle: bundle},
		Rules:  rulesFor("pods"), Namespaces: exempting(), TimeoutSeconds: 5,
	}
}

// healthy are the facts of an installation in which everything works.
func healthy(t testing.TB) *Facts {
	t.Helper()
	ca := newAuthority(t, now.Add(10*365*24*time.Hour))
	secrets := map[string]*Fact[*corev1.Secret]{upstreamSecret: {}}
	for name, service := range map[string]string{certificate.ManagerSecret: managerName, certificate.SchedulerSecret: schedulerName, certificate.DeschedulerSecret: deschedulerName, certificate.BridgeSecret: bridgeName} {
		secrets[name] = &Fact[*corev1.Secret]{Value: ca.issue(t, name, service+"."+namespace+".svc", now.Add(-time.Hour), now.Add(365*24*time.Hour))}
	}
	wanted := definitionOf("nodeslos.slo.koordinator.sh", "v1alpha1")
	status := &install.InstallationStatus{
		Namespace: namespace, Kubernetes: install.KubernetesStatus{Version: "v1.36.3", State: install.StateReady},
		Release: &install.ReleaseStatus{Name: "koordinator", Revision: 3, ChartVersion: "1.2.3"}, ReleaseState: install.StateReady,
		Components: []install.ComponentStatus{
			componentOf(managerName, "m_1"), componentOf(schedulerName, "s_1"), componentOf(deschedulerName, "d_1"), componentOf(bridgeName, "b_1"),
			{Name: agentName, State: install.StateReady, Workload: "DaemonSet", Ready: new(int32(2)), Desired: new(int32(2))},
		},
		API: install.APIStatus{Name: install.APIServiceName, State: install.StateReady}, Definitions: install.DefinitionStatus{State: install.StateReady},
		Config:      install.ConfigStatus{State: install.StateReady, Colocation: new(true)},
		Protections: install.ProtectionsStatus{State: install.StateReady, Expected: new(3), InForce: new(3)},
		Enforcement: install.EnforcementStatus{State: install.StateReady, Nodes: new(2), Enforcing: 2},
	}
	return &Facts{
		Now: now, Client: "v1.2.3", Namespace: namespace, Installation: &install.Collection{Status: status, Unread: map[install.Part][]string{}},
		Nodes:     Fact[[]corev1.Node]{Value: []corev1.Node{nodeOf("node-1"), nodeOf("node-2")}},
		Overviews: Fact[[]diagnosticsv1alpha1.NodeOverview]{Value: []diagnosticsv1alpha1.NodeOverview{overviewOf("node-1", diagnosticsv1alpha1.MetricFresh), overviewOf("node-2", diagnosticsv1alpha1.MetricFresh)}},
		Agents:    Fact[[]AgentAnswer]{Value: []AgentAnswer{agentOf("node-1", suppression()), agentOf("node-2", suppression())}},
		Pods: Fact[[]corev1.Pod]{Value: []corev1.Pod{
			podOf("koord-manager-a", managerName, "node-1", "--metrics-bind-address=:8080"), podOf("koord-scheduler-a", schedulerName, "node-1"),
			podOf("koord-descheduler-a", deschedulerName, "node-2"), podOf("koord-bridge-a", bridgeName, "node-2"),
			podOf("koordlet-a", agentName, "node-1"), podOf("koordlet-b", agentName, "node-2"),
		}},
		Deployments: Fact[[]appsv1.Deployment]{Value: []appsv1.Deployment{deploymentOf(managerName), deploymentOf(schedulerName), deploymentOf(deschedulerName), deploymentOf(bridgeName)}},
		DaemonSets:  Fact[[]appsv1.DaemonSet]{Value: []appsv1.DaemonSet{{ObjectMeta: labelled(agentName), Spec: appsv1.DaemonSetSpec{Template: template(agentName)}}}},
		Services:    Fact[[]corev1.Service]{Value: []corev1.Service{{ObjectMeta: labelled(managerName)}}},
		Endpoints: Fact[[]discoveryv1.EndpointSlice]{Value: []discoveryv1.EndpointSlice{{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Labels: map[string]string{"kubernetes.io/service-name": managerName}},
			Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}, {Addresses: []string{"10.0.0.2"}, Conditions: discoveryv1.EndpointConditions{Ready: new(false)}}},
		}}},
		NamespaceLabels: Fact[map[string]string]{Value: map[string]string{"kubernetes.io/metadata.name": namespace}},
		Webhooks:        Fact[[]WebhookFacts]{Value: []WebhookFacts{webhookOf(ca.bundle())}},
		Secrets:         secrets,
		APIService: Fact[*unstructured.Unstructured]{Value: &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"service": map[string]any{"name": managerName, "namespace": namespace}, "caBundle": base64.StdEncoding.EncodeToString(ca.bundle()),
		}}}},
		Definitions: Fact[[]unstructured.Unstructured]{Value: []unstructured.Unstructured{definitionOf("nodeslos.slo.koordinator.sh", "v1alpha1")}},
		Wanted:      []*unstructured.Unstructured{&wanted},
	}
}
