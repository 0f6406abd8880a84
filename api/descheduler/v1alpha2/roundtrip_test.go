package v1alpha2

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// everyField is a configuration that sets every field.
const everyField = `
apiVersion: descheduler/v1alpha2
kind: DeschedulerConfiguration
leaderElection:
  leaderElect: true
  leaseDuration: 15s
  renewDeadline: 10s
  retryPeriod: 2s
  resourceLock: leases
  resourceName: koord-descheduler
  resourceNamespace: koordinator-system
clientConnection:
  kubeconfig: /etc/kubeconfig
  acceptContentTypes: application/json
  contentType: application/vnd.kubernetes.protobuf
  qps: 50
  burst: 100
enableProfiling: true
enableContentionProfiling: false
healthzBindAddress: 0.0.0.0:10251
metricsBindAddress: 0.0.0.0:10251
deschedulingInterval: 2m0s
dryRun: true
nodeSelector: {matchLabels: {pool: shared}}
maxNoOfPodsToEvictPerNode: 2
maxNoOfPodsToEvictPerNamespace: 5
maxNoOfPodsToEvictTotal: 20
profiles:
- name: koord-descheduler
  nodeSelector: {matchExpressions: [{key: arch, operator: In, values: [amd64]}]}
  plugins:
    deschedule: {enabled: [{name: RemoveFailedPods}], disabled: [{name: "*"}]}
    balance: {enabled: [{name: LowNodeLoad}]}
    evict: {enabled: [{name: MigrationController}], disabled: [{name: "*"}]}
    filter: {enabled: [{name: MigrationController}], disabled: [{name: "*"}]}
  pluginConfig:
  - name: LowNodeLoad
    args:
      apiVersion: descheduler/v1alpha2
      kind: LowNodeLoadArgs
      lowThresholds: {cpu: 45, memory: 55}
`

func TestConfigurationSurvivesDecodingAndEncoding(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	object, err := scheme.New(GroupVersion.WithKind(Kind))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(everyField), object); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(object.DeepCopyObject())
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := yaml.Unmarshal([]byte(everyField), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(encoded, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the configuration changed (-want +got):\n%s", diff)
	}
}
