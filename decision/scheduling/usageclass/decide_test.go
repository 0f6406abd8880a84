package usageclass

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

func defaulted(classes map[string]ClassArgs) *Args {
	args := &Args{Classes: classes}
	SetDefaults(args)
	return args
}

func TestFilter(t *testing.T) {
	args := defaulted(map[string]ClassArgs{"web": {MaxPercent: new(int64(50))}, "video": {MaxPods: new(int64(2))}})
	tests := map[string]struct {
		class       string
		pod, taken  Share
		allocatable int64
		want        finding.Code
		wantMessage string
	}{
		"the first pod of a class passes":     {class: "web", pod: Share{1, 4000}, allocatable: 16000},
		"a class may fill its share":          {class: "web", pod: Share{1, 4000}, taken: Share{1, 4000}, allocatable: 16000},
		"but not exceed it":                   {class: "web", pod: Share{1, 4001}, taken: Share{1, 4000}, allocatable: 16000, want: finding.UsageClassShare, wantMessage: "usage class web requests 25% of the node's cpu + this pod 26% > limit 50%"},
		"a class without a bound may fill it": {class: "other", pod: Share{1, 16000}, allocatable: 16000},
		"pods are bounded, too":               {class: "video", pod: Share{1, 1}, taken: Share{2, 2}, allocatable: 16000, want: finding.UsageClassPods, wantMessage: "2 pods of usage class video are on the node, and at most 2 may be"},
		"a node without cpu takes none":       {class: "web", pod: Share{1, 1}, want: finding.UsageClassShare},
		"a pod without requests passes":       {class: "web", pod: Share{1, 0}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			verdict := Filter(Input{Args: args, Class: test.class, Pod: test.pod, Taken: test.taken, Allocatable: test.allocatable})
			if verdict.Code != test.want || verdict.Passed() != (test.want == "") || (verdict.Reason() == "") != verdict.Passed() {
				t.Errorf("verdict %+v, want code %q", verdict, test.want)
			}
			if got := CodeOf(verdict.Reason()); got != test.want {
				t.Errorf("code %q of %q, want %q", got, verdict.Reason(), test.want)
			}
			if test.wantMessage != "" && verdict.Message() != test.wantMessage {
				t.Errorf("message %q, want %q", verdict.Message(), test.wantMessage)
			}
		})
	}
}

func TestScoresFallWithTheShareOfTheClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Input{Args: defaulted(nil), Class: "c", Pod: Share{1, rapid.Int64Range(0, 1<<40).Draw(t, "pod")}, Allocatable: rapid.Int64Range(0, 1<<40).Draw(t, "allocatable")}
		in.Taken.MilliCPU = rapid.Int64Range(0, 1<<40).Draw(t, "taken")
		score := Score(in)
		in.Taken.MilliCPU += rapid.Int64Range(0, 1<<40).Draw(t, "more")
		if more := Score(in); more > score || score < 0 || score > 100 {
			t.Errorf("score %d, and %d with more of the class", score, more)
		}
	})
}

func TestEveryTierCounts(t *testing.T) {
	batch := corev1.ResourceList{extension.BatchCPU: resource.MustParse("1500"), "cpu": resource.MustParse("500m")}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{extension.LabelUsageClass: "etl"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: batch}}}},
	}
	shares := Shares{}
	shares.Add(ClassOf(pod), RequestOf(pod))
	shares.Add(ClassOf(pod), RequestOf(pod))
	if diff := cmp.Diff(Shares{"etl": {Pods: 2, MilliCPU: 4000}}, shares); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
}

func TestArguments(t *testing.T) {
	args := defaulted(map[string]ClassArgs{"": {}, "a": {MaxPercent: new(int64(0))}, "b": {MaxPods: new(int64(0))}})
	*args.DefaultMaxPercent = 1001
	var got []string
	for _, problem := range Validate(args) {
		got = append(got, problem.Field)
	}
	want := "defaultMaxPercent classes classes[a].maxPercent classes[b].maxPods"
	if strings.Join(got, " ") != want {
		t.Errorf("fields %v, want %s", got, want)
	}
	if errs := Validate(defaulted(nil)); len(errs) > 0 {
		t.Errorf("the defaults are wrong: %v", errs)
	}
}
