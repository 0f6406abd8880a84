package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// numbersNode is a node whose kubelet keeps nothing, unless a case says otherwise.
const numbersNode = `
apiVersion: v1
kind: Node
metadata:
  name: NODE
  labels: {numbers: STRATEGY}
  annotations: ANNOTATIONS
spec:
  taints: [{key: integration.koordinator.sh/pool, value: numbers, effect: NoSchedule}]
status:
  capacity: {cpu: "100", memory: MEMORY, pods: "110"}
  allocatable: ALLOCATABLE
`

// numbersPod is a pod of a node. CLASS has its labels, PRIORITY its class of priority, and REQUESTS what it requests and is
// limited to.
const numbersPod = `---
apiVersion: v1
kind: Pod
metadata:
  namespace: numbers
  name: NODE-POD
  labels: CLASS
spec:
  nodeName: NODE
  priorityClassName: PRIORITY
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  tolerations: [{operator: Exists}]
  containers:
  - name: main
    image: sandbox.invalid/main
    resources: {requests: REQUESTS, limits: REQUESTS}
status:
  phase: PHASE
`

const numbersMetric = `---
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeMetric
metadata:
  name: NODE
spec: {}
status:
  updateTime: NOW
  nodeMetric: {nodeUsage: {resources: USED}, systemUsage: {resources: SYSTEM}}
  prodReclaimableMetric: {resource: {resources: RECLAIMABLE}}
  podsMetric: [MEASURED]
`

// measuredPod is one of podsMetric.
const measuredPod = `{namespace: numbers, name: NODE-POD, priority: BAND, podUsage: {resources: USED}}, `

// replaced is a text with words replaced, in pairs.
func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

// numbersPodOf is the manifest of a pod. A class of priority stands for what pods of it look like: those of batch and mid
// request batch and mid resources.
func numbersPodOf(name, qos, priority, cpu, memory, phase string) string {
	class, requests := "{}", fmt.Sprintf("{cpu: %q, memory: %s}", cpu, memory)
	if qos != "" {
		class = fmt.Sprintf("{koordinator.sh/qosClass: %s}", qos)
	}
	if band, extended := strings.CutPrefix(priority, "koord-"); extended && band != "prod" {
		requests = fmt.Sprintf("{kubernetes.io/%[1]s-cpu: %[2]s000, kubernetes.io/%[1]s-memory: %[3]s}", band, cpu, memory)
	}
	return replaced(numbersPod, "POD", name, "CLASS", class, "PRIORITY", priority, "REQUESTS", requests, "PHASE", phase)
}

func numbersMeasured(name, band, cpu, memory string) string {
	return replaced(measuredPod, "POD", name, "BAND", band, "USED", fmt.Sprintf("{cpu: %q, memory: %s}", cpu, memory))
}

// numbersLoad is the pods of a node and what is measured of it.
type numbersLoad struct{ pods, used, system, reclaimable, measured string }

// servicesAndBatch is the load most cases are about: a service requests 20 CPUs and 20 GB and uses 11 of each; a batch pod uses 10
// of each; a pod that is about to start requests 20 CPUs and 40 GB and uses 22 of each; another has ended; the system uses 7 CPUs
// and 12 GB.
var servicesAndBatch = numbersLoad{
	pods: numbersPodOf("a", "LS", "", "20", "20G", "Running") + numbersPodOf("b", "BE", "koord-batch", "10", "10G", "Running") +
		numbersPodOf("c", "", "", "20", "40G", "Pending") + numbersPodOf("d", "BE", "koord-batch", "10", "10G", "Succeeded"),
	used: "{cpu: 50, memory: 55G}", system: "{cpu: 7, memory: 12G}", reclaimable: "{}",
	measured: numbersMeasured("a", "koord-prod", "11", "11G") + numbersMeasured("b", "koord-batch", "10", "10G") +
		numbersMeasured("c", "koord-prod", "22", "22G"),
}

// exclusive is a pod that owns its CPUs beside pods of every other class.
var exclusive = numbersLoad{
	pods: numbersPodOf("prod", "LSE", "koord-prod", "10", "10G", "Running") + numbersPodOf("prod1", "", "koord-prod", "10", "10G", "Running") +
		numbersPodOf("batch", "BE", "koord-batch", "10", "10G", "Running") + numbersPodOf("mid", "BE", "koord-mid", "20", "40G", "Pending") +
		numbersPodOf("prod2", "", "koord-prod", "10", "10G", "Succeeded"),
	used: "{cpu: 50, memory: 55G}", system: "{cpu: 7, memory: 12G}", reclaimable: "{}",
	measured: numbersMeasured("prod", "koord-prod", "5", "5G") + numbersMeasured("prod1", "koord-prod", "6", "6G") +
		numbersMeasured("batch", "koord-batch", "10", "10G") + numbersMeasured("mid", "koord-mid", "22", "22G"),
}

// reclaimable is a node without pods of which 80 CPUs and 165 GB are unused.
var reclaimable = numbersLoad{
	used: "{cpu: 20, memory: 45G}", system: "{cpu: 7, memory: 12G}", reclaimable: "{cpu: 10, memory: 15G}",
}

// numbersStrategies are the node strategies that the cases name.
func numbersStrategies() []map[string]any {
	strategy := func(name string, cpu, memory int, more map[string]any) map[string]any {
		out := map[string]any{
			"name": "numbers-" + name, "nodeSelector": map[string]any{"matchLabels": map[string]any{"numbers": name}}, "enable": true,
			"cpuReclaimThresholdPercent": cpu, "memoryReclaimThresholdPercent": memory,
		}
		for key, value := range more {
			out[key] = value
		}
		return out
	}
	const larger = "maxUsageRequest"
	return []map[string]any{
		strategy("usage", 65, 65, nil),
		strategy("request", 70, 80, map[string]any{"memoryCalculatePolicy": "request"}),
		strategy("larger", 65, 65, map[string]any{"cpuCalculatePolicy": larger, "memoryCalculatePolicy": larger}),
		strategy("capped", 200, 65, map[string]any{"batchCPUThresholdPercent": 100}),
		strategy("static", 65, 65, map[string]any{"midReclaimMode": "static", "midStaticCPUReservedPercent": 10, "midStaticMemoryReservedPercent": 10}),
	}
}

// TestNodesOfferTheseNumbers applies nodes, pods and measurements, and reads back what the nodes offer. The numbers are
// literal: nothing of the system computes them here.
func TestNodesOfferTheseNumbers(t *testing.T) {
	awaitAdmission(t)
	space(t, "numbers")
	colocate(t, numbersStrategies()...)
	const batchCPU, batchMemory, midCPU, midMemory = extension.BatchCPU, extension.BatchMemory, extension.MidCPU, extension.MidMemory
	kept := func(resources string) string {
		return fmt.Sprintf(`{node.koordinator.sh/reservation: '{"resources":%s}'}`, resources)
	}
	tests := map[string]struct {
		strategy    string
		load        numbersLoad
		memory      string
		annotations string
		allocatable string
		want        map[corev1.ResourceName]string
	}{
		"by usage: 100-35-7-11-22 CPUs and 120-42-12-11-22 GB": {
			strategy: "usage", load: servicesAndBatch, want: map[corev1.ResourceName]string{batchCPU: "25000", batchMemory: "33G"}},
		"20 CPUs are kept, more than the system uses: 100-35-20-33": {
			strategy: "usage", load: servicesAndBatch, annotations: kept(`{"cpu":"20"}`),
			want: map[corev1.ResourceName]string{batchCPU: "12000", batchMemory: "33G"}},
		"10 CPUs and 20 GB are kept by annotation: 100-35-10-33 and 120-42-20-33": {
			strategy: "usage", load: servicesAndBatch, annotations: kept(`{"cpu":"10","memory":"20G"}`),
			want: map[corev1.ResourceName]string{batchCPU: "22000", batchMemory: "25G"}},
		"10 CPUs and 20 GB are kept by the kubelet": {
			strategy: "usage", load: servicesAndBatch, allocatable: `{cpu: "90", memory: 100G, pods: "110"}`,
			want: map[corev1.ResourceName]string{batchCPU: "22000", batchMemory: "25G"}},
		"memory by request: 120-24-60 GB, CPU by usage: 100-30-7-33": {
			strategy: "request", load: servicesAndBatch, want: map[corev1.ResourceName]string{batchCPU: "30000", batchMemory: "36G"}},
		"memory by request, 5 GB kept": {
			strategy: "request", load: servicesAndBatch, annotations: kept(`{"memory":"5G"}`),
			want: map[corev1.ResourceName]string{batchCPU: "30000", batchMemory: "31G"}},
		"memory by request, 10 GB kept": {
			strategy: "request", load: servicesAndBatch, annotations: kept(`{"memory":"10G"}`),
			want: map[corev1.ResourceName]string{batchCPU: "30000", batchMemory: "26G"}},
		"memory by request, 20 GB kept": {
			strategy: "request", load: servicesAndBatch, annotations: kept(`{"memory":"20G"}`),
			want: map[corev1.ResourceName]string{batchCPU: "30000", batchMemory: "16G"}},
		"by the larger of both, pod by pod: 100-35-7-20-22 and 120-42-12-20-40": {
			strategy: "larger", load: servicesAndBatch, want: map[corev1.ResourceName]string{batchCPU: "16000", batchMemory: "6G"}},
		"no more than the whole node": {
			strategy: "capped", load: servicesAndBatch, want: map[corev1.ResourceName]string{batchCPU: "100000", batchMemory: "33G"}},
		"a pod keeps the CPUs that it owns: 100-35-7-10-6-22": {
			strategy: "usage", load: exclusive, want: map[corev1.ResourceName]string{batchCPU: "20000", batchMemory: "33G"}},
		"mid: what is predicted reclaimable": {
			strategy: "usage", load: reclaimable, memory: "210G", want: map[corev1.ResourceName]string{midCPU: "10000", midMemory: "15G"}},
		"mid: ten percent of the node": {
			strategy: "static", load: reclaimable, memory: "210G", want: map[corev1.ResourceName]string{midCPU: "10000", midMemory: "21G"}},
	}
	number := 0
	for name, test := range tests {
		number++
		node := fmt.Sprintf("numbers-%02d", number)
		t.Run(name, func(t *testing.T) {
			memory, annotations, allocatable := test.memory, test.annotations, test.allocatable
			if memory == "" {
				memory = "120G"
			}
			if annotations == "" {
				annotations = "{}"
			}
			if allocatable == "" {
				allocatable = fmt.Sprintf(`{cpu: "100", memory: %s, pods: "110"}`, memory)
			}
			metric := replaced(numbersMetric, "USED", test.load.used, "SYSTEM", test.load.system, "RECLAIMABLE", test.load.reclaimable,
				"MEASURED", test.load.measured)
			if test.load.reclaimable == "{}" {
				metric = replaced(metric, "  prodReclaimableMetric: {resource: {resources: {}}}\n", "")
			}
			manifest := replaced(numbersNode, "STRATEGY", test.strategy, "ANNOTATIONS", annotations, "ALLOCATABLE", allocatable, "MEMORY", memory)
			apply(t, strings.TrimPrefix(replaced(manifest+test.load.pods+metric, "NODE", node,
				"NOW", fmt.Sprintf("%q", time.Now().Format(time.RFC3339))), "\n"))
			awaitNode(t, node, func(node *corev1.Node) error {
				var errs []error
				for resource, want := range test.want {
					errs = append(errs, offers(node, resource, want))
				}
				return errors.Join(errs...)
			})
		})
	}
}

// numbersTree is a separate tree of quotas, with all that there is to share.
const numbersTree = `
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata:
  namespace: NAMESPACE
  name: NAMESPACE
  labels:
    quota.scheduling.koordinator.sh/is-root: "true"
    quota.scheduling.koordinator.sh/is-parent: "true"
    quota.scheduling.koordinator.sh/tree-id: NAMESPACE
  annotations:
    quota.scheduling.koordinator.sh/total-resource: 'TOTAL'
spec:
  min: TOTAL
  max: TOTAL
`

const numbersQuota = `---
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata:
  namespace: NAMESPACE
  name: NAMESPACE-QUOTA
  labels:
    quota.scheduling.koordinator.sh/parent: NAMESPACE
    quota.scheduling.koordinator.sh/is-parent: "false"
  annotations:
    quota.scheduling.koordinator.sh/shared-weight: 'WEIGHT'
spec:
  min: MIN
  max: MAX
`

// numbersRequest is a pod that no node takes.
const numbersRequest = `---
apiVersion: v1
kind: Pod
metadata:
  namespace: NAMESPACE
  name: QUOTA
  labels:
    quota.scheduling.koordinator.sh/name: NAMESPACE-QUOTA
spec:
  schedulerName: koord-scheduler
  priorityClassName: koord-prod
  nodeSelector: {no: node}
  containers:
  - name: main
    image: sandbox.invalid/main
    resources: {requests: REQUEST, limits: REQUEST}
`

// sharing is one quota of a tree: what it is given, what its pods request, and what its status is to say.
type sharing struct{ name, weight, min, max, request, wantRuntime, wantRequest string }

// tokens is an amount of a resource that is counted in whole units, and of another that no pod requests: a list of
// weights that are all zero would count as none.
func tokens(amount, others int) string {
	return fmt.Sprintf(`{"integration.koordinator.sh/token":"%d","integration.koordinator.sh/other":"%d"}`, amount, others)
}

func sharingTokens(name string, weight, minimum, request, wantRuntime int) sharing {
	return sharing{name, tokens(weight, 1), tokens(minimum, 0), tokens(1000, 1), tokens(request, 0), tokens(wantRuntime, 0), tokens(request, 0)}
}

// TestQuotasShareTheseNumbers applies trees of quotas and pods that no node takes, and reads back what is written of the
// quotas. The numbers are literal: nothing of the system computes them here.
func TestQuotasShareTheseNumbers(t *testing.T) {
	awaitQuotaAdmission(t)
	devices := []sharing{sharingTokens("donor", 100, 81, 0, 0), sharingTokens("borrower-0", 1, 0, 81, 9)}
	for i := range 9 {
		devices = append(devices, sharingTokens(fmt.Sprintf("borrower-%d", i+1), 1, 0, 81, 8))
	}
	tests := []struct {
		name, total string
		quotas      []sharing
	}{
		{"what is left over goes by weight to those that ask for more than their min", tokens(100, 1), []sharing{
			sharingTokens("n1", 40, 10, 5, 5), sharingTokens("n2", 60, 15, 20, 20), sharingTokens("n3", 50, 20, 40, 35), sharingTokens("n4", 80, 15, 70, 40)}},
		{"without a weight there is nothing beyond min", tokens(100, 1), []sharing{
			sharingTokens("n1", 40, 10, 5, 5), sharingTokens("n2", 60, 15, 20, 20), sharingTokens("n3", 50, 20, 40, 40), sharingTokens("n4", 0, 15, 70, 15)}},
		{"single devices are shared out without losing one", tokens(81, 1), devices},
		{"nobody gets more than max", `{"cpu":"100","memory":"200G"}`, []sharing{{"n1", `{"cpu":"1","memory":"1"}`, `{"cpu":"0","memory":"0"}`,
			`{"cpu":"30","memory":"60G"}`, `{"cpu":"55","memory":"75G"}`, `{"cpu":"30","memory":"60G"}`, `{"cpu":"55","memory":"75G"}`}}},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			namespace := space(t, fmt.Sprintf("number-tree-%d", i))
			quotas, pods := replaced(numbersTree, "TOTAL", test.total), ""
			for _, quota := range test.quotas {
				quotas += replaced(numbersQuota, "QUOTA", quota.name, "WEIGHT", quota.weight, "MIN", quota.min, "MAX", quota.max)
				pods += replaced(numbersRequest, "QUOTA", quota.name, "REQUEST", quota.request)
			}
			apply(t, strings.TrimPrefix(replaced(quotas+pods, "NAMESPACE", namespace), "\n"))
			for _, quota := range test.quotas {
				sandboxtest.Eventually(t, patience, func() error {
					got := readQuota(t, namespace, namespace+"-"+quota.name)
					return errors.Join(sameList(got, extension.AnnotationQuotaRuntime, quota.wantRuntime),
						sameList(got, extension.AnnotationQuotaRequest, quota.wantRequest))
				})
			}
		})
	}
}

// sameList compares an annotation with a list of resources, however their amounts are written.
func sameList(quota *schedulingsigsv1alpha1.ElasticQuota, key, want string) error {
	var got, wanted corev1.ResourceList
	if err := errors.Join(json.Unmarshal([]byte(quota.Annotations[key]), &got), json.Unmarshal([]byte(want), &wanted)); err != nil {
		return fmt.Errorf("%s of quota %s is %q: %w", key, quota.Name, quota.Annotations[key], err)
	}
	if !equality.Semantic.DeepEqual(got, wanted) {
		return fmt.Errorf("%s of quota %s is %s, want %s", key, quota.Name, quota.Annotations[key], want)
	}
	return nil
}
