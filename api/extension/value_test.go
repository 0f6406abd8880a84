package extension

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNodeRatioPercent(t *testing.T) {
	tests := map[string]struct {
		value   string
		want    int64
		wantErr bool
	}{
		"two decimals":   {value: "0.65", want: 65},
		"rounds binary":  {value: "0.29", want: 29},
		"above one":      {value: "1.2", want: 120},
		"zero":           {value: "0", want: 0},
		"negative":       {value: "-0.1", wantErr: true},
		"not a number":   {value: "NaN", wantErr: true},
		"infinite":       {value: "Inf", wantErr: true},
		"absurd":         {value: "1e300", wantErr: true},
		"not a ratio":    {value: "65%", wantErr: true},
		"empty is wrong": {value: "", wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := NodeRatioPercent(map[string]string{LabelCPUReclaimRatio: tc.value}, LabelCPUReclaimRatio)
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v, want one: %v", err, tc.wantErr)
			}
			if !tc.wantErr && *got != tc.want {
				t.Errorf("got %d, want %d", *got, tc.want)
			}
		})
	}
	if got, err := NodeRatioPercent(nil, LabelCPUReclaimRatio); got != nil || err != nil {
		t.Errorf("absent label: %v, %v", got, err)
	}
}

func TestRatioHasTwoDecimals(t *testing.T) {
	data, err := json.Marshal(map[string]Ratio{"a": 3.14159, "b": 1})
	if want := `{"a":3.14,"b":1.00}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v, want %s", data, err, want)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := json.Marshal(Ratio(bad)); err == nil {
			t.Errorf("%v was written", bad)
		}
	}
	for _, bad := range []string{`-1`, `1e99`, `{}`, `"NaN"`} {
		if err := json.Unmarshal([]byte(bad), new(Ratio)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func TestEviction(t *testing.T) {
	tests := map[string]struct {
		annotations map[string]string
		wantAllowed bool
		wantErr     bool
	}{
		"no policy allows all":     {wantAllowed: true},
		"listed":                   {annotations: map[string]string{AnnotationPodEvictPolicy: `["BEMemoryEvict","CPUEvict"]`}, wantAllowed: true},
		"not listed":               {annotations: map[string]string{AnnotationPodEvictPolicy: `["BEMemoryEvict"]`}},
		"unreadable allows none":   {annotations: map[string]string{AnnotationPodEvictPolicy: `oops`}, wantErr: true},
		"empty string allows none": {annotations: map[string]string{AnnotationPodEvictPolicy: ``}, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			allowed, err := IsEvictionAllowed(tc.annotations, "CPUEvict")
			if allowed != tc.wantAllowed || (err != nil) != tc.wantErr {
				t.Errorf("got %v, %v", allowed, err)
			}
		})
	}
}

func TestEvictionCost(t *testing.T) {
	tests := map[string]struct {
		value   string
		want    int32
		wantErr bool
	}{
		"never":          {value: "2147483647", want: EvictionCostNever},
		"negative":       {value: "-5", want: -5},
		"absent":         {},
		"plus sign":      {value: "+5", wantErr: true},
		"leading zero":   {value: "05", wantErr: true},
		"above 32 bits":  {value: "2147483648", wantErr: true},
		"not a number":   {value: "high", wantErr: true},
		"negative zeros": {value: "-0", wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := EvictionCost(map[string]string{AnnotationEvictionCost: tc.value})
			if got != tc.want || (err != nil) != tc.wantErr {
				t.Errorf("got %d, %v, want %d", got, err, tc.want)
			}
		})
	}
}

func TestOOMScoreAdj(t *testing.T) {
	annotations := map[string]string{AnnotationOOMScoreAdj: "100", AnnotationOOMScoreAdjSpec: `{"main":-500,"bad":2000}`}
	for container, want := range map[string]int64{"main": -500, "sidecar": 100} {
		if got, err := OOMScoreAdj(annotations, container); err != nil || *got != want {
			t.Errorf("%s: %v, %v, want %d", container, got, err, want)
		}
	}
	if _, err := OOMScoreAdj(annotations, "bad"); err == nil {
		t.Error("2000 was accepted")
	}
	if got, err := OOMScoreAdj(nil, "main"); got != nil || err != nil {
		t.Errorf("absent: %v, %v", got, err)
	}
}

func TestGang(t *testing.T) {
	old := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
		DeprecatedLabelPodGroupName: "old", DeprecatedLabelPodGroupMinAvailable: "3",
	}}}
	if name := GangName(old); name != "old" {
		t.Errorf("GangName = %q", name)
	}
	if count, err := GangMinAvailable(old); count != 3 || err != nil {
		t.Errorf("GangMinAvailable = %d, %v", count, err)
	}
	if _, err := GangTotalNumber(map[string]string{AnnotationGangTotalNumber: "-1"}); err == nil {
		t.Error("a negative number of pods was accepted")
	}
	annotations := map[string]string{AnnotationGangWaitingTime: "90s", AnnotationAliasGangMatchPolicy: "only-waiting", AnnotationGangMode: "nonstrict"}
	if wait, err := GangWaitingTime(annotations); wait != 90*time.Second || err != nil {
		t.Errorf("GangWaitingTime = %v, %v", wait, err)
	}
	if policy := GangMatchPolicyOf(annotations); policy != GangMatchPolicyOnlyWaiting {
		t.Errorf("GangMatchPolicyOf = %q", policy)
	}
	if policy := GangMatchPolicyOf(nil); policy != GangMatchPolicyOnceSatisfied {
		t.Errorf("GangMatchPolicyOf(nil) = %q", policy)
	}
	if mode := GangModeOf(annotations); mode != GangModeStrict {
		t.Errorf("GangModeOf = %q", mode)
	}
}

func TestQuotaSharedWeight(t *testing.T) {
	max := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("40")}
	tests := map[string]struct {
		value string
		want  string
	}{
		"absent":  {want: "40"},
		"set":     {value: `{"cpu":"7"}`, want: "7"},
		"zero":    {value: `{"cpu":"0"}`, want: "40"},
		"invalid": {value: `[]`, want: "40"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			weight := QuotaSharedWeight(map[string]string{AnnotationQuotaSharedWeight: tc.value}, max)
			if got := weight.Cpu().String(); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	if parent := QuotaParent(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "leaf"}}); parent != RootQuotaName {
		t.Errorf("QuotaParent = %q", parent)
	}
}

func TestNodeReservationIsChecked(t *testing.T) {
	for name, value := range map[string]string{
		"cpu list":          `{"reservedCPUs":"0-999999999"}`,
		"negative quantity": `{"resources":{"cpu":"-1"}}`,
	} {
		if _, err := GetNodeReservation(map[string]string{AnnotationNodeReservation: value}); err == nil {
			t.Errorf("%s: %s was accepted", name, value)
		}
	}
}

func TestPodReplaceResources(t *testing.T) {
	got, err := GetPodReplaceResources(map[string]string{AnnotationPodReplaceResources: "a:b, c:"})
	want := []ResourceReplacement{{From: "a", To: "b"}, {From: "c"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want,+got):\n%s", err, diff)
	}
	for _, bad := range []string{"a", ":b", "a:b:c", "a:b,"} {
		if _, err := GetPodReplaceResources(map[string]string{AnnotationPodReplaceResources: bad}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestNodeCPUBindPolicyOf(t *testing.T) {
	kubelet := &KubeletCPUManagerPolicy{Policy: "static", Options: map[string]string{"full-pcpus-only": "true"}}
	spread := map[string]string{LabelNodeCPUBindPolicy: "SpreadByPCPUs"}
	if got := NodeCPUBindPolicyOf(spread, kubelet); got != NodeCPUBindPolicyFullPCPUsOnly {
		t.Errorf("kubelet demands full cores: %q", got)
	}
	if got := NodeCPUBindPolicyOf(spread, nil); got != NodeCPUBindPolicySpreadByPCPUs {
		t.Errorf("label: %q", got)
	}
	if got := NodeCPUBindPolicyOf(nil, nil); got != NodeCPUBindPolicyNone {
		t.Errorf("nothing: %q", got)
	}
}
