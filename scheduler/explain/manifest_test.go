package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/extension"
)

// TestAManifestIsWhatAPersonWouldWrite of a pod as the API server stores it.
func TestAManifestIsWhatAPersonWouldWrite(t *testing.T) {
	stored := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(`
metadata:
  name: web
  namespace: shop
  uid: 1-2-3
  labels: {app: web}
  annotations: {`+extension.AnnotationResourceStatus+`: '{"cpuset":"0-1"}', `+extension.AnnotationExtendedResourceSpec+`: '{}', team: a}
spec:
  containers:
  - name: main
    image: web
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    volumeMounts:
    - {name: kube-api-access-pf5z6, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
    - {name: data, mountPath: /data}
  dnsPolicy: ClusterFirst
  enableServiceLinks: true
  preemptionPolicy: PreemptLowerPriority
  priority: 9500
  priorityClassName: koord-prod
  restartPolicy: Always
  schedulerName: koord-scheduler
  securityContext: {}
  serviceAccount: default
  serviceAccountName: default
  terminationGracePeriodSeconds: 30
  tolerations:
  - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
  - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 60}
  volumes:
  - {name: kube-api-access-pf5z6, projected: {sources: []}}
  - {name: data, emptyDir: {}}
status: {phase: Pending}
`), stored); err != nil {
		t.Fatal(err)
	}
	got, err := yaml.Marshal(manifest(stored))
	if err != nil {
		t.Fatal(err)
	}
	const want = `apiVersion: v1
kind: Pod
metadata:
  annotations:
    team: a
  labels:
    app: web
  name: web
  namespace: shop
spec:
  containers:
  - image: web
    name: main
    resources: {}
    volumeMounts:
    - mountPath: /data
      name: data
  priorityClassName: koord-prod
  schedulerName: koord-scheduler
  tolerations:
  - effect: NoExecute
    key: node.kubernetes.io/unreachable
    operator: Exists
    tolerationSeconds: 60
  volumes:
  - emptyDir: {}
    name: data
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}
