package release

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	release "helm.sh/helm/v4/pkg/release/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/bridge/yarn"
)

// renderYARN renders chart hadoop-yarn as release yarn in namespace hadoop, and its notes.
func renderYARN(t *testing.T, values map[string]any) (manifest, notes string, err error) {
	t.Helper()
	loaded, err := loader.LoadDir("../hadoop-yarn")
	if err != nil {
		t.Fatal(err)
	}
	version, err := common.ParseKubeVersion(renderedFor)
	if err != nil {
		t.Fatal(err)
	}
	install := action.NewInstall(action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler)))
	install.ReleaseName, install.Namespace, install.DryRunStrategy, install.KubeVersion = "yarn", "hadoop", action.DryRunClient, version
	outcome, err := install.RunWithContext(t.Context(), loaded, values)
	if err != nil {
		return "", "", err
	}
	rendered := outcome.(*release.Release)
	return rendered.Manifest, rendered.Info.Notes, nil
}

// yarnObjects renders chart hadoop-yarn with an image.
func yarnObjects(t *testing.T, values map[string]any) []*unstructured.Unstructured {
	t.Helper()
	all := map[string]any{"image": "example.com/hadoop:3.4.2"}
	for name, value := range values {
		all[name] = value
	}
	manifest, _, err := renderYARN(t, all)
	if err != nil {
		t.Fatal(err)
	}
	return objectsOf(t, manifest)
}

// into reads the object of a kind and a name, refusing fields that the kind does not have.
func into[T any](t *testing.T, objects []*unstructured.Unstructured, kind, name string) *T {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			out := new(T)
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, out, true); err != nil {
				t.Fatalf("%s %s: %v", kind, name, err)
			}
			return out
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}

func TestTheChartOfYARNRendersTheGoldenManifest(t *testing.T) {
	got, _, err := renderYARN(t, map[string]any{"image": "example.com/hadoop:3.4.2"})
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "hadoop-yarn.golden.yaml")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("manifest differs from %s; run with -update if that is intended (-want +got):\n%s", golden, diff)
	}
}

func TestTheChartOfYARNIsWithoutFindingsOfHelm(t *testing.T) {
	result := action.NewLint().Run([]string{"../hadoop-yarn"}, map[string]any{"image": "example.com/hadoop:3.4.2"})
	for _, message := range result.Messages {
		if message.Severity > 1 {
			t.Error(message)
		}
	}
	if result.TotalChartsLinted != 1 || len(result.Errors) > 0 {
		t.Errorf("%d charts were linted: %v", result.TotalChartsLinted, result.Errors)
	}
}

// TestNodeManagersAreBestEffort: kubelet, koordlet and koord-bridge take the pods for what they are.
func TestNodeManagersAreBestEffort(t *testing.T) {
	for name, values := range map[string]map[string]any{
		"by default": {},
		"with batch resources": {"nodeManager": map[string]any{"resources": map[string]any{
			"requests": map[string]any{"kubernetes.io/batch-memory": "512Mi"}, "limits": map[string]any{"kubernetes.io/batch-memory": "512Mi"},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := yarnObjects(t, values)
			class := into[schedulingv1.PriorityClass](t, objects, "PriorityClass", "yarn-node-manager")
			template := into[appsv1.DaemonSet](t, objects, "DaemonSet", "yarn-node-manager").Spec.Template
			pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
			for _, container := range pod.Spec.Containers {
				for _, list := range []corev1.ResourceList{container.Resources.Requests, container.Resources.Limits} {
					if _, cpu := list[corev1.ResourceCPU]; cpu || !list.Memory().IsZero() {
						t.Errorf("container %s has %v", container.Name, container.Resources)
					}
				}
			}
			batch, _ := extension.PriorityBatch.Band()
			if band := extension.PriorityClassOfValue(class.Value); band != extension.PriorityBatch || class.Value <= batch.Default+1 || pod.Spec.PriorityClassName != class.Name {
				t.Errorf("class %q has priority %d, want one of batch above YARN's containers; the pod has class %q", class.Name, class.Value, pod.Spec.PriorityClassName)
			}
			if got := extension.QoSClass(pod.Labels[extension.LabelPodQoS]); got != extension.QoSBE {
				t.Errorf("the QoS class is %q", got)
			}
			engine := yarn.NewEngine(yarn.Cluster{Name: yarn.DefaultCluster}, yarn.Caller{}, 0)
			t.Cleanup(engine.Close)
			if !engine.Agent(pod) || !pod.Spec.HostNetwork {
				t.Errorf("koord-bridge does not take the pod with labels %v for a NodeManager on the network of its node", pod.Labels)
			}
		})
	}
}

func TestNodeManagersOfAnotherClusterSaySo(t *testing.T) {
	template := into[appsv1.DaemonSet](t, yarnObjects(t, map[string]any{"cluster": "etl"}), "DaemonSet", "yarn-node-manager").Spec.Template
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta}
	for cluster, want := range map[string]bool{"etl": true, yarn.DefaultCluster: false} {
		engine := yarn.NewEngine(yarn.Cluster{Name: cluster}, yarn.Caller{}, 0)
		t.Cleanup(engine.Close)
		if got := engine.Agent(pod); got != want {
			t.Errorf("the NodeManager belongs to cluster %q: %t, want %t", cluster, got, want)
		}
	}
}

// TestThePodsOfYARNMeetTheRestrictedStandard but for the node's network, and have no rights in the cluster.
func TestThePodsOfYARNMeetTheRestrictedStandard(t *testing.T) {
	objects := yarnObjects(t, nil)
	for _, object := range objects {
		if strings.Contains(object.GetKind(), "Role") || object.GetKind() == "ServiceAccount" {
			t.Errorf("the chart has %s %s", object.GetKind(), object.GetName())
		}
	}
	specs := map[string]corev1.PodSpec{
		"ResourceManager": into[appsv1.StatefulSet](t, objects, "StatefulSet", "yarn-resource-manager").Spec.Template.Spec,
		"NodeManager":     into[appsv1.DaemonSet](t, objects, "DaemonSet", "yarn-node-manager").Spec.Template.Spec,
	}
	for name, spec := range specs {
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken || spec.HostPID || spec.HostIPC || !*spec.SecurityContext.RunAsNonRoot {
			t.Errorf("the pod of the %s has a token, or more of the node than it needs, or is root", name)
		}
		for _, volume := range spec.Volumes {
			if volume.HostPath != nil {
				t.Errorf("the pod of the %s mounts %s of the node", name, volume.HostPath.Path)
			}
		}
		want := &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}
		if diff := cmp.Diff(want, spec.Containers[0].SecurityContext); diff != "" {
			t.Errorf("container of the %s (-want +got):\n%s", name, diff)
		}
	}
}

// TestPropertiesOfUsersComeBeforeThoseOfTheChart, and what XML has for itself is escaped.
func TestPropertiesOfUsersComeBeforeThoseOfTheChart(t *testing.T) {
	config := into[corev1.ConfigMap](t, yarnObjects(t, map[string]any{"config": map[string]any{
		"coreSite": map[string]any{"fs.defaultFS": "hdfs://name-node:8020", "odd": "<&>"}, "yarnSite": map[string]any{"yarn.nodemanager.vmem-check-enabled": true},
	}}), "ConfigMap", "yarn").Data
	for file, want := range map[string]string{
		"core-site.xml": "<name>fs.defaultFS</name><value>hdfs://name-node:8020</value>",
		"yarn-site.xml": "<name>yarn.nodemanager.vmem-check-enabled</name><value>true</value>",
	} {
		if !strings.Contains(config[file], want) {
			t.Errorf("%s is\n%s\nwant %s", file, config[file], want)
		}
	}
	if strings.Contains(config["yarn-site.xml"], "vmem-check-enabled</name><value>false") || !strings.Contains(config["core-site.xml"], "&lt;&amp;&gt;") {
		t.Errorf("a property is there twice, or is not escaped: %v", config)
	}
}

func TestTheChartOfYARNRefusesWhatCannotWork(t *testing.T) {
	const image = "example.com/hadoop"
	for name, test := range map[string]struct {
		values map[string]any
		want   string
	}{
		"no image":           {map[string]any{}, "image is required"},
		"requests of memory": {map[string]any{"image": image, "nodeManager": map[string]any{"resources": map[string]any{"requests": map[string]any{"memory": "1Gi"}}}}, "nodeManager.resources.requests.memory: a NodeManager must be a best-effort pod, request kubernetes.io/batch-memory instead"},
		"limits of CPU":      {map[string]any{"image": image, "nodeManager": map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": "1"}}}}, "nodeManager.resources.limits.cpu"},
		"a heap of nothing":  {map[string]any{"image": image, "nodeManager": map[string]any{"heap": "0m"}}, "heap"},
		"root":               {map[string]any{"image": image, "user": 0}, "user"},
		"an unknown key":     {map[string]any{"image": image, "nodeManagers": map[string]any{}}, "nodeManagers"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := renderYARN(t, test.values); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("rendering = %v, want an error with %q", err, test.want)
			}
		})
	}
}

// TestTheNotesOfYARNAreValuesOfKoordinator: with them, koord-bridge calls the ResourceManager, and koordlet knows of the containers.
func TestTheNotesOfYARNAreValuesOfKoordinator(t *testing.T) {
	_, notes, err := renderYARN(t, map[string]any{
		"image": "example.com/hadoop", "nodeManager": map[string]any{"nodeSelector": map[string]any{"yarn": "true"}, "vcoresPerCore": 4},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(notes, "has these values:\n")
	text, _, _ = strings.Cut(text, "\nThen:")
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		t.Fatalf("the notes have no values: %v\n%s", err, notes)
	}
	objects := objectsOf(t, renderForTest(t, values))
	directory := t.TempDir()
	for file, content := range into[corev1.ConfigMap](t, objects, "ConfigMap", "yarn-config").Data {
		if err := os.WriteFile(filepath.Join(directory, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	clusters, err := yarn.LoadClusters(directory)
	if err != nil {
		t.Fatal(err)
	}
	want := []yarn.Cluster{{Name: yarn.DefaultCluster, MilliCPUPerVCore: 250, ResourceManagers: []yarn.Addresses{{
		Client: "yarn-resource-manager.hadoop.svc:8032", Admin: "yarn-resource-manager.hadoop.svc:8033",
	}}}}
	if diff := cmp.Diff(want, clusters); diff != "" {
		t.Errorf("clusters of koord-bridge (-want +got):\n%s", diff)
	}
	spec, args := argumentsOf(t, values, "koord-yarn-agent")
	if spec["nodeSelector"].(map[string]any)["yarn"] != "true" || !slices.Contains(args, "--node-manager-endpoint=localhost:8042") || !slices.Contains(args, "--vcores-per-core=4") {
		t.Errorf("koord-yarn-agent has node selector %v and flags %q", spec["nodeSelector"], args)
	}
}
