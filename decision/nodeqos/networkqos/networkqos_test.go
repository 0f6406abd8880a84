package networkqos

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

const gigabit Rate = 1_000_000_000

func percent(value int) *intstr.IntOrString { return new(intstr.FromInt32(int32(value))) }
func bits(value string) *intstr.IntOrString { return new(intstr.FromString(value)) }

func TestOfClass(t *testing.T) {
	config := func(enable bool, qos slov1alpha1.NetworkQOS) *slov1alpha1.NetworkQOSCfg {
		return &slov1alpha1.NetworkQOSCfg{Enable: &enable, NetworkQOS: qos}
	}
	free := Direction{0, gigabit}
	tests := map[string]struct {
		config          *slov1alpha1.NetworkQOSCfg
		ingress, egress Direction
		wantProblems    int
	}{
		"percentages and bits": {config(true, slov1alpha1.NetworkQOS{IngressRequest: percent(10), IngressLimit: percent(50), EgressRequest: bits("50M"), EgressLimit: bits("200M")}),
			Direction{100_000_000, 500_000_000}, Direction{50_000_000, 200_000_000}, 0},
		"switched off, it is free":             {config(false, slov1alpha1.NetworkQOS{IngressLimit: percent(50)}), free, free, 0},
		"nothing is set":                       {nil, free, free, 0},
		"more than there is":                   {config(true, slov1alpha1.NetworkQOS{IngressLimit: bits("5G")}), free, free, 0},
		"a request above its limit":            {config(true, slov1alpha1.NetworkQOS{IngressRequest: percent(60), IngressLimit: percent(40)}), Direction{400_000_000, 400_000_000}, free, 0},
		"values that cannot be are not set":    {config(true, slov1alpha1.NetworkQOS{IngressLimit: percent(101), EgressLimit: bits("fast"), EgressRequest: bits("-5")}), free, free, 3},
		"exponents that take minutes are not ": {config(true, slov1alpha1.NetworkQOS{EgressLimit: bits("1e-9999999999999999999999")}), free, free, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := OfClass(tc.config, gigabit)
			if got.Ingress != tc.ingress || got.Egress != tc.egress || len(got.Problems) != tc.wantProblems {
				t.Errorf("%+v, want %v %v", got, tc.ingress, tc.egress)
			}
		})
	}
}

// TestWhatIsGuaranteedNeedsNoTotal: a guarantee in bits applies even when the bandwidth of the node is not known, within a
// limit in bits.
func TestWhatIsGuaranteedNeedsNoTotal(t *testing.T) {
	config := &slov1alpha1.NetworkQOSCfg{Enable: new(true), NetworkQOS: slov1alpha1.NetworkQOS{
		IngressRequest: bits("16M"), EgressRequest: bits("16M"), EgressLimit: bits("8M"),
	}}
	got := OfClass(config, 0)
	if want := (Direction{Request: 16_000_000}); got.Ingress != want {
		t.Errorf("ingress %+v, want %+v", got.Ingress, want)
	}
	if want := (Direction{Request: 8_000_000, Limit: 8_000_000}); got.Egress != want {
		t.Errorf("egress %+v, want %+v", got.Egress, want)
	}
}

// TestPercentagesAndTextsAreBytesAlike: an eighth of the bits, whichever way a bandwidth was stated.
func TestPercentagesAndTextsAreBytesAlike(t *testing.T) {
	half, err := RateOf(*percent(50), gigabit)
	if err != nil {
		t.Fatal(err)
	}
	text, err := RateOf(*bits("500M"), gigabit)
	if err != nil {
		t.Fatal(err)
	}
	if half != text || half.Bytes() != 62_500_000 || half.Bits() != 500_000_000 {
		t.Errorf("50%% are %d bytes, 500M are %d", half.Bytes(), text.Bytes())
	}
	if got, err := RateOf(*bits("5M"), 0); err != nil || got != 5_000_000 {
		t.Errorf("5M on a node that is not known are %d, %v", got, err)
	}
}

func TestOfPod(t *testing.T) {
	tests := map[string]struct {
		annotation string
		want       Pod
	}{
		"both":           {`{"ingressLimit":"10M","egressLimit":"20M"}`, Pod{IngressLimit: 10_000_000, EgressLimit: 20_000_000}},
		"one":            {`{"egressLimit":"20M"}`, Pod{EgressLimit: 20_000_000}},
		"none":           {``, Pod{}},
		"above the node": {`{"egressLimit":"20G"}`, Pod{EgressLimit: gigabit}},
		"cannot be read": {`{"egressLimit":"fast"}`, Pod{Problem: "networkQOS"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := OfPod(map[string]string{extension.AnnotationNetworkQOS: tc.annotation}, gigabit)
			if tc.want.Problem != "" && strings.Contains(got.Problem, tc.want.Problem) {
				got.Problem = tc.want.Problem
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzRateOf(f *testing.F) {
	for _, seed := range []string{"50M", "", "-1", "1e999", "1e-99999999", "9E", "0.0000001"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if rate, err := RateOf(intstr.FromString(text), gigabit); err == nil && (rate < 0 || rate > gigabit) {
			t.Errorf("%q is %d bits per second", text, rate)
		}
	})
}
