package migrationcontroller_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/descheduler/configuration"
	"koordinator.sh/koord/descheduler/framework"
	"koordinator.sh/koord/descheduler/plugins"
)

// BenchmarkPass makes passes over 5,000 nodes with 30 pods each, by plugins that look at all pods and find nothing to do.
func BenchmarkPass(b *testing.B) {
	const nodes, podsOfEach = 5000, 30
	objects := make([]runtime.Object, 0, nodes*(podsOfEach+1))
	for n := range nodes {
		name := fmt.Sprintf("node-%04d", n)
		objects = append(objects, node(name, "128"))
		for i := range podsOfEach {
			objects = append(objects, pod(fmt.Sprintf("pod-%d-%d", n, i), func(p *corev1.Pod) {
				p.Spec.NodeName, p.UID = name, types.UID(fmt.Sprintf("%d-%d", n, i))
				p.OwnerReferences[0].UID, p.CreationTimestamp = p.UID, metav1.Now()
			}))
		}
	}
	config, err := configuration.Read([]byte(`
apiVersion: descheduler/v1alpha2
kind: DeschedulerConfiguration
profiles:
- plugins:
    deschedule: {enabled: [{name: PodLifeTime}, {name: RemoveFailedPods}, {name: RemovePodsViolatingNodeTaints}]}
    balance: {enabled: [{name: RemoveDuplicates}, {name: LowNodeUtilization}]}
  pluginConfig:
  - {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 86400}}
  - {name: LowNodeUtilization, args: {thresholds: {cpu: 20}, targetThresholds: {cpu: 80}}}
`), plugins.Registry(plugins.Sources{}))
	if err != nil {
		b.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := schedulingv1alpha1.AddToScheme(scheme); err != nil {
		b.Fatal(err)
	}
	d, err := framework.New(b.Context(), framework.Config{
		Client: kubefake.NewSimpleClientset(objects...), Jobs: fake.NewClientBuilder().WithScheme(scheme).Build(), Registry: plugins.Registry(plugins.Sources{}), Configuration: config,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		pass, err := d.RunOnce(b.Context())
		if err != nil || len(pass.Plugins) != 5 || pass.Plugins[0].Considered != nodes*podsOfEach {
			b.Fatalf("error %v, pass %+v", err, pass)
		}
	}
}
