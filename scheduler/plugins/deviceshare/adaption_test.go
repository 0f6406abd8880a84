package deviceshare

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/device"
)

// binding is one pod on its way to the only node, whose Device names a vendor.
type binding struct {
	built  framework.Framework
	client *fake.Clientset
	state  fwk.CycleState
	pod    *corev1.Pod
	nodes  []fwk.NodeInfo
}

func newBinding(t *testing.T, gate bool, vendor string, nodeAnnotations map[string]string, pod *corev1.Pod) *binding {
	t.Helper()
	metrics.Register()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, DevicePluginAdaption, gate)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	node := newNode("n")
	node.Annotations = nodeAnnotations
	object := newDevice("n")
	object.Labels = map[string]string{extension.LabelGPUVendor: vendor}
	memory := newMemory()
	memory.devices["n"] = device.DecodeNode(object)
	b := &binding{client: fake.NewClientset(pod, node), state: framework.NewCycleState(), pod: pod}
	snapshot := cache.NewSnapshot(nil, []*corev1.Node{node})
	b.built = newFramework(ctx, t, memory, b.client, snapshot)
	var err error
	if b.nodes, err = snapshot.NodeInfos().List(); err != nil {
		t.Fatal(err)
	}
	return b
}

// filter runs PreFilter and Filter.
func (b *binding) filter(t *testing.T) *fwk.Status {
	t.Helper()
	if _, status, _ := b.built.RunPreFilterPlugins(t.Context(), b.state, b.pod); !status.IsSuccess() && !status.IsSkip() {
		t.Fatal(status)
	}
	return b.built.RunFilterPlugins(t.Context(), b.state, b.pod, b.nodes[0])
}

// preBind runs from PreFilter to PreBind.
func (b *binding) preBind(t *testing.T) *fwk.Status {
	t.Helper()
	if status := b.filter(t); !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := b.built.RunReservePluginsReserve(t.Context(), b.state, b.pod, "n"); !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := b.built.RunPreBindPreFlights(t.Context(), b.state, b.pod, "n"); !status.IsSuccess() && !status.IsSkip() {
		t.Fatal(status)
	}
	return b.built.RunPreBindPlugins(t.Context(), b.state, b.pod, "n")
}

func (b *binding) bind(t *testing.T) {
	t.Helper()
	if status := b.preBind(t); !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := b.built.RunBindPlugins(t.Context(), b.state, b.pod, "n"); !status.IsSuccess() {
		t.Fatal(status)
	}
}

func (b *binding) node(t *testing.T) map[string]string {
	t.Helper()
	node, err := b.client.CoreV1().Nodes().Get(t.Context(), "n", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return node.Annotations
}

func cambriconPod(name string) *corev1.Pod {
	return newPod(name, "koordinator.sh/gpu-core", "50", "koordinator.sh/gpu-memory", "8Gi")
}

const cambriconLock = "cambricon.com/dsmlu.lock"

func TestAllocationsAreAdaptedToTheDevicePlugin(t *testing.T) {
	tests := map[string]struct {
		off        bool
		vendor     string
		pod        *corev1.Pod
		want       map[string]string
		wantStamps []string
		wantLocked bool
	}{
		"without the gate only what koordlet reads is written": {off: true, vendor: "cambricon", pod: cambriconPod("pod"), want: map[string]string{}},
		"Cambricon's plugin needs the node to be locked": {
			vendor: "cambricon", pod: cambriconPod("pod"), wantLocked: true, wantStamps: []string{extension.AnnotationBindTimestamp},
			want: map[string]string{"CAMBRICON_DSMLU_ASSIGHED": "false", "CAMBRICON_DSMLU_PROFILE": "0_50_32"},
		},
		"Huawei's plugin tells pods apart by time": {
			vendor: "huawei", pod: newPod("pod", "koordinator.sh/gpu", "200"), wantStamps: []string{extension.AnnotationBindTimestamp, "predicate-time"},
			want: map[string]string{"huawei.com/npu-core": "0,1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBinding(t, !test.off, test.vendor, nil, test.pod)
			before := time.Now().UnixNano()
			b.bind(t)
			got := boundAnnotations(t, b.client)
			for _, key := range test.wantStamps {
				var at int64
				if err := json.Unmarshal([]byte(got[key]), &at); err != nil || at < before || at > time.Now().UnixNano() {
					t.Errorf("stamp %s is %q, error %v", key, got[key], err)
				}
				delete(got, key)
			}
			for _, key := range []string{extension.AnnotationDeviceAllocated, extension.AnnotationGPUMinors} {
				if got[key] == "" {
					t.Errorf("annotation %s is missing", key)
				}
				delete(got, key)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("annotations of the Binding (-want +got):\n%s", diff)
			}
			lock := b.node(t)[cambriconLock]
			if locked := strings.HasSuffix(lock, ",default,pod"); locked != test.wantLocked {
				t.Errorf("the lock of the node is %q", lock)
			}
		})
	}
}

func TestHAMiFindsItsPodsByALabel(t *testing.T) {
	pod := newPod("pod", "koordinator.sh/gpu", "200")
	pod.Labels[extension.LabelGPUIsolationProvider] = extension.GPUIsolationProviderHAMICore
	b := newBinding(t, true, "nvidia", nil, pod)
	b.bind(t)
	present, err := b.client.CoreV1().Pods("default").Get(t.Context(), "pod", metav1.GetOptions{})
	if err != nil || present.Labels[extension.LabelHAMIVGPUNode] != "n" {
		t.Errorf("labels %v, error %v", present.Labels, err)
	}
}

func TestAdaptedAnnotationsCannotBePretended(t *testing.T) {
	pod := newPod("pod", "cpu", "1")
	pod.Annotations["huawei.com/npu-core"] = "0,1,2,3"
	b := newBinding(t, true, "huawei", nil, pod)
	b.bind(t)
	if got, found := boundAnnotations(t, b.client)["huawei.com/npu-core"]; !found || got != "" {
		t.Errorf("bound with %q", got)
	}
}

func TestLockedNodesAreLeftToThePodTheyAreLockedFor(t *testing.T) {
	lock := func(age time.Duration, pod string) map[string]string {
		return map[string]string{cambriconLock: device.Lock{Since: time.Now().Add(-age), Namespace: "default", Pod: pod}.String()}
	}
	tests := map[string]struct {
		annotations map[string]string
		want        bool
	}{
		"no lock":                             {want: true},
		"a lock of another pod":               {annotations: lock(time.Minute, "other")},
		"a lock that is over":                 {annotations: lock(6*time.Minute, "other"), want: true},
		"the pod's own, from an attempt":      {annotations: lock(time.Minute, "pod"), want: true},
		"a lock of a pod that is gone":        {annotations: lock(time.Minute, "gone"), want: true},
		"a lock that nobody can read":         {annotations: map[string]string{cambriconLock: "mine"}},
		"a lock of another vendor's making":   {annotations: map[string]string{"hami.io/mutex.lock": "mine"}, want: true},
		"a lock that says nothing any longer": {annotations: map[string]string{cambriconLock: ""}, want: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBinding(t, true, "cambricon", test.annotations, cambriconPod("pod"))
			for _, name := range []string{"other", "pod"} {
				if err := b.built.SharedInformerFactory().Core().V1().Pods().Informer().GetIndexer().Add(cambriconPod(name)); err != nil {
					t.Fatal(err)
				}
			}
			if status := b.filter(t); status.IsSuccess() != test.want {
				t.Errorf("status %v, want success %v", status, test.want)
			}
		})
	}
}

func TestOnlyOneOfTwoPodsLocksTheNode(t *testing.T) {
	b := newBinding(t, true, "cambricon", nil, cambriconPod("pod"))
	if err := b.built.SharedInformerFactory().Core().V1().Pods().Informer().GetIndexer().Add(cambriconPod("other")); err != nil {
		t.Fatal(err)
	}
	locked, conflicts := false, 0
	b.client.PrependReactor("patch", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		if locked {
			return false, nil, nil
		}
		locked, conflicts = true, conflicts+1
		node := newNode("n")
		node.Annotations = map[string]string{cambriconLock: device.Lock{Since: time.Now(), Namespace: "default", Pod: "other"}.String()}
		if err := b.client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("nodes"), node, ""); err != nil {
			t.Error(err)
		}
		return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, "n", errors.New("changed"))
	})
	status := b.preBind(t)
	if status.Code() != fwk.Error || !strings.Contains(status.Message(), `node "n" has been locked`) || conflicts != 1 {
		t.Errorf("status %v after %d conflicts", status, conflicts)
	}
	b.built.RunReservePluginsUnreserve(t.Context(), b.state, b.pod, "n")
	if lock := b.node(t)[cambriconLock]; !strings.HasSuffix(lock, ",other") {
		t.Errorf("the other pod's lock became %q", lock)
	}
}

func TestLocksEndWithBindingsThatFail(t *testing.T) {
	for name, bound := range map[string]bool{"the binding failed": false, "the binding succeeded without word of it": true} {
		t.Run(name, func(t *testing.T) {
			b := newBinding(t, true, "cambricon", map[string]string{"other": "kept"}, cambriconPod("pod"))
			if status := b.preBind(t); !status.IsSuccess() {
				t.Fatal(status)
			}
			if bound {
				present := b.pod.DeepCopy()
				present.Spec.NodeName = "n"
				if err := b.client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), present, "default"); err != nil {
					t.Fatal(err)
				}
			}
			b.built.RunReservePluginsUnreserve(t.Context(), b.state, b.pod, "n")
			if _, locked := b.node(t)[cambriconLock]; locked != bound || b.node(t)["other"] != "kept" {
				t.Errorf("annotations of the node afterwards: %v", b.node(t))
			}
		})
	}
}

func TestUnlockedNodesWakePods(t *testing.T) {
	for _, gate := range []bool{true, false} {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, DevicePluginAdaption, gate)
		object := newDevice("n")
		object.Labels = map[string]string{extension.LabelGPUVendor: "cambricon"}
		f := newFixture(t, "", object)
		events, err := f.plugin.EventsToRegister(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		registered := false
		for _, event := range events {
			registered = registered || event.Event.Resource == fwk.Node && event.Event.ActionType&fwk.UpdateNodeAnnotation != 0
		}
		locked, free := newNode("n"), newNode("n")
		locked.Annotations = map[string]string{cambriconLock: "another's"}
		hint, err := f.plugin.afterNode(klog.Background(), cambriconPod("pod"), locked, free)
		if err != nil || (hint == fwk.Queue) != gate || registered != gate {
			t.Errorf("with the gate %v: hint %v, registered %v, error %v", gate, hint, registered, err)
		}
		if hint, err := f.plugin.afterNode(klog.Background(), cambriconPod("pod"), free, locked); err != nil || hint != fwk.QueueSkip {
			t.Errorf("a node that is being locked: hint %v, error %v", hint, err)
		}
	}
}
