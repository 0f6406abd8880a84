package extension

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/go-cmp/cmp"
)

// codec reads an annotation, and writes what it read.
type codec struct {
	key     string
	rewrite func(in map[string]string, out metav1.Object) error
}

func codecOf[T any](key string, get func(map[string]string) (T, error), set func(metav1.Object, T) error) codec {
	return codec{key: key, rewrite: func(in map[string]string, out metav1.Object) error {
		value, err := get(in)
		if err != nil {
			return err
		}
		if set == nil && in[key] == "" {
			return nil
		}
		if set == nil {
			return EncodeAnnotation(out, key, &value)
		}
		return set(out, value)
	}}
}

func codecs() []codec {
	all := []codec{
		codecOf(AnnotationResourceSpec, GetResourceSpec, SetResourceSpec),
		codecOf(AnnotationResourceStatus, GetResourceStatus, SetResourceStatus),
		codecOf(AnnotationNUMATopologySpec, GetNUMATopologySpec, SetNUMATopologySpec),
		codecOf(AnnotationExtendedResourceSpec, GetExtendedResourceSpec, SetExtendedResourceSpec),
		codecOf(AnnotationSchedulingHint, GetSchedulingHint, SetSchedulingHint),
		codecOf(AnnotationSoftEviction, GetSoftEvictionSpec, SetSoftEvictionSpec),
		codecOf(AnnotationArbitrationWait, GetArbitrationWait, SetArbitrationWait),
		codecOf(AnnotationNetworkQOS, GetNetworkQOS, SetNetworkQOS),
		codecOf(AnnotationResctrl, GetResctrl, SetResctrl),
		codecOf(AnnotationEstimatedScalingFactors, GetEstimatedScalingFactors, nil),
		codecOf(AnnotationGangGroups, GetGangGroups, SetGangGroups),
		codecOf(AnnotationGangNetworkTopologySpec, GetNetworkTopologySpec, SetNetworkTopologySpec),
		codecOf(AnnotationNodeReservation, GetNodeReservation, SetNodeReservation),
		codecOf(AnnotationNodeResourceAmplificationRatio, GetNodeAmplificationRatios, SetNodeAmplificationRatios),
		codecOf(AnnotationNodeRawAllocatable, GetNodeRawAllocatable, SetNodeRawAllocatable),
		codecOf(AnnotationNodeThirdPartyAllocations, GetThirdPartyAllocations, SetThirdPartyAllocations),
		codecOf(AnnotationNodeOriginExtendedAllocatable, GetOriginExtendedAllocatable, SetOriginExtendedAllocatable),
		codecOf(AnnotationCustomUsageThresholds, GetCustomUsageThresholds, SetCustomUsageThresholds),
		codecOf(AnnotationCPUBasicInfo, GetCPUBasicInfo, SetCPUBasicInfo),
		codecOf(AnnotationSystemQOSResource, GetSystemQOSResource, SetSystemQOSResource),
		codecOf(AnnotationNodeCPUTopology, GetCPUTopology, SetCPUTopology),
		codecOf(AnnotationNodePodCPUAllocs, GetPodCPUAllocs, nil),
		codecOf(AnnotationNodeCPUSharedPools, GetCPUSharedPools, nil),
		codecOf(AnnotationNodeBECPUSharedPools, GetBECPUSharedPools, nil),
		codecOf(AnnotationKubeletCPUManagerPolicy, GetKubeletCPUManagerPolicy, nil),
		codecOf(AnnotationAgentServing, GetAgentServing, SetAgentServing),
		codecOf(AnnotationReservationAllocated, GetReservationAllocated, SetReservationAllocated),
		codecOf(AnnotationReservationAffinity, GetReservationAffinity, SetReservationAffinity),
		codecOf(AnnotationExactMatchReservation, GetExactMatchReservation, SetExactMatchReservation),
		codecOf(AnnotationReservationRestrictedOptions, GetReservationRestrictedOptions, SetReservationRestrictedOptions),
		codecOf(AnnotationReservationOwners, GetReservationOwners, nil),
		codecOf(AnnotationReservationCurrentOwner, GetReservationCurrentOwner, nil),
		codecOf(AnnotationDeviceAllocated, GetDeviceAllocations, SetDeviceAllocations),
		codecOf(AnnotationDeviceAllocateHint, GetDeviceAllocateHints, SetDeviceAllocateHints),
		codecOf(AnnotationDeviceJointAllocate, GetDeviceJointAllocate, SetDeviceJointAllocate),
		codecOf(AnnotationGPUPartitionSpec, GetGPUPartitionSpec, SetGPUPartitionSpec),
		codecOf(AnnotationGPUPartitions, GetGPUPartitionTable, SetGPUPartitionTable),
		codecOf(AnnotationLoweredCPULimits, GetLoweredCPULimits, SetLoweredCPULimits),
		codecOf(AnnotationJobPrediction, GetJobPrediction, SetJobPrediction),
		codecOf(AnnotationQuotaNamespaces, GetQuotaNamespaces, nil),
		codecOf(AnnotationQuotaResourceKeys, GetQuotaResourceKeys, nil),
		codecOf(AnnotationQuotaMaxStrictCheckResourceKeys, GetQuotaMaxStrictCheckResourceKeys, nil),
		codecOf(AnnotationPodReplaceResources, GetPodReplaceResources, func(obj metav1.Object, r []ResourceReplacement) error {
			SetPodReplaceResources(obj, r)
			return nil
		}),
	}
	for _, key := range []string{
		AnnotationQuotaSharedWeight, AnnotationQuotaRuntime, AnnotationQuotaRequest, AnnotationQuotaChildRequest,
		AnnotationQuotaTotalResource, AnnotationQuotaUnschedulableResource, AnnotationQuotaGuaranteed,
		AnnotationQuotaAllocated, AnnotationQuotaNonPreemptibleRequest, AnnotationQuotaNonPreemptibleUsed, AnnotationQuotaAdmission,
	} {
		all = append(all, codecOf(key,
			func(a map[string]string) (corev1.ResourceList, error) { return GetQuotaResources(a, key) },
			func(obj metav1.Object, r corev1.ResourceList) error { return SetQuotaResources(obj, key, r) }))
	}
	return all
}

// samples are payloads as they occur, one per codec where the shape matters.
var samples = map[string]string{
	AnnotationResourceSpec:                   `{"requiredCPUBindPolicy":"FullPCPUs","preferredCPUBindPolicy":"SpreadByPCPUs","preferredCPUExclusivePolicy":"PCPULevel"}`,
	AnnotationResourceStatus:                 `{"cpuset":"0-3","numaNodeResources":[{"node":0,"resources":{"cpu":"4"}}]}`,
	AnnotationNUMATopologySpec:               `{"numaTopologyPolicy":"SingleNUMANode","singleNUMANodeExclusive":"Required"}`,
	AnnotationExtendedResourceSpec:           `{"containers":{"main":{"limits":{"kubernetes.io/batch-cpu":"1k"},"requests":{"kubernetes.io/batch-cpu":"500"}}}}`,
	AnnotationSchedulingHint:                 `{"nodeNames":["a"],"preferredNodeNames":["b"],"extensions":{"x":{"y":1}}}`,
	AnnotationSoftEviction:                   `{"timestamp":"2026-01-02T03:04:05Z","deleteOptions":{"gracePeriodSeconds":5},"initiator":"me","reason":"hot"}`,
	AnnotationNetworkQOS:                     `{"ingressLimit":"10M","egressLimit":"20M"}`,
	AnnotationResctrl:                        `{"llc":{"schemata":{"range":[0,30]},"schemataPerCache":[{"cacheID":1,"range":[0,50]}]},"mb":{"schemata":{"percent":20}}}`,
	AnnotationEstimatedScalingFactors:        `{"cpu":100,"memory":50}`,
	AnnotationGangGroups:                     `["ml/a","ml/b"]`,
	AnnotationGangNetworkTopologySpec:        `{"gatherStrategy":[{"layer":"spine","strategy":"MustGather","podCountMultiple":4}]}`,
	AnnotationNodeReservation:                `{"resources":{"cpu":"2"},"reservedCPUs":"0-1","applyPolicy":"ReservedCPUsOnly"}`,
	AnnotationNodeResourceAmplificationRatio: `{"cpu":1.50,"memory":2.00}`,
	AnnotationNodeRawAllocatable:             `{"cpu":"32"}`,
	AnnotationNodeThirdPartyAllocations:      `{"allocations":[{"name":"yarn","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"2k"}}]}`,
	AnnotationNodeOriginExtendedAllocatable:  `{"resources":{"kubernetes.io/batch-cpu":"9k"}}`,
	AnnotationArbitrationWait:                `{"gate":"ObjectLimiterWorkload","message":"1 pod was evicted, at most 1 may","until":"2026-03-04T05:06:07Z"}`,
	AnnotationCustomUsageThresholds:          `{"usageThresholds":{"cpu":60},"prodUsageThresholds":{"cpu":50},"aggregatedUsage":{"usageThresholds":{"cpu":70},"usageAggregationType":"p95","usageAggregatedDuration":"5m0s"}}`,
	AnnotationCPUBasicInfo:                   `{"cpuModel":"Xeon","hyperThreadEnabled":true,"turboEnabled":true,"catL3CbmMask":"fff","vendorID":"GenuineIntel"}`,
	AnnotationSystemQOSResource:              `{"cpuset":"0-1","cpusetExclusive":false}`,
	AnnotationNodeCPUTopology:                `{"detail":[{"id":0,"core":0,"socket":0,"node":0}]}`,
	AnnotationNodePodCPUAllocs:               `[{"namespace":"a","name":"b","uid":"c","cpuset":"1","managedByKubelet":true}]`,
	AnnotationNodeCPUSharedPools:             `[{"socket":0,"node":0,"cpuset":"0-7"}]`,
	AnnotationAgentServing:                   `{"port":9316,"certificateSHA256":"00ff"}`,
	AnnotationKubeletCPUManagerPolicy:        `{"policy":"static","options":{"full-pcpus-only":"true"},"reservedCPUs":"0"}`,
	AnnotationReservationAllocated:           `{"name":"r","uid":"u"}`,
	AnnotationReservationAffinity:            `{"name":"r","requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]},"reservationSelector":{"a":"b"},"tolerations":[{"key":"k"}]}`,
	AnnotationExactMatchReservation:          `{"resourceNames":["cpu"]}`,
	AnnotationReservationRestrictedOptions:   `{"resources":["cpu"]}`,
	AnnotationReservationOwners:              `[{"labelSelector":{"matchLabels":{"a":"b"}}}]`,
	AnnotationReservationCurrentOwner:        `{"namespace":"a","name":"b"}`,
	AnnotationDeviceAllocated:                `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100"},"id":"GPU-1","extension":{"vfs":[{"minor":1,"busID":"0000:09:00.1"}],"gpuSharedResourceTemplate":"half"}}]}`,
	AnnotationDeviceAllocateHint:             `{"rdma":{"selector":{},"vfSelector":{"matchLabels":{"type":"fast"}},"allocateStrategy":"ApplyForAll","requiredTopologyScope":"PCIe","exclusivePolicy":"DeviceLevel"}}`,
	AnnotationDeviceJointAllocate:            `{"deviceTypes":["gpu","rdma"],"requiredScope":"SamePCIe"}`,
	AnnotationGPUPartitionSpec:               `{"allocatePolicy":"Restricted","ringBusBandwidth":"200Gi"}`,
	AnnotationGPUPartitions:                  `{"2":[{"minors":[0,1],"gpuLinkType":"NVLink","ringBusBandwidth":"200Gi","allocationScore":1}]}`,
	AnnotationLoweredCPULimits:               `{"time":"2026-01-02T03:04:05Z","usage":"3400m","containers":{"main":{"before":"4","after":"1500m"}}}`,
	AnnotationJobPrediction:                  `{"duration":{"likelySeconds":1260,"leastSeconds":960,"mostSeconds":1740,"runs":19}}`,
	AnnotationQuotaNamespaces:                `["a","b"]`,
	AnnotationQuotaResourceKeys:              `["cpu"]`,
	AnnotationPodReplaceResources:            `a:b,c:`,
	AnnotationQuotaSharedWeight:              `{"cpu":"40","memory":"80Gi"}`,
}

func TestAnnotationsSurviveDecodingAndEncoding(t *testing.T) {
	byKey := map[string]codec{}
	for _, c := range codecs() {
		byKey[c.key] = c
	}
	for key, value := range samples {
		pod := &corev1.Pod{}
		if err := byKey[key].rewrite(map[string]string{key: value}, pod); err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		if diff := cmp.Diff(value, pod.Annotations[key]); diff != "" {
			t.Errorf("%s changed (-want,+got):\n%s", key, diff)
		}
	}
}

// FuzzAnnotations feeds one value to every decoder: none may panic, and what one accepts it must be able to write and
// read again to the same value.
func FuzzAnnotations(f *testing.F) {
	for _, sample := range samples {
		f.Add(sample)
	}
	for _, seed := range []string{"", "null", "[]", "{}", `{"cpu":"1e-99999999"}`, `{"cpu":1e9999}`, `{"reservedCPUs":"0-999999999"}`, `[null]`, `{"gpu":[null]}`, "\xff\xfe", `{"é":"ü"}`, `{"cpu":-1}`} {
		f.Add(seed)
	}
	all := codecs()
	f.Fuzz(func(t *testing.T, value string) {
		for _, c := range all {
			once, twice := &corev1.Pod{}, &corev1.Pod{}
			if err := c.rewrite(map[string]string{c.key: value}, once); err != nil {
				continue
			}
			if err := c.rewrite(once.Annotations, twice); err != nil {
				t.Fatalf("%s: cannot read %q, written for %q: %v", c.key, once.Annotations[c.key], value, err)
			}
			if once.Annotations[c.key] != twice.Annotations[c.key] {
				t.Fatalf("%s: %q became %q", c.key, once.Annotations[c.key], twice.Annotations[c.key])
			}
		}
		fuzzScalars(value)
	})
}

// fuzzScalars calls the parsers of single values, which must not panic.
func fuzzScalars(value string) {
	keys := []string{
		AnnotationEvictionCost, AnnotationPodEvictionPriority, AnnotationPodEvictPolicy, AnnotationOOMScoreAdj,
		AnnotationOOMScoreAdjSpec, AnnotationGangMinAvailable, AnnotationGangTotalNumber, AnnotationGangWaitingTime,
		AnnotationGangNetworkTopologyIndex, AnnotationCPUNormalizationRatio, LabelCPUReclaimRatio, LabelPodPriority,
		LabelReservationOrder, LabelCPUNormalizationEnabled, AnnotationEstimatedSecondsAfterPodScheduled,
	}
	all := map[string]string{}
	for _, key := range keys {
		all[key] = value
	}
	_, _ = EvictionCost(all)
	_, _ = EvictionPriority(all)
	_, _ = IsEvictionAllowed(all, "BECPUEvict")
	_, _ = OOMScoreAdj(all, value)
	_, _ = GangMinAvailable(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: all}})
	_, _ = GangTotalNumber(all)
	_, _ = GangWaitingTime(all)
	_, _ = GangNetworkTopologyIndex(all)
	_, _ = CPUNormalizationRatio(all)
	_, _ = NodeRatioPercent(all, LabelCPUReclaimRatio)
	_, _ = PodSubPriority(all)
	_, _ = ReservationOrder(all)
	_, _ = IsCPUNormalizationEnabled(all)
	_, _ = EstimatedAfterPodScheduled(all)
}
