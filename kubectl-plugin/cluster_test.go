package kubectlplugin

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live"
	"koordinator.sh/koord/source/live/livetest"
)

var testNow = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func makeNode(name string) corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": "shared"}},
		Status: corev1.NodeStatus{
			Capacity:    list("cpu", "32", "memory", "128Gi", "pods", "110"),
			Allocatable: list("cpu", "31", "memory", "126Gi", "pods", "110", "kubernetes.io/batch-cpu", "9500", "kubernetes.io/batch-memory", "30Gi"),
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

func makePod(namespace, name, node string, requests corev1.ResourceList) corev1.Pod {
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name), CreationTimestamp: metav1.NewTime(testNow.Add(-time.Hour))},
		Spec: corev1.PodSpec{
			NodeName: node, SchedulerName: "koord-scheduler",
			Containers: []corev1.Container{{Name: "main", Image: "example.org/app", Env: []corev1.EnvVar{{Name: "SECRET", Value: "x"}}, Resources: corev1.ResourceRequirements{Requests: requests}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable},
	}
	if node == "" {
		pod.Status.Phase = corev1.PodPending
	}
	return pod
}

func makeMetric(node string, age time.Duration, cpu, memory string, pods ...*slov1alpha1.PodMetricInfo) slov1alpha1.NodeMetric {
	return slov1alpha1.NodeMetric{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Status: slov1alpha1.NodeMetricStatus{
			UpdateTime: &metav1.Time{Time: testNow.Add(-age)},
			NodeMetric: &slov1alpha1.NodeMetricInfo{
				NodeUsage:   slov1alpha1.ResourceMap{ResourceList: list("cpu", cpu, "memory", memory)},
				SystemUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "640m", "memory", "3Gi")},
			},
			PodsMetric: pods,
		},
	}
}

// fourCPUs is the CPU topology of a small machine.
const fourCPUs = `{"detail":[{"id":0,"core":0,"socket":0,"node":0},{"id":1,"core":0,"socket":0,"node":0},{"id":2,"core":1,"socket":0,"node":0},{"id":3,"core":1,"socket":0,"node":0}]}`

func cluster() *livetest.Server {
	batch := makePod("spark", "executor-1", "worker-1", list("kubernetes.io/batch-cpu", "2000", "kubernetes.io/batch-memory", "4Gi"))
	batch.Labels = map[string]string{"koordinator.sh/qosClass": "BE"}
	batch.Spec.Priority = new(int32(5500))
	cordoned := makeNode("worker-3")
	cordoned.Spec.Unschedulable = true
	cordoned.Labels = nil
	pending := makePod("shop", "huge", "", list("cpu", "40", "memory", "8Gi"))
	pending.CreationTimestamp = metav1.NewTime(testNow.Add(-3 * time.Minute))
	return &livetest.Server{
		Nodes:      []corev1.Node{makeNode("worker-1"), makeNode("worker-2"), cordoned},
		Pods:       []corev1.Pod{makePod("shop", "web-0", "worker-1", list("cpu", "4", "memory", "8Gi")), batch, pending},
		Namespaces: []corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, {ObjectMeta: metav1.ObjectMeta{Name: "spark"}}},
		ConfigMaps: []corev1.ConfigMap{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "koordinator-system", Name: "slo-controller-config"},
			Data:       map[string]string{"colocation-config": `{"enable": true, "cpuReclaimThresholdPercent": 70}`},
		}},
		Metrics: []slov1alpha1.NodeMetric{
			makeMetric("worker-1", 42*time.Second, "6", "20Gi", &slov1alpha1.PodMetricInfo{Namespace: "shop", Name: "web-0", PodUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "812m", "memory", "3Gi")}}),
			makeMetric("worker-2", 20*time.Minute, "30", "20Gi"),
		},
		NodeSLOs: []slov1alpha1.NodeSLO{{
			ObjectMeta: metav1.ObjectMeta{Name: "worker-1"},
			Spec: slov1alpha1.NodeSLOSpec{ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{
				Enable: new(true), CPUSuppressThresholdPercent: new(int64(65)), MemoryEvictThresholdPercent: new(int64(70)), EvictEnabledPriorityThreshold: new(int32(5999)),
			}},
		}},
		Topologies: []topologyv1alpha1.NodeResourceTopology{{
			ObjectMeta: metav1.ObjectMeta{Name: "worker-1", Annotations: map[string]string{
				extension.AnnotationNodeCPUTopology:      fourCPUs,
				extension.AnnotationNodeCPUSharedPools:   `[{"socket":0,"node":0,"cpuset":"1-3"}]`,
				extension.AnnotationNodeBECPUSharedPools: `[{"socket":0,"node":0,"cpuset":"0-3"}]`,
			}},
		}},
	}
}

// result of one command line.
type result struct {
	stdout, stderr string
	code           int
}

// run executes a command line, one shell-like string, against a server.
func run(t *testing.T, server *livetest.Server, line string, edit ...func(*Options)) result {
	t.Helper()
	return runUntil(t.Context(), t, server, line, edit...)
}

// runUntil executes a command line that is interrupted when ctx ends.
func runUntil(ctx context.Context, t *testing.T, server *livetest.Server, line string, edit ...func(*Options)) result {
	t.Helper()
	return runArguments(ctx, t, server, strings.Fields(line), edit...)
}

// runWords executes the words of a command line, which may be empty or contain spaces.
func runWords(t *testing.T, server *livetest.Server, words []string, edit ...func(*Options)) result {
	t.Helper()
	return runArguments(t.Context(), t, server, words, edit...)
}

func runArguments(ctx context.Context, t *testing.T, server *livetest.Server, words []string, edit ...func(*Options)) result {
	t.Helper()
	server.Start(t)
	var out, errOut bytes.Buffer
	options := Options{
		Name: "koordctl", Version: Version{Version: "v1.2.3", GoVersion: "go1", Platform: "linux/amd64"},
		Streams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut},
		Clock:   clocktesting.NewFakeClock(testNow),
		Connect: func(config clientcmd.ClientConfig, _ Connection) (source.Source, error) {
			return live.New(config, live.Options{Clock: clocktesting.NewFakePassiveClock(testNow)}), nil
		},
	}
	for _, e := range edit {
		e(&options)
	}
	kubeconfig := filepath.Join(t.TempDir(), "config")
	if err := clientcmd.WriteToFile(server.Kubeconfig("shop"), kubeconfig); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", kubeconfig)
	err := Run(ctx, options, words)
	return result{stdout: out.String(), stderr: errOut.String(), code: ExitCode(err)}
}
