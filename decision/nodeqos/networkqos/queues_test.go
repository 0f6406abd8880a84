package networkqos

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// strategy bounds best effort by percentages, and guarantees services something in bits.
func strategy(policy slov1alpha1.NETQOSPolicy) *slov1alpha1.ResourceQOSStrategy {
	class := func(qos slov1alpha1.NetworkQOS) *slov1alpha1.ResourceQOS {
		return &slov1alpha1.ResourceQOS{NetworkQOS: &slov1alpha1.NetworkQOSCfg{Enable: new(true), NetworkQOS: qos}}
	}
	return &slov1alpha1.ResourceQOSStrategy{
		Policies: &slov1alpha1.ResourceQOSPolicies{NETQOSPolicy: &policy},
		LSClass:  class(slov1alpha1.NetworkQOS{EgressRequest: bits("400M"), IngressRequest: percent(40)}),
		BEClass:  class(slov1alpha1.NetworkQOS{EgressLimit: percent(30), IngressLimit: bits("200M")}),
	}
}

func TestQueues(t *testing.T) {
	want := []QueueClass{
		{Root, 0, 0, gigabit, gigabit}, {System, Root, 1, 8_000, gigabit}, {LS, Root, 2, 400_000_000, gigabit}, {BE, Root, 3, 8_000, 300_000_000},
	}
	if diff := cmp.Diff(want, QueuesOf(strategy(slov1alpha1.NETQOSPolicyTC), gigabit).Classes); diff != "" {
		t.Errorf("classes (-want +got):\n%s", diff)
	}
	for name, got := range map[string]Queues{
		"another policy": QueuesOf(strategy(slov1alpha1.NETQOSPolicyTerwayQos), gigabit), "no bandwidth": QueuesOf(strategy(slov1alpha1.NETQOSPolicyTC), 0),
		"no strategy": QueuesOf(nil, gigabit), "no class": QueuesOf(&slov1alpha1.ResourceQOSStrategy{}, gigabit),
	} {
		if len(got.Classes) > 0 || got.Reason == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for class, want := range map[extension.QoSClass]Minor{
		extension.QoSSystem: System, extension.QoSLSE: LS, extension.QoSLSR: LS, extension.QoSLS: LS, extension.QoSNone: LS, extension.QoSBE: BE,
	} {
		if got := MinorOf(class); got != want {
			t.Errorf("class %q is 1:%d, want 1:%d", class, got, want)
		}
	}
}

// TestTerwayCountsInBytes: an eighth of the bits, of percentages and of texts alike.
func TestTerwayCountsInBytes(t *testing.T) {
	got, on := TerwayOf(strategy(slov1alpha1.NETQOSPolicyTerwayQos), gigabit)
	want := Terway{
		Hardware: 125_000_000, LS: TerwayLevel{SendLeast: 50_000_000, SendMost: 125_000_000, ReceiveLeast: 50_000_000, ReceiveMost: 125_000_000},
		BE: TerwayLevel{SendMost: 37_500_000, ReceiveMost: 25_000_000},
	}
	if diff := cmp.Diff(want, got); diff != "" || !on {
		t.Errorf("Terway (-want +got):\n%s", diff)
	}
	if _, on := TerwayOf(strategy(slov1alpha1.NETQOSPolicyTC), gigabit); on {
		t.Error("Terway is told though tc is the policy")
	}
}

func TestTotal(t *testing.T) {
	system := &slov1alpha1.SystemStrategy{TotalNetworkBandwidth: new(resource.MustParse("2G"))}
	tests := []struct {
		name       string
		system     *slov1alpha1.SystemStrategy
		annotation string
		card       Rate
		want       Rate
	}{
		{"the configuration goes first", system, "3G", gigabit, 2 * gigabit},
		{"zero is not set", &slov1alpha1.SystemStrategy{TotalNetworkBandwidth: new(resource.MustParse("0"))}, "3G", gigabit, 3 * gigabit},
		{"an annotation that cannot be read", nil, "fast", gigabit, gigabit},
		{"the card", nil, "", gigabit, gigabit},
		{"nothing is known", nil, "", 0, 0},
	}
	for _, tc := range tests {
		if got, source := TotalOf(tc.system, tc.annotation, tc.card); got != tc.want || (source == "") != (tc.want == 0) {
			t.Errorf("%s: %d from %q, want %d", tc.name, got, source, tc.want)
		}
	}
}
