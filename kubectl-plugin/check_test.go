package kubectlplugin

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/source/live/livetest"
)

const checkedNamespace = release.DefaultNamespace

// ofSystem is the metadata of an object that the chart installs.
func ofSystem(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: checkedNamespace, Name: name, Labels: map[string]string{
		"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "koordinator", "app.kubernetes.io/version": "1.2.3",
	}}
}

func systemContainers(name string, arguments ...string) []corev1.Container {
	return []corev1.Container{{Name: name, Image: "registry.example.com/" + name + ":1.2.3", Args: arguments}}
}

func systemDeployment(name string) appsv1.Deployment {
	return appsv1.Deployment{
		ObjectMeta: ofSystem(name), Status: appsv1.DeploymentStatus{ReadyReplicas: 2},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: systemContainers(name)}}},
	}
}

func systemLease(name string) coordinationv1.Lease {
	return coordinationv1.Lease{ObjectMeta: ofSystem(name), Spec: coordinationv1.LeaseSpec{
		HolderIdentity: new(name + "_1"), LeaseDurationSeconds: new(int32(15)), RenewTime: &metav1.MicroTime{Time: testNow.Add(-2 * time.Second)},
	}}
}

func systemPod(name, component, node string, arguments ...string) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: ofSystem(name), Spec: corev1.PodSpec{NodeName: node, Containers: systemContainers(component, arguments...)}}
	pod.Labels["app.kubernetes.io/name"] = component
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	return pod
}

// established are the definitions of the chart as an API server serves them.
func established(t testing.TB) *unstructured.UnstructuredList {
	t.Helper()
	objects, err := release.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinitionList"}}
	for _, object := range objects {
		object.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
		list.Items = append(list.Items, *object)
	}
	return list
}

// apiServiceIs is the registration of the diagnostics API.
func apiServiceIs(available string) *unstructured.UnstructuredList {
	return &unstructured.UnstructuredList{
		Object: map[string]any{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIServiceList"},
		Items: []unstructured.Unstructured{{Object: map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1alpha1.diagnostics.koordinator.sh"},
			"spec":   map[string]any{"service": map[string]any{"name": "koord-manager", "namespace": checkedNamespace}, "caBundle": "bm8gUEVN"},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": available, "message": "no response from https://10.0.0.1"}}},
		}}},
	}
}

// agentsAnswer answers questions about many nodes: the kernel of the first does not support a feature.
func agentsAnswer(w http.ResponseWriter, r *http.Request) {
	var batch diagnosticsv1alpha1.NodeExplanationBatch
	if err := json.NewDecoder(r.Body).Decode(&batch); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for i, name := range batch.Spec.NodeNames {
		feature := diagnosticsv1alpha1.AgentFeature{
			Name: "BECPUSuppress", Gate: true, Configured: diagnosticsv1alpha1.FeatureYes, Supported: diagnosticsv1alpha1.FeatureYes, Effective: diagnosticsv1alpha1.FeatureYes,
		}
		if i == 0 {
			feature.Supported, feature.Effective, feature.Reason = diagnosticsv1alpha1.FeatureNo, diagnosticsv1alpha1.FeatureNo, "the kernel has no cpuset"
		}
		batch.Status.Nodes = append(batch.Status.Nodes, diagnosticsv1alpha1.NodeExplanationStatus{
			Node:  diagnosticsv1alpha1.NodeFacts{Name: name},
			Agent: &diagnosticsv1alpha1.AgentExplanation{Component: "koordlet", Cgroups: "v2, systemd", Features: []diagnosticsv1alpha1.AgentFeature{feature}},
		})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(batch)
}

// allows answers questions about the user's rights by the verb and resource that are not permitted.
func allows(denied ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		review := &authorizationv1.SelfSubjectAccessReview{}
		data := make([]byte, r.ContentLength)
		if _, err := r.Body.Read(data); err != nil && err.Error() != "EOF" {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		allowed := true
		for _, right := range denied {
			verb, resource, _ := strings.Cut(right, " ")
			allowed = allowed && !(strings.Contains(string(data), verb) && strings.Contains(string(data), resource))
		}
		review.Kind, review.APIVersion = "SelfSubjectAccessReview", "authorization.k8s.io/v1"
		review.Status.Allowed = allowed
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	})
}

// checkedCluster has the system installed, with three nodes, of which one has a NodeMetric that expired and one has none.
func checkedCluster(t testing.TB) *livetest.Server {
	t.Helper()
	server := cluster()
	for i := range server.Nodes {
		server.Nodes[i].Status.NodeInfo = corev1.NodeSystemInfo{
			OperatingSystem: "linux", Architecture: "amd64", KubeletVersion: "v1.36.1", ContainerRuntimeVersion: "containerd://2.1.4", KernelVersion: "6.8.0",
		}
	}
	server.Diagnostics = http.HandlerFunc(agentsAnswer)
	server.Namespaces = append(server.Namespaces, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: checkedNamespace, Labels: map[string]string{"kubernetes.io/metadata.name": checkedNamespace}}})
	server.Pods = append(server.Pods, systemPod("koord-manager-a", "koord-manager", "worker-1"), systemPod("koord-scheduler-a", "koord-scheduler", "worker-2", "--port=10251"),
		systemPod("koordlet-a", "koordlet", "worker-1"), systemPod("koordlet-b", "koordlet", "worker-2"))
	webhook := admissionregistrationv1.MutatingWebhook{
		Name:         "mutate-pod.koordinator.sh",
		ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: checkedNamespace, Name: "koord-manager"}, CABundle: []byte("no PEM")},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{"CREATE"}, Rule: admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		}},
	}
	server.Lists = map[string]runtime.Object{
		"secrets":     &corev1.SecretList{},
		"deployments": &appsv1.DeploymentList{Items: []appsv1.Deployment{systemDeployment("koord-manager"), systemDeployment("koord-scheduler")}},
		"daemonsets": &appsv1.DaemonSetList{Items: []appsv1.DaemonSet{{
			ObjectMeta: ofSystem("koordlet"), Spec: appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: systemContainers("koordlet")}}},
			Status: appsv1.DaemonSetStatus{NumberReady: 2, DesiredNumberScheduled: 2},
		}}},
		"leases":                          &coordinationv1.LeaseList{Items: []coordinationv1.Lease{systemLease("koordinator-manager"), systemLease("koord-scheduler")}},
		"customresourcedefinitions":       established(t),
		"apiservices":                     apiServiceIs("True"),
		"services":                        &corev1.ServiceList{Items: []corev1.Service{{ObjectMeta: ofSystem("koord-manager")}}},
		"endpointslices":                  &discoveryv1.EndpointSliceList{},
		"mutatingwebhookconfigurations":   &admissionregistrationv1.MutatingWebhookConfigurationList{Items: []admissionregistrationv1.MutatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "koordinator-admission"}, Webhooks: []admissionregistrationv1.MutatingWebhook{webhook}}}},
		"validatingwebhookconfigurations": &admissionregistrationv1.ValidatingWebhookConfigurationList{},
		"elasticquotas":                   &schedulingsigsv1alpha1.ElasticQuotaList{TypeMeta: metav1.TypeMeta{APIVersion: "scheduling.sigs.k8s.io/v1alpha1", Kind: "ElasticQuotaList"}},
	}
	server.Creates = map[string]http.Handler{"selfsubjectaccessreviews": allows()}
	return server
}

// asUpstream makes the installation one of upstream's chart: other labels, images, webhooks and ports, and no diagnostics API.
func asUpstream(s *livetest.Server) {
	s.Diagnostics = nil
	s.Lists["apiservices"] = &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIServiceList"}}
	deployments := s.Lists["deployments"].(*appsv1.DeploymentList)
	for i := range deployments.Items {
		d := &deployments.Items[i]
		d.Labels = map[string]string{"koord-app": d.Name}
		d.Spec.Template.Spec.Containers[0].Image = "registry.example.com/koordinator-sh/" + d.Name + ":v1.7.0"
	}
	for i := range s.Pods {
		if pod := &s.Pods[i]; pod.Namespace == checkedNamespace {
			pod.Labels = map[string]string{"koord-app": pod.Labels["app.kubernetes.io/name"]}
		}
	}
	configurations := s.Lists["mutatingwebhookconfigurations"].(*admissionregistrationv1.MutatingWebhookConfigurationList)
	configurations.Items[0].Name = "koordinator-mutating-webhook-configuration"
	configurations.Items[0].Webhooks[0].ClientConfig.Service.Name = "koordinator-webhook-service"
}

func TestCheckPrints(t *testing.T) {
	tests := map[string]struct {
		line   string
		server func(*livetest.Server)
	}{
		"all":              {"check", nil},
		"wide":             {"check node -o wide", nil},
		"ascii":            {"check webhook --ascii", nil},
		"short":            {"check -o short", nil},
		"some":             {"check config manager", nil},
		"json":             {"check webhook -o json", nil},
		"name":             {"check webhook -o name", nil},
		"jsonpath":         {"check -o jsonpath={.summary.failed}", nil},
		"fail-on":          {"check webhook -o short --fail-on error", nil},
		"fail-on-nothing":  {"check manager -o short --fail-on error", nil},
		"unknown-category": {"check nodes", nil},
		"bad-wait":         {"check --wait=-1s", nil},
		"bad-format":       {"check -o xml", nil},
		"bad-fail-on":      {"check --fail-on everything", nil},
		"pre":              {"check --pre", func(s *livetest.Server) { s.Creates["selfsubjectaccessreviews"] = allows("patch clusterroles") }},
		"nothing-installed": {"check -n nowhere", func(s *livetest.Server) {
			clear(s.Lists)
			s.ConfigMaps = nil
			s.Lists["secrets"], s.Lists["customresourcedefinitions"] = &corev1.SecretList{}, &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinitionList"}}
		}},
		"api-is-unavailable": {"check kubernetes", func(s *livetest.Server) { s.Lists["apiservices"] = apiServiceIs("False") }},
		"strict":             {"check webhook -o short --strict", func(s *livetest.Server) { s.Denied = []string{"list services"} }},
		"upstream":           {"check kubernetes scheduler agent webhook -o wide", asUpstream},
		"hostile": {"check -o short", func(s *livetest.Server) {
			s.Nodes[2].Name = "evil\x1b[31m\n✓ pass kubernetes/forged"
			s.Pods = append(s.Pods, systemPod("koord-scheduler-\x1b[2J", "koord-scheduler", "worker-1", "--port=10251"))
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := checkedCluster(t)
			if tc.server != nil {
				tc.server(server)
			}
			got := run(t, server, tc.line)
			if strings.Contains(got.stdout, "\x1b[31m") || strings.Contains(got.stdout, "\x1b[2J") {
				t.Errorf("an escape sequence gets through: %q", got.stdout)
			}
			golden(t, "check/"+name, tc.line, got)
		})
	}
}

// TestCheckGoesOnWithoutARight: what may not be read is unknown, and the command ends as it does otherwise.
func TestCheckGoesOnWithoutARight(t *testing.T) {
	for _, denied := range []string{
		"list nodes", "list pods", "get deployments", "get daemonsets", "get leases", "list secrets", "get secrets",
		"get configmaps", "list customresourcedefinitions", "get apiservices", "list nodemetrics", "list services", "list endpointslices", "get namespaces",
		"list mutatingwebhookconfigurations", "list validatingwebhookconfigurations", "list elasticquotas", "list deployments -A",
	} {
		t.Run(denied, func(t *testing.T) {
			server := checkedCluster(t)
			server.Denied = []string{denied}
			got := run(t, server, "check -o json")
			if got.code != 0 {
				t.Fatalf("exit code %d: %s", got.code, got.stderr)
			}
			var report struct {
				Checks []struct{ ID, State, Detail string }
			}
			if err := json.Unmarshal([]byte(got.stdout), &report); err != nil {
				t.Fatal(err)
			}
			_, resource, _ := strings.Cut(strings.TrimSuffix(denied, " -A"), " ")
			named := false
			for _, c := range report.Checks {
				if c.State == "Unknown" {
					named = named || strings.Contains(c.Detail, resource) && strings.Contains(c.Detail, "not permitted")
				}
			}
			if !named {
				t.Errorf("no check is unknown for want of %q: %s", denied, got.stdout)
			}
			if !strings.Contains(got.stderr, "incomplete: ") {
				t.Errorf("standard error %q", got.stderr)
			}
		})
	}
}

// TestCheckGoesOnWhereARequestFails: what the API server fails to answer is unknown, like what may not be read.
func TestCheckGoesOnWhereARequestFails(t *testing.T) {
	for _, failing := range []string{
		"list secrets", "list customresourcedefinitions", "get configmaps", "get deployments", "get leases", "get daemonsets", "get apiservices", "list nodemetrics",
		"list nodes", "list elasticquotas", "list pods", "list services", "list mutatingwebhookconfigurations",
	} {
		t.Run(failing, func(t *testing.T) {
			server := checkedCluster(t)
			server.Failing = []string{failing}
			got := run(t, server, "check -o json")
			var report struct {
				Checks []struct{ State, Detail string }
			}
			if err := json.Unmarshal([]byte(got.stdout), &report); err != nil {
				t.Fatalf("exit code %d, %v: %s", got.code, err, got.stderr)
			}
			unknown := slices.ContainsFunc(report.Checks, func(c struct{ State, Detail string }) bool {
				return c.State == "Unknown" && strings.Contains(c.Detail, "etcd is away")
			})
			if got.code != 0 || !unknown || !strings.Contains(got.stderr, "etcd is away") {
				t.Errorf("exit code %d, unknown %t: %s", got.code, unknown, got.stderr)
			}
		})
	}
}

func TestCheckBeforeAnInstallationGoesOnWithoutARight(t *testing.T) {
	for _, denied := range []string{"create selfsubjectaccessreviews", "list nodes", "get deployments", "list deployments", "list customresourcedefinitions"} {
		t.Run(denied, func(t *testing.T) {
			server := checkedCluster(t)
			server.Denied = []string{denied}
			got := run(t, server, "check --pre")
			if got.code != 0 || !strings.Contains(got.stdout, "unknown") {
				t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
			}
		})
	}
}

// TestCheckWritesJUnit: with the categories as suites.
func TestCheckWritesJUnit(t *testing.T) {
	got := run(t, checkedCluster(t), "check kubernetes webhook -o junit")
	var report struct {
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Type string `xml:"type,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(got.stdout), &report); err != nil {
		t.Fatalf("%v in %s", err, got.stdout)
	}
	if len(report.Suites) != 2 || report.Suites[0].Name != "kubernetes" || report.Suites[1].Name != "webhook" || report.Failures == 0 {
		t.Fatalf("report %+v", report)
	}
	for _, c := range report.Suites[1].Cases {
		if c.Name == "webhook-ca-bundle" && (c.Failure == nil || c.Failure.Type != "KOORD0621") {
			t.Errorf("case %+v", c)
		}
	}
}

// passing is a clock that passes whatever is waited for.
type passing struct {
	*clocktesting.FakeClock
	before func()
}

func (p passing) After(d time.Duration) <-chan time.Time {
	fired := p.FakeClock.After(d)
	p.before()
	p.Step(d)
	return fired
}

var _ clock.Clock = passing{}

// TestCheckWaitsForWhatTimeHelps: the API becomes available while it waits.
func TestCheckWaitsForWhatTimeHelps(t *testing.T) {
	server := checkedCluster(t)
	server.Lists["apiservices"] = apiServiceIs("False")
	attempts := 0
	got := run(t, server, "check kubernetes -o json --wait 1m", func(o *Options) {
		o.Clock = passing{clocktesting.NewFakeClock(testNow), func() {
			if attempts++; attempts == 3 {
				server.Lists["apiservices"] = apiServiceIs("True")
			}
		}}
	})
	var report struct {
		Checks []struct{ ID, State string }
	}
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		if c.ID == "diagnostics-api" && c.State != "Pass" {
			t.Errorf("diagnostics-api is %s after %d attempts", c.State, attempts)
		}
	}
	if attempts < 3 || attempts > 30 {
		t.Errorf("attempts: %d", attempts)
	}
}

func TestCheckOfABrokenServerIsOneError(t *testing.T) {
	server := checkedCluster(t)
	server.Broken = 500
	got := run(t, server, "check")
	if got.code != 1 || got.stdout != "" || strings.Count(got.stderr, "error:") != 1 {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

func TestCheckCompletesCategories(t *testing.T) {
	for typed, want := range map[string]string{"": "kubernetes\nscheduler\nmanager\nagent\nwebhook\nconfig\n:4\n", "w": "webhook\n:4\n"} {
		if got := runWords(t, checkedCluster(t), []string{"__complete", "check", "node", typed}); got.stdout != want {
			t.Errorf("completion of %q is %q, want %q", typed, got.stdout, want)
		}
	}
}
