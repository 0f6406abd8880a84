package answers

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/deploy/release"
	kubectlplugin "koordinator.sh/koord/kubectl-plugin"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live"
	"koordinator.sh/koord/source/live/livetest"
)

// now is the time at which the questions are asked.
var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// namespace of the kubeconfig.
const namespace = "default"

// cluster serves the objects of a question. Kinds of which there is no object are served, too, as in a cluster with everything installed.
func cluster(t *testing.T, q *question) *livetest.Server {
	t.Helper()
	scheme := newScheme(t)
	server := &livetest.Server{Denied: q.Denied, Version: q.Kubernetes, Lists: map[string]runtime.Object{}}
	byKind := map[schema.GroupVersionKind][]runtime.Object{}
	for _, kind := range otherKinds {
		byKind[kind] = nil
	}
	for _, object := range q.objects {
		switch o := object.(type) {
		case *corev1.Node:
			server.Nodes = append(server.Nodes, *o)
		case *corev1.Pod:
			server.Pods = append(server.Pods, *o)
		case *corev1.Namespace:
			server.Namespaces = append(server.Namespaces, *o)
		case *corev1.Event:
			server.Events = append(server.Events, *o)
		case *corev1.ConfigMap:
			server.ConfigMaps = append(server.ConfigMaps, *o)
		case *slov1alpha1.NodeMetric:
			server.Metrics = append(server.Metrics, *o)
		case *slov1alpha1.NodeSLO:
			server.NodeSLOs = append(server.NodeSLOs, *o)
		case *topologyv1alpha1.NodeResourceTopology:
			server.Topologies = append(server.Topologies, *o)
		case *schedulingv1alpha1.Device:
			server.Devices = append(server.Devices, *o)
		case *schedulingv1alpha1.Reservation:
			server.Reservations = append(server.Reservations, *o)
		case *configv1alpha1.ClusterColocationProfile:
			server.Profiles = append(server.Profiles, *o)
		case *analysisv1alpha1.Recommendation:
			server.Recommendations = append(server.Recommendations, *o)
		default:
			kind := object.GetObjectKind().GroupVersionKind()
			byKind[kind] = append(byKind[kind], object)
		}
	}
	for kind, objects := range byKind {
		listKind := kind.GroupVersion().WithKind(kind.Kind + "List")
		list, err := scheme.New(listKind)
		if err != nil {
			t.Fatal(err)
		}
		list.GetObjectKind().SetGroupVersionKind(listKind) // as the API server does
		if err := meta.SetList(list, objects); err != nil {
			t.Fatal(err)
		}
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		server.Lists[plural.Resource] = list
	}
	definitions, err := release.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	crds := unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinitionList"}}
	for _, definition := range definitions {
		definition.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
		crds.Items = append(crds.Items, *definition)
	}
	server.Lists["customresourcedefinitions"] = &crds
	server.Lists["apiservices"] = &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIServiceList"}}
	return server
}

// otherKinds are those of which a cluster has lists beside the ones that have a field of their own.
var otherKinds = []schema.GroupVersionKind{
	{Group: "scheduling.sigs.k8s.io", Version: "v1alpha1", Kind: "ElasticQuota"},
	{Group: "scheduling.sigs.k8s.io", Version: "v1alpha1", Kind: "PodGroup"},
	{Group: "scheduling.koordinator.sh", Version: "v1alpha1", Kind: "PodMigrationJob"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "apps", Version: "v1", Kind: "ReplicaSet"},
	{Group: "apps", Version: "v1", Kind: "DaemonSet"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
	{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"},
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "Service"},
	{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
}

// answer runs a command of a question, and returns what a terminal shows.
func answer(t *testing.T, server *livetest.Server, command string) string {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "config")
	if err := clientcmd.WriteToFile(server.Kubeconfig(namespace), kubeconfig); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", kubeconfig)
	var shown bytes.Buffer
	options := kubectlplugin.Options{
		Name: "koordctl", Version: kubectlplugin.Version{Version: "v1.0.0", GoVersion: "go1.26", Platform: "linux/amd64"},
		Streams:  genericiooptions.IOStreams{In: strings.NewReader(""), Out: &shown, ErrOut: &shown},
		Clock:    clocktesting.NewFakeClock(now),
		Terminal: kubectlplugin.Terminal{Width: 130},
		Connect: func(config clientcmd.ClientConfig, _ kubectlplugin.Connection) (source.Source, error) {
			return live.New(config, live.Options{Clock: clocktesting.NewFakePassiveClock(now)}), nil
		},
	}
	if err := kubectlplugin.Run(t.Context(), options, strings.Fields(command)); err != nil {
		t.Logf("%s: %v", command, err) // an error is an answer, too, and is shown
	}
	return shown.String()
}
