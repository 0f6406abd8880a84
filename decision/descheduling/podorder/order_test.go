package podorder

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
)

// moment is when the pods of the tests were created, unless they say otherwise.
var moment = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestTheLeastImportantPodLeavesFirst(t *testing.T) {
	prod := Rank{
		Name: "x", PriorityClass: extension.PriorityProd, Priority: 9500, KubeQOS: corev1.PodQOSBurstable, QoS: extension.QoSLS, Score: 0.5, Created: moment,
	}
	with := func(change func(*Rank)) Rank {
		rank := prod
		change(&rank)
		return rank
	}
	tests := map[string]struct {
		first   Rank
		wantWhy string
	}{
		"free before prod, whatever else differs": {
			with(func(r *Rank) {
				r.PriorityClass, r.Priority, r.EvictionCost, r.Score = extension.PriorityFree, 9999, 7, 0
			}),
			"priority class: koord-free before koord-prod",
		},
		"batch before prod": {with(func(r *Rank) { r.PriorityClass = extension.PriorityBatch }), "priority class: koord-batch before koord-prod"},
		"the lower priority": {
			with(func(r *Rank) { r.Priority, r.KubeQOS = 9100, corev1.PodQOSGuaranteed }), "priority: 9100 before 9500",
		},
		"best effort before burstable":  {with(func(r *Rank) { r.KubeQOS = corev1.PodQOSBestEffort }), "Kubernetes QoS class: BestEffort before Burstable"},
		"BE before LS":                  {with(func(r *Rank) { r.QoS = extension.QoSBE }), "QoS class: BE before LS"},
		"the lower deletion cost":       {with(func(r *Rank) { r.DeletionCost = -1 }), "pod deletion cost: -1 before 0"},
		"the lower eviction cost":       {with(func(r *Rank) { r.EvictionCost, r.Score = -5, 0 }), "eviction cost: -5 before 0"},
		"the better score":              {with(func(r *Rank) { r.Score, r.Created = 1.9, moment.Add(-time.Hour) }), "usage score: 1.900 before 0.500"},
		"the newer pod":                 {with(func(r *Rank) { r.Created = moment.Add(time.Minute) }), "creation time: 2026-03-04T05:07:07Z before 2026-03-04T05:06:07Z"},
		"else the first of their names": {with(func(r *Rank) { r.Name = "a" }), "name: /a before /x"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if Compare(&tc.first, &prod) >= 0 || Compare(&prod, &tc.first) <= 0 {
				t.Errorf("Compare = %d and %d, want the pod first", Compare(&tc.first, &prod), Compare(&prod, &tc.first))
			}
			if got := Why(&tc.first, &prod); got != tc.wantWhy {
				t.Errorf("Why = %q, want %q", got, tc.wantWhy)
			}
		})
	}
}

func TestOfEqualPodsTheJobThatLosesLeastLeavesFirst(t *testing.T) {
	begun, halfDone := Rank{Name: "begun", Created: moment}, Rank{Name: "a", Created: moment, Done: 2}
	if got, want := Why(&begun, &halfDone), "work done: 0% before 50%"; got != want {
		t.Errorf("Why = %q, want %q", got, want)
	}
	halfDone.Created = moment.Add(time.Second)
	if Compare(&halfDone, &begun) >= 0 {
		t.Error("a pod that was created later leaves after one whose job has just begun, which is not Koordinator's order")
	}
}

func TestPodsWithoutAClassOrAMeasurementLeaveLast(t *testing.T) {
	prod, none := Rank{PriorityClass: extension.PriorityProd}, Rank{PriorityClass: extension.PriorityNone}
	if Compare(&prod, &none) >= 0 {
		t.Error("a pod without a priority class leaves before prod")
	}
	measured, unmeasured := Rank{Score: 0}, Rank{Score: Unmeasured}
	if Compare(&measured, &unmeasured) >= 0 {
		t.Error("a pod of which no usage is known leaves before one that uses nothing")
	}
	if got, want := Why(&unmeasured, &measured), "usage score: no usage reported after 0.000"; got != want {
		t.Errorf("Why = %q, want %q", got, want)
	}
}

func TestRankIsReadFromThePod(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", CreationTimestamp: metav1.NewTime(moment),
			Labels:      map[string]string{extension.LabelPodQoS: "LS"},
			Annotations: map[string]string{corev1.PodDeletionCost: "12", extension.AnnotationEvictionCost: "034"},
		},
		Spec:   corev1.PodSpec{Priority: new(int32(9100))},
		Status: corev1.PodStatus{QOSClass: corev1.PodQOSGuaranteed},
	}
	want := Rank{
		Namespace: "shop", Name: "web", PriorityClass: extension.PriorityProd, Priority: 9100, KubeQOS: corev1.PodQOSGuaranteed, QoS: extension.QoSLS,
		DeletionCost: 12, Score: Unmeasured, Created: moment,
		Problems: []string{`parse annotation "scheduling.koordinator.sh/eviction-cost": "034" is not in canonical form`},
	}
	if diff := cmp.Diff(want, Of(pod)); diff != "" {
		t.Errorf("rank (-want +got):\n%s", diff)
	}
}

func TestDeletionCostIsReadAsKubernetesDoes(t *testing.T) {
	for value, want := range map[string]int32{"0": 0, "-7": -7, "2147483647": 2147483647, "+1": 0, "01": 0, "1.5": 0, "": 0, "2147483648": 0} {
		got, err := DeletionCost(map[string]string{corev1.PodDeletionCost: value})
		if got != want || (err == nil) != (want != 0 || value == "0") {
			t.Errorf("DeletionCost(%q) = %d, %v, want %d", value, got, err, want)
		}
	}
	if got, err := DeletionCost(nil); got != 0 || err != nil {
		t.Errorf("DeletionCost without the annotation = %d, %v", got, err)
	}
}

func TestThePodThatJustCoversTheExcessScoresBest(t *testing.T) {
	tests := map[string]struct {
		usage, excess []int64
		want          float64
	}{
		"exactly":                       {[]int64{1000, 0}, []int64{1000, 0}, 2},
		"twice as much":                 {[]int64{2000, 0}, []int64{1000, 0}, 1.5},
		"half of it":                    {[]int64{500, 0}, []int64{1000, 0}, 0.5},
		"nothing":                       {[]int64{0, 9999}, []int64{1000, 0}, 0},
		"no excess":                     {[]int64{5, 5}, []int64{0, -1}, 0},
		"the mean over both in excess":  {[]int64{1000, 50}, []int64{1000, 100}, 1.25},
		"a negative usage counts as no": {[]int64{-1000, 0}, []int64{1000, 0}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Score(tc.usage, tc.excess, []int64{1, 1}); got != tc.want {
				t.Errorf("Score = %v, want %v", got, tc.want)
			}
		})
	}
}

// drawnRank differs from others in few values, so that each criterion decides often.
func drawnRank() *rapid.Generator[Rank] {
	return rapid.Custom(func(t *rapid.T) Rank {
		return Rank{
			Name:          rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"),
			PriorityClass: rapid.SampledFrom([]extension.PriorityClass{extension.PriorityNone, extension.PriorityProd, extension.PriorityBatch}).Draw(t, "class"),
			Priority:      rapid.Int32Range(0, 1).Draw(t, "priority"),
			KubeQOS:       rapid.SampledFrom([]corev1.PodQOSClass{corev1.PodQOSBestEffort, corev1.PodQOSGuaranteed}).Draw(t, "kubeQOS"),
			QoS:           rapid.SampledFrom([]extension.QoSClass{extension.QoSNone, extension.QoSBE, extension.QoSLSE}).Draw(t, "qos"),
			DeletionCost:  rapid.Int32Range(0, 1).Draw(t, "deletion"),
			EvictionCost:  rapid.Int32Range(0, 1).Draw(t, "eviction"),
			Score:         rapid.SampledFrom([]float64{Unmeasured, 0, 1.5}).Draw(t, "score"),
			Created:       moment.Add(time.Duration(rapid.IntRange(0, 1).Draw(t, "created")) * time.Hour),
			Done:          rapid.IntRange(0, 3).Draw(t, "done"),
		}
	})
}

// TestWorkDoneDecidesOnlyTies: what Koordinator's order says of two pods holds whatever is done of their jobs.
func TestWorkDoneDecidesOnlyTies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawnRank().Draw(t, "a"), drawnRank().Draw(t, "b")
		got := Compare(&a, &b)
		a.Done, b.Done, a.Name, b.Name = 0, 0, "", ""
		if want := Compare(&a, &b); want != 0 && want < 0 != (got < 0) {
			t.Fatalf("Compare = %d with what is done, %d without", got, want)
		}
	})
}

func TestCompareIsATotalOrder(t *testing.T) {
	ranks := drawnRank()
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfN(ranks, 3, 8).Draw(t, "ranks")
		for i := range drawn {
			for j := range drawn {
				if ab, ba := Compare(&drawn[i], &drawn[j]), Compare(&drawn[j], &drawn[i]); ab < 0 != (ba > 0) || ab == 0 != (ba == 0) {
					t.Fatalf("Compare of %+v and %+v = %d, and %d the other way", drawn[i], drawn[j], ab, ba)
				}
			}
		}
		Sort(drawn)
		if !slices.IsSortedFunc(drawn, func(a, b Rank) int { return Compare(&a, &b) }) {
			t.Fatalf("not in order: %+v", drawn)
		}
		for i := 1; i < len(drawn); i++ {
			if Compare(&drawn[0], &drawn[i]) > 0 {
				t.Fatalf("%+v is first and not before %+v", drawn[0], drawn[i])
			}
		}
	})
}
