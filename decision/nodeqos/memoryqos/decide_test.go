package memoryqos

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

const gib = int64(1) << 30

func on(qos slov1alpha1.MemoryQOS) *slov1alpha1.ResourceQOS {
	return &slov1alpha1.ResourceQOS{MemoryQOS: &slov1alpha1.MemoryQOSCfg{Enable: new(true), MemoryQOS: qos}}
}

func qos(min, low, throttling int64) slov1alpha1.MemoryQOS {
	return slov1alpha1.MemoryQOS{MinLimitPercent: &min, LowLimitPercent: &low, ThrottlingPercent: &throttling, WmarkRatio: new(int64(95))}
}

func TestSettingsOf(t *testing.T) {
	strategy := &slov1alpha1.ResourceQOSStrategy{LSClass: on(qos(50, 60, 70)), BEClass: on(qos(0, 0, 80))}
	strategy.BEClass.MemoryQOS.Enable = new(false)
	pod := func(policy slov1alpha1.PodMemoryQOSPolicy, own slov1alpha1.MemoryQOS) *slov1alpha1.PodMemoryQOSConfig {
		return &slov1alpha1.PodMemoryQOSConfig{Policy: policy, MemoryQOS: own}
	}
	tests := map[string]struct {
		class              extension.QoSClass
		pod                *slov1alpha1.PodMemoryQOSConfig
		wantMin, wantRatio int64
		wantSource         Source
	}{
		"the node's for the class":                  {extension.QoSLS, nil, 50, 95, FromClass},
		"a class that is switched off is reset":     {extension.QoSBE, nil, 0, 0, FromReset},
		"a class without a strategy is reset":       {extension.QoSLSE, nil, 0, 0, FromReset},
		"one field of its own":                      {extension.QoSLS, pod("", slov1alpha1.MemoryQOS{MinLimitPercent: new(int64(100))}), 100, 95, FromClass},
		"its own where the class is off":            {extension.QoSBE, pod("default", slov1alpha1.MemoryQOS{MinLimitPercent: new(int64(100))}), 100, 0, FromReset},
		"a pod that wants none has none":            {extension.QoSLS, pod("none", slov1alpha1.MemoryQOS{MinLimitPercent: new(int64(100))}), 0, 0, FromNone},
		"auto is what is built in":                  {extension.QoSBE, pod("auto", slov1alpha1.MemoryQOS{}), 0, 95, FromAuto},
		"auto with a field of its own":              {extension.QoSBE, pod("auto", slov1alpha1.MemoryQOS{MinLimitPercent: new(int64(30))}), 30, 95, FromAuto},
		"auto of a class that is not known changes": {extension.QoSNone, pod("auto", slov1alpha1.MemoryQOS{}), 0, 0, FromReset},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, source := SettingsOf(strategy, tc.class, tc.pod)
			if *got.MinLimitPercent != tc.wantMin || *got.WmarkRatio != tc.wantRatio || source != tc.wantSource {
				t.Errorf("min %d ratio %d from %s", *got.MinLimitPercent, *got.WmarkRatio, source)
			}
		})
	}
	if *strategy.LSClass.MemoryQOS.MinLimitPercent != 50 {
		t.Error("the strategy was changed")
	}
	if got, source := SettingsOf(nil, extension.QoSLS, nil); *got.WmarkScalePermill != 50 || source != FromReset {
		t.Errorf("without a strategy: %+v from %s", got, source)
	}
}

func TestValuesOfContainers(t *testing.T) {
	tests := map[string]struct {
		settings       slov1alpha1.MemoryQOS
		amounts        Amounts
		min, low, high int64
		wantNotes      int
	}{
		"80 percent of a limit without a request, down to a page": {qos(0, 0, 80), Amounts{Limit: 10_000_001}, 0, 0, 7_999_488, 0},
		"the whole request is protected":                          {qos(100, 0, 0), Amounts{Request: gib, Limit: 2 * gib}, gib, 0, Unbounded, 0},
		"between request and limit":                               {qos(0, 50, 50), Amounts{Request: gib, Limit: 2 * gib}, 0, gib / 2, gib + gib/2, 0},
		"without a limit, the node's allocatable":                 {qos(0, 0, 50), Amounts{Request: 2 * gib}, 0, 0, 6 * gib, 0},
		"low is at least min":                                     {qos(80, 50, 0), Amounts{Request: 1000}, 800, 800, Unbounded, 1},
		"low that is off stays off":                               {qos(80, 0, 0), Amounts{Request: 1000}, 800, 0, Unbounded, 0},
		"high is at least min":                                    {qos(100, 0, 1), Amounts{Request: gib, Limit: gib / 2}, gib, 0, gib, 0},
		"no request is nothing to protect":                        {qos(100, 100, 0), Amounts{}, 0, 0, Unbounded, 0},
		"more than the request may be protected":                  {qos(200, 0, 0), Amounts{Request: 1000}, 2000, 0, Unbounded, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plan := PlanOf(Input{
				Strategy: &slov1alpha1.ResourceQOSStrategy{BEClass: on(tc.settings)}, Allocatable: 10 * gib,
				Pods: []Pod{{Name: "pod", QoS: extension.QoSBE, KubeQOS: corev1.PodQOSBestEffort, Amounts: tc.amounts, Containers: []Container{{"main", tc.amounts}}}},
			}, nil)
			got := plan.Pods[0].Containers[0].Values
			if *got.Min != tc.min || *got.Low != tc.low || *got.High != tc.high || len(got.Notes) != tc.wantNotes {
				t.Errorf("min %d low %d high %d notes %q, want %d %d %d", *got.Min, *got.Low, *got.High, got.Notes, tc.min, tc.low, tc.high)
			}
			if plan.Pods[0].Values.High != nil {
				t.Error("the pod is bounded beside its container")
			}
		})
	}
}

func TestPageCacheIsBounded(t *testing.T) {
	number := func(value int64) *int64 { return &value }
	tests := map[string]struct {
		settings  slov1alpha1.MemoryQOS
		limit     int64
		want      *int64
		wantNotes int
	}{
		"by a percentage of the limit, down to a page": {slov1alpha1.MemoryQOS{PageCacheEnable: number(1), PageCacheLimitPercent: number(33)}, 1 << 20, number(344064), 0},
		"by a size, which goes before the percentage":  {slov1alpha1.MemoryQOS{PageCacheLimitPercent: number(33), PageCacheLimitSize: number(8193)}, 1 << 20, number(8192), 0},
		"by no more than the limit":                    {slov1alpha1.MemoryQOS{PageCacheLimitSize: number(4 << 20)}, 1 << 20, number(1 << 20), 1},
		"by a size without a limit":                    {slov1alpha1.MemoryQOS{PageCacheLimitSize: number(4 << 20)}, 0, number(4 << 20), 0},
		"a percentage of no limit is no bound":         {slov1alpha1.MemoryQOS{PageCacheEnable: number(1), PageCacheLimitPercent: number(33)}, 0, nil, 1},
		"less than nothing is nothing":                 {slov1alpha1.MemoryQOS{PageCacheLimitSize: number(-1)}, 1 << 20, number(0), 0},
		"nothing is set":                               {slov1alpha1.MemoryQOS{}, 1 << 20, nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			amounts := Amounts{Limit: tc.limit}
			pod := PlanOf(Input{Strategy: &slov1alpha1.ResourceQOSStrategy{LSClass: on(tc.settings)}, Pods: []Pod{{
				QoS: extension.QoSLS, KubeQOS: corev1.PodQOSBurstable, Amounts: amounts, Containers: []Container{{"main", amounts}},
			}}}, nil).Pods[0]
			for _, got := range []Values{pod.Values, pod.Containers[0].Values} {
				if diff := cmp.Diff(tc.want, got.PageCacheLimit); diff != "" || len(got.Notes) != tc.wantNotes {
					t.Errorf("notes %q, bound (-want +got):\n%s", got.Notes, diff)
				}
			}
		})
	}
}

// TestWhatTheKillerAndTheWatermarksAreTold of pods, their containers and their group, by the class and by the pod's annotation. To be
// killed as a whole is never said of the group.
func TestWhatTheKillerAndTheWatermarksAreTold(t *testing.T) {
	number := func(value int64) *int64 { return &value }
	told := func(priority, order, whole *int64) Values {
		return Values{
			WmarkRatio: number(95), WmarkScaleFactor: number(20), WmarkMinAdj: number(-25), UsePriorityOOM: priority, Priority: order, OOMGroup: whole,
		}
	}
	class := slov1alpha1.MemoryQOS{
		WmarkRatio: number(95), WmarkScalePermill: number(20), WmarkMinAdj: number(-25),
		PriorityEnable: number(1), Priority: number(5), OomKillGroup: number(1),
	}
	reset := Values{
		Min: number(0), Low: number(0), WmarkRatio: number(0), WmarkScaleFactor: number(50), WmarkMinAdj: number(0),
		UsePriorityOOM: number(0), Priority: number(0), OOMGroup: number(0),
	}
	off := on(class)
	off.MemoryQOS.Enable = new(false)
	tests := map[string]struct {
		class     *slov1alpha1.ResourceQOS
		pod       *slov1alpha1.PodMemoryQOSConfig
		want      Values
		wantGroup Values
	}{
		"by the class": {on(class), nil, told(number(1), number(5), number(1)), Values{UsePriorityOOM: number(1), Priority: number(5)}},
		"what the class leaves out is left as it is": {
			on(slov1alpha1.MemoryQOS{OomKillGroup: number(1)}), nil, Values{OOMGroup: number(1)}, Values{},
		},
		"a pod with a priority of its own, within a group that keeps the class's": {
			on(class), &slov1alpha1.PodMemoryQOSConfig{MemoryQOS: slov1alpha1.MemoryQOS{Priority: number(12), OomKillGroup: number(0)}},
			told(number(1), number(12), number(0)), Values{UsePriorityOOM: number(1), Priority: number(5)},
		},
		"a pod that wants none": {
			on(class), &slov1alpha1.PodMemoryQOSConfig{Policy: slov1alpha1.PodMemoryQOSPolicyNone}, reset,
			Values{UsePriorityOOM: number(1), Priority: number(5)},
		},
		"a class that is off": {off, nil, reset, Values{UsePriorityOOM: number(0), Priority: number(0)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plan := PlanOf(Input{Strategy: &slov1alpha1.ResourceQOSStrategy{LSClass: tc.class}, Pods: []Pod{{
				QoS: extension.QoSLS, KubeQOS: corev1.PodQOSBurstable, Config: tc.pod, Containers: []Container{{Name: "main"}},
			}}}, nil)
			container, group := plan.Pods[0].Containers[0].Values, plan.Groups[1].Values
			container.High = nil // is set for containers alone
			group.Min, group.Low = nil, nil
			if diff := cmp.Diff([]Values{tc.want, tc.want, tc.wantGroup}, []Values{plan.Pods[0].Values, container, group}); diff != "" {
				t.Errorf("the pod, its container and the group (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGroupsProtectWhatTheirPodsProtect(t *testing.T) {
	strategy := &slov1alpha1.ResourceQOSStrategy{LSRClass: on(qos(100, 0, 0)), LSClass: on(qos(50, 60, 0)), BEClass: on(qos(10, 0, 0))}
	pod := func(name string, class extension.QoSClass, group corev1.PodQOSClass, request int64) Pod {
		return Pod{Name: name, QoS: class, KubeQOS: group, Amounts: Amounts{Request: request}}
	}
	plan := PlanOf(Input{Strategy: strategy, Pods: []Pod{
		pod("c", extension.QoSBE, corev1.PodQOSBestEffort, 1000), pod("a", extension.QoSLSR, corev1.PodQOSGuaranteed, 2000), pod("b", extension.QoSLS, corev1.PodQOSBurstable, 4000),
	}}, nil)
	var got [][2]int64
	for _, group := range plan.Groups {
		got = append(got, [2]int64{*group.Values.Min, *group.Values.Low})
	}
	if diff := cmp.Diff([][2]int64{{4100, 2400}, {2000, 2400}, {100, 0}}, got); diff != "" {
		t.Errorf("min and low of all pods, burstable and best effort (-want +got):\n%s", diff)
	}
	if plan.Pods[0].Name != "a" || plan.Pods[2].Name != "c" {
		t.Errorf("pods are not ordered: %+v", plan.Pods)
	}
}

// TestAPodProtectsWhatItsContainersProtect, also where it says less of the whole than of the parts.
func TestAPodProtectsWhatItsContainersProtect(t *testing.T) {
	plan := PlanOf(Input{Strategy: &slov1alpha1.ResourceQOSStrategy{LSClass: on(qos(100, 0, 0))}, Pods: []Pod{{
		QoS: extension.QoSLS, KubeQOS: corev1.PodQOSBurstable, Amounts: Amounts{Request: 100}, Containers: []Container{{"a", Amounts{Request: 80}}, {"b", Amounts{Request: 70}}},
	}}}, nil)
	if got := *plan.Pods[0].Values.Min; got != 150 {
		t.Errorf("the pod protects %d, its containers 150", got)
	}
}

// TestNoGroupProtectsLessThanWhatIsInIt, for the kernel would take the protection away.
func TestNoGroupProtectsLessThanWhatIsInIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		percent := func(label string) *int64 {
			if rapid.Bool().Draw(t, label+" is set") {
				return new(rapid.Int64Range(0, 200).Draw(t, label))
			}
			return nil
		}
		settings := func() *slov1alpha1.ResourceQOS {
			return on(slov1alpha1.MemoryQOS{MinLimitPercent: percent("min"), LowLimitPercent: percent("low"), ThrottlingPercent: percent("throttling")})
		}
		in := Input{Strategy: &slov1alpha1.ResourceQOSStrategy{LSClass: settings(), BEClass: settings()}, Allocatable: rapid.Int64Range(0, 1<<45).Draw(t, "node")}
		for range rapid.IntRange(0, 5).Draw(t, "pods") {
			pod := Pod{QoS: extension.QoSLS, KubeQOS: corev1.PodQOSBurstable}
			if rapid.Bool().Draw(t, "best effort") {
				pod.QoS, pod.KubeQOS = extension.QoSBE, corev1.PodQOSBestEffort
			}
			for range rapid.IntRange(0, 3).Draw(t, "containers") {
				amounts := Amounts{Request: rapid.Int64Range(0, 1<<40).Draw(t, "request"), Limit: rapid.Int64Range(0, 1<<40).Draw(t, "limit")}
				pod.Containers = append(pod.Containers, Container{Amounts: amounts})
				pod.Request += amounts.Request
			}
			in.Pods = append(in.Pods, pod)
		}
		value := func(v *int64) int64 {
			if v == nil {
				return 0
			}
			return *v
		}
		trace := &Trace{}
		plan := PlanOf(in, nil)
		if diff := cmp.Diff(plan, PlanOf(in, trace)); diff != "" {
			t.Fatalf("with a trace (-without +with):\n%s", diff)
		}
		for _, high := range trace.High {
			if last := high.Terms[len(high.Terms)-1]; last.Name != "high" || last.Value < 0 || len(high.Terms) < 2 {
				t.Fatalf("the steps to high are %+v", high.Terms)
			}
		}
		var pods int64
		for _, pod := range plan.Pods {
			var containers int64
			for _, c := range pod.Containers {
				containers += value(c.Values.Min)
				if high := c.Values.High; high != nil && (*high < value(c.Values.Min) || *high < 0) {
					t.Fatalf("high %d below min %d", *high, value(c.Values.Min))
				}
				if low := value(c.Values.Low); low > 0 && low < value(c.Values.Min) {
					t.Fatalf("low %d below min %d", low, value(c.Values.Min))
				}
			}
			if value(pod.Values.Min) < containers {
				t.Fatalf("the pod protects %d, its containers %d", value(pod.Values.Min), containers)
			}
			pods += value(pod.Values.Min)
		}
		if all := value(plan.Groups[0].Values.Min); all != pods || all != value(plan.Groups[1].Values.Min)+value(plan.Groups[2].Values.Min) {
			t.Fatalf("all groups protect %d, the pods %d", all, pods)
		}
	})
}

func TestPodOf(t *testing.T) {
	list := func(name corev1.ResourceName, value string) corev1.ResourceList {
		return corev1.ResourceList{name: resource.MustParse(value)}
	}
	pod := func(requests, limits corev1.ResourceList, annotation string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "exec", UID: "u", Annotations: map[string]string{extension.AnnotationPodMemoryQOS: annotation}},
			Spec:       corev1.PodSpec{Priority: new(int32(5500)), Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}}},
		}
	}
	got := PodOf(pod(list(extension.BatchMemory, "2Gi"), list(extension.BatchMemory, "4Gi"), `{"policy":"none"}`))
	want := Pod{
		Namespace: "spark", Name: "exec", UID: "u", QoS: extension.QoSBE, KubeQOS: corev1.PodQOSBestEffort, Amounts: Amounts{2 * gib, 4 * gib},
		Containers: []Container{{"main", Amounts{2 * gib, 4 * gib}}}, Config: &slov1alpha1.PodMemoryQOSConfig{Policy: slov1alpha1.PodMemoryQOSPolicyNone},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a batch pod (-want +got):\n%s", diff)
	}
	withSidecar := pod(list(corev1.ResourceMemory, "1Gi"), nil, "")
	amounts := corev1.ResourceRequirements{Requests: list(corev1.ResourceMemory, "2Gi")}
	withSidecar.Spec.InitContainers = []corev1.Container{
		{Name: "once", Resources: amounts}, {Name: "proxy", Resources: amounts, RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
	}
	if diff := cmp.Diff([]Container{{"proxy", Amounts{Request: 2 * gib}}, {"main", Amounts{Request: gib}}}, PodOf(withSidecar).Containers); diff != "" {
		t.Errorf("containers that run as long as the pod (-want +got):\n%s", diff)
	}
	got = PodOf(pod(list(corev1.ResourceMemory, "1Gi"), nil, `{`))
	if got.Request != gib || got.Limit != 0 || got.Config != nil || !strings.Contains(got.Problem, "memoryQOS") {
		t.Errorf("a pod with an annotation that cannot be read: %+v", got)
	}
}

func TestReclaim(t *testing.T) {
	// High is 95 and low 93 percent of 1000 MiB.
	const mib = 1 << 20
	base := ReclaimInput{Usage: 970 * mib, Limit: 1000 * mib, WmarkRatio: 95, WmarkScalePermill: 20, Reclaimable: 500 * mib}
	tests := map[string]struct {
		change         func(*ReclaimInput)
		want           int64
		wantReclaiming bool
	}{
		"down to the low watermark":             {nil, 40 * mib, true},
		"no more than a round may take":         {func(in *ReclaimInput) { in.MostPerRound = 8 * mib }, 8 * mib, true},
		"by default 64 MiB":                     {func(in *ReclaimInput) { in.Usage = 1000 * mib }, 64 * mib, true},
		"no more than can be reclaimed":         {func(in *ReclaimInput) { in.Reclaimable = 3 * mib }, 3 * mib, true},
		"nothing can be reclaimed":              {func(in *ReclaimInput) { in.Reclaimable = 0 }, 0, true},
		"what is protected stays":               {func(in *ReclaimInput) { in.Protected = 960 * mib }, 10 * mib, true},
		"below the high watermark nothing":      {func(in *ReclaimInput) { in.Usage = 940 * mib }, 0, false},
		"unless it was begun":                   {func(in *ReclaimInput) { in.Usage, in.Reclaiming = 940*mib, true }, 10 * mib, true},
		"until the low watermark":               {func(in *ReclaimInput) { in.Usage, in.Reclaiming = 930*mib, true }, 0, false},
		"not while processes wait for memory":   {func(in *ReclaimInput) { in.StallPercent = 5 }, 0, true},
		"without a limit nothing":               {func(in *ReclaimInput) { in.Limit = 0 }, 0, false},
		"without a ratio nothing":               {func(in *ReclaimInput) { in.WmarkRatio = 0 }, 0, false},
		"a scale beyond everything ends at one": {func(in *ReclaimInput) { in.WmarkScalePermill = 5000 }, 64 * mib, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := base
			if tc.change != nil {
				tc.change(&in)
			}
			trace := &Trace{}
			got := ReclaimOf(in, trace)
			if got.Bytes != tc.want || got.Reclaiming != tc.wantReclaiming || got.Reason == "" {
				t.Errorf("%+v, want %d %v", got, tc.want, tc.wantReclaiming)
			}
			if steps := trace.Reclaim; got.Bytes > 0 && (len(steps) == 0 || steps[len(steps)-1].Value != got.Bytes) {
				t.Errorf("the steps to %d bytes are %+v", got.Bytes, steps)
			}
			if silent := ReclaimOf(in, nil); silent != got {
				t.Errorf("with a trace %+v, without %+v", got, silent)
			}
		})
	}
}
