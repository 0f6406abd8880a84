package live

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clocktesting "k8s.io/utils/clock/testing"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/source/live/livetest"
	"koordinator.sh/koord/source/objects"
)

// builtAt is the moment of clusters that are built.
var builtAt = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// clusterBuilder makes a cluster for tests, object by object.
type clusterBuilder struct{ server *livetest.Server }

func makeCluster() *clusterBuilder { return &clusterBuilder{&livetest.Server{}} }

// node adds a ready node of 32 cores.
func (b *clusterBuilder) node(name string, edits ...func(*corev1.Node)) *clusterBuilder {
	node := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, ManagedFields: managed(10)},
		Status: corev1.NodeStatus{
			Capacity: resources("32", "128Gi"), Allocatable: resources("31", "126Gi"),
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, edit := range edits {
		edit(&node)
	}
	b.server.Nodes = append(b.server.Nodes, node)
	return b
}

// pod adds a pod that requests CPU; without a node it is pending.
func (b *clusterBuilder) pod(namespace, name, node, cpu string, edits ...func(*corev1.Pod)) *clusterBuilder {
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ManagedFields: managed(10)},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if node == "" {
		pod.Status.Phase = corev1.PodPending
	}
	for _, edit := range edits {
		edit(&pod)
	}
	b.server.Pods = append(b.server.Pods, pod)
	return b
}

func readyPod(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

// usage adds the measurement of a node.
func (b *clusterBuilder) usage(node, cpu string, age time.Duration) *clusterBuilder {
	b.server.Metrics = append(b.server.Metrics, slov1alpha1.NodeMetric{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Status: slov1alpha1.NodeMetricStatus{
			UpdateTime: &metav1.Time{Time: builtAt.Add(-age)},
			NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: resources(cpu, "20Gi")}},
		},
	})
	return b
}

func (b *clusterBuilder) reservation(name string) *clusterBuilder {
	b.server.Reservations = append(b.server.Reservations, schedulingv1alpha1.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name, ManagedFields: managed(10)}})
	return b
}

// recommendation adds a Recommendation for the pods of a StatefulSet.
func (b *clusterBuilder) recommendation(namespace, name string, labels map[string]string) *clusterBuilder {
	r := analysisv1alpha1.Recommendation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, ManagedFields: managed(10)}}
	r.Spec.Target = analysisv1alpha1.RecommendationTarget{
		Type: analysisv1alpha1.RecommendationTargetWorkload, Workload: &analysisv1alpha1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: name},
	}
	b.server.Recommendations = append(b.server.Recommendations, r)
	return b
}

// descheduler adds the ConfigMap of koord-descheduler with a list of profiles in YAML.
func (b *clusterBuilder) descheduler(profiles string) *clusterBuilder {
	b.server.ConfigMaps = append(b.server.ConfigMaps, deschedulerConfig(profiles))
	return b
}

func deschedulerConfig(profiles string) corev1.ConfigMap {
	return corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: objects.DeschedulerConfigMap},
		Data:       map[string]string{objects.DeschedulerConfigMap: "profiles:\n" + profiles},
	}
}

func (b *clusterBuilder) namespace(name string) *clusterBuilder {
	b.server.Namespaces = append(b.server.Namespaces, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return b
}

func (b *clusterBuilder) denied(what ...string) *clusterBuilder {
	b.server.Denied = append(b.server.Denied, what...)
	return b
}

func (b *clusterBuilder) failing(what ...string) *clusterBuilder {
	b.server.Failing = append(b.server.Failing, what...)
	return b
}

// list adds the objects of a resource that the server has no field for.
func (b *clusterBuilder) list(resource string, objects runtime.Object) *clusterBuilder {
	if b.server.Lists == nil {
		b.server.Lists = map[string]runtime.Object{}
	}
	b.server.Lists[resource] = objects
	return b
}

// configMap adds one of the namespace of the system, with one key.
func (b *clusterBuilder) configMap(name, key, text string) *clusterBuilder {
	b.server.ConfigMaps = append(b.server.ConfigMaps, configMap(name, key, text))
	return b
}

// deployment adds one of the system with the arguments of its container.
func (b *clusterBuilder) deployment(name string, arguments ...string) *clusterBuilder {
	d := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: name}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Args: arguments}}
	return b.list("deployments", &appsv1.DeploymentList{Items: []appsv1.Deployment{d}})
}

// budget adds a PodDisruptionBudget for all pods of a namespace.
func (b *clusterBuilder) budget(namespace, name string, allowed int32) *clusterBuilder {
	list := &policyv1.PodDisruptionBudgetList{}
	if before, found := b.server.Lists["poddisruptionbudgets"]; found {
		list = before.(*policyv1.PodDisruptionBudgetList)
	}
	list.Items = append(list.Items, policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed, ExpectedPods: 2, CurrentHealthy: 2, DesiredHealthy: 2 - allowed},
	})
	return b.list("poddisruptionbudgets", list)
}

// source starts the cluster and returns the source that asks it.
func (b *clusterBuilder) source(t *testing.T) *Source {
	t.Helper()
	b.server.Start(t)
	return New(b.server.Config("shop"), Options{Clock: clocktesting.NewFakePassiveClock(builtAt)})
}

// sourceOf is a source that asks a server which one function is.
func sourceOf(t *testing.T, handler http.HandlerFunc) *Source {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config := *clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test"}
	config.CurrentContext = "test"
	return New(clientcmd.NewDefaultClientConfig(config, &clientcmd.ConfigOverrides{}), Options{})
}

// checkIncomplete compares what an answer says it lacks, each line with one of the texts of lineFrom.
func checkIncomplete(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("incomplete %q, want %q", got, want)
	}
	for _, line := range want {
		if !lineFrom(got, line) {
			t.Errorf("incomplete %q lacks %q", got, line)
		}
	}
}

// lineFrom is whether lines have one that begins and ends with texts, which a star separates.
func lineFrom(lines []string, want string) bool {
	begin, end, _ := strings.Cut(want, "*")
	return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, begin) && strings.HasSuffix(line, end) })
}
