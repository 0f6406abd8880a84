package koordlet

import (
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// cpus of a resource map, rounded to tenths.
func cpus(of slov1alpha1.ResourceMap) float64 {
	quantity := of.ResourceList[corev1.ResourceCPU]
	return math.Round(quantity.AsApproximateFloat64()*10) / 10
}

func memory(of slov1alpha1.ResourceMap) int64 {
	quantity := of.ResourceList[corev1.ResourceMemory]
	return quantity.Value()
}

// metric as the cluster has it.
func (r *rig) metric() slov1alpha1.NodeMetricStatus {
	r.Helper()
	var out slov1alpha1.NodeMetric
	if found, err := r.server.Read("nodemetrics", nodeName, &out); err != nil || !found {
		r.Fatalf("no NodeMetric: %v", err)
	}
	return out.Status
}

func TestWhatIsMeasuredIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.ReadOnly = true })
		defer r.stop()
		for of, used := range map[string]float64{"service": 2, "batch": 3, "app": 1, "system": 0.5} {
			r.machine.use(types.UID(of), used)
		}
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.group.Go(func() { newReporting(r.options, r.clients, r.cluster, r.measurement, r.standing).run(r.ctx) })
		r.after(7 * time.Minute)
		got := r.metric()
		type summary struct {
			Node, System, App, P95 float64
			Memory, SystemMemory   int64
			Pods                   map[string]float64
			Aggregates             int
			NUMA                   [2]float64
			NUMASystem             [2]float64
		}
		want := summary{
			Node: 6.5, System: 0.5, App: 1, P95: 6.5, Memory: 4 << 30, SystemMemory: 1 << 30, Pods: map[string]float64{"service": 2, "batch": 3},
			// Seven minutes are not half of half an hour.
			Aggregates: 2, NUMA: [2]float64{3.3, 3.3}, NUMASystem: [2]float64{0.3, 0.3},
		}
		info := got.NodeMetric
		if info == nil || len(info.NUMAUsages) != 2 || len(got.HostApplicationMetric) != 1 || len(info.AggregatedNodeUsages) == 0 {
			t.Fatalf("status %+v", got)
		}
		seen := summary{
			Node: cpus(info.NodeUsage), System: cpus(info.SystemUsage), App: cpus(got.HostApplicationMetric[0].Usage),
			P95: cpus(info.AggregatedNodeUsages[0].Usage[extension.P95]), Memory: memory(info.NodeUsage), SystemMemory: memory(info.SystemUsage),
			Pods: map[string]float64{}, Aggregates: len(info.AggregatedNodeUsages),
		}
		for _, pod := range got.PodsMetric {
			seen.Pods[pod.Name] = cpus(pod.PodUsage)
		}
		for i, numa := range info.NUMAUsages {
			seen.NUMA[i], seen.NUMASystem[i] = cpus(numa.NodeUsage), cpus(numa.SystemUsage)
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("NodeMetric (-want +got):\n%s", diff)
		}
		// Nobody has seen the service for a day, but it has run for longer: what it does not use is reclaimable.
		if got.ProdReclaimableMetric == nil || cpus(got.ProdReclaimableMetric.Resource) <= 0 {
			t.Errorf("reclaimable %+v", got.ProdReclaimableMetric)
		}

		policy := slov1alpha1.UsageWithPageCache
		metric := slov1alpha1.NodeMetric{}
		if _, err := r.server.Read("nodemetrics", nodeName, &metric); err != nil {
			t.Fatal(err)
		}
		metric.Spec.CollectPolicy = &slov1alpha1.NodeMetricCollectPolicy{NodeMemoryCollectPolicy: &policy}
		r.put("nodemetrics", &metric)
		r.after(2 * time.Minute)
		if got := memory(r.metric().NodeMetric.NodeUsage); got != 5<<30 {
			t.Errorf("%d bytes with page cache, want %d", got, int64(5<<30))
		}
	})
}

func TestReportsGoOnAfterARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.ReadOnly = true })
		defer r.stop()
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.group.Go(func() { newReporting(r.options, r.clients, r.cluster, r.measurement, r.standing).run(r.ctx) })
		r.after(10 * time.Second)
		before := r.server.Writes("nodemetrics")
		if before == 0 {
			t.Fatal("no report within ten seconds")
		}
		r.server.Refuse(http.StatusInternalServerError)
		r.after(5 * time.Minute)
		r.server.Refuse(0)
		r.after(2 * lastRetry)
		if age := time.Since(r.metric().UpdateTime.Time); age > time.Minute {
			t.Errorf("the latest report is %s old", age)
		}
	})
}

func TestAnAlarmHoldsBestEffortPodsBackAtOnce(t *testing.T) {
	for name, alarmed := range map[string]bool{"with an alarm": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				defer r.stop()
				alarm := make(chan struct{}, 1)
				r.measurement.alarm = alarm
				r.machine.use("batch", 4)
				r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
				r.after(30*time.Second + 100*time.Millisecond)
				if got := r.quota(); got != "900000" {
					t.Fatalf("quota %s of a node without services, want 90%% of it", got)
				}
				r.machine.use("service", 5)
				if alarmed {
					alarm <- struct{}{}
				}
				r.after(doubleSampleGap + 50*time.Millisecond)
				want := 900000
				if alarmed {
					want = 400000
				}
				if got, err := strconv.Atoi(r.quota()); err != nil || math.Abs(float64(got-want)) > 2000 {
					t.Errorf("quota %d a moment after a service began, want %d: %v", got, want, err)
				}
				if budget := r.enforcement.round.suppressionDecision().Budget; alarmed && (budget == nil || budget.Milli > 4020) {
					t.Errorf("explained is the budget %+v, and not what the alarm led to", budget)
				}
				r.measurement.mu.Lock()
				samples := len(r.measurement.metrics.Aggregates(r.measurement.last.Time))
				r.measurement.mu.Unlock()
				r.after(2 * time.Second)
				if got, err := strconv.Atoi(r.quota()); err != nil || math.Abs(float64(got-400000)) > 2000 || samples != 0 {
					t.Errorf("quota %d after two periods, %v", got, err)
				}
			})
		})
	}
}

func TestWhatWasLearnedSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		directory := t.TempDir()
		learn := func(state string, d time.Duration, wantKnown bool) {
			r := newRig(t, func(o *Options) { o.ReadOnly, o.StateDirectory = true, state })
			defer r.stop()
			r.machine.use("service", 2)
			predictions := newPredictionStore(r.options, r.measurement)
			predictions.restore(r.ctx)
			if got := r.measurement.predictor.Knows("service"); got != wantKnown {
				t.Errorf("the service is known at the start: %t, want %t", got, wantKnown)
			}
			r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
			r.group.Go(func() { predictions.run(r.ctx) })
			r.after(d)
			if !r.measurement.predictor.Knows("service") {
				t.Error("nothing was learned")
			}
		}
		learn(directory, 5*time.Minute, false)
		learn(directory, 11*time.Minute, true)
		if err := os.WriteFile(filepath.Join(directory, "prediction.json"), []byte(`{"checksum":1,"data":{}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		learn(directory, 5*time.Minute, false)
		// A directory that cannot be written to: learning goes on without.
		learn(filepath.Join(directory, "none"), 11*time.Minute, false)
		time.Sleep(time.Hour)
		learn(directory, 5*time.Minute, false)
	})
}

func TestCPUsOfKubeletAreNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.ReadOnly = true })
		defer r.stop()
		r.file(r.options.kubeletConfiguration(), "cpuManagerPolicy: static\ncpuManagerPolicyOptions: {full-pcpus-only: \"true\"}\nreservedSystemCPUs: \"0\"\n")
		r.file(r.options.kubeletState(), `{"policyName":"static","defaultCpuSet":"0-1,4-9","entries":{"service":{"c":"2-3"}}}`)
		r.group.Go(func() { newTopologies(r.options, r.clients, r.cluster, r.machine, nil).run(r.ctx) })
		check := func(wantShared string) {
			t.Helper()
			r.after(10 * time.Second)
			var got topologyv1alpha1.NodeResourceTopology
			if found, err := r.server.Read("noderesourcetopologies", nodeName, &got); err != nil || !found {
				t.Fatalf("no topology: %v", err)
			}
			pools, err := extension.GetBECPUSharedPools(got.Annotations)
			if err != nil || len(pools) != 2 || pools[0].CPUSet != wantShared {
				t.Errorf("pools %+v, want %s first: %v", pools, wantShared, err)
			}
			policy, err := extension.GetKubeletCPUManagerPolicy(got.Annotations)
			want := &extension.KubeletCPUManagerPolicy{Policy: "static", Options: map[string]string{"full-pcpus-only": "true"}, ReservedCPUs: "0"}
			if diff := cmp.Diff(want, policy); diff != "" || err != nil {
				t.Errorf("policy (-want +got):\n%s%v", diff, err)
			}
		}
		check("0-1,4")
		r.file(r.options.kubeletState(), `{"policyName":"static","entries":{"servi`)
		check("0-1,4") // a file that is being written releases no CPUs
		r.file(r.options.kubeletState(), `{"policyName":"static","defaultCpuSet":"0-9"}`)
		check("0-4")
	})
}
