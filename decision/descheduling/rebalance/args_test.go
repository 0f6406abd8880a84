package rebalance

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDefaultArgsAreValid(t *testing.T) {
	if errs := Validate(DefaultArgs()); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

func TestArgsAreRead(t *testing.T) {
	var args Args
	if err := json.Unmarshal([]byte(`{"highThresholds":{"cpu":60},"coolDown":"2h","maxMovesPerPass":7,"varianceWeight":0}`), &args); err != nil {
		t.Fatal(err)
	}
	SetDefaults(&args)
	if errs := Validate(&args); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	if args.CoolDown.Duration != 2*time.Hour || *args.MaxMovesPerPass != 7 || *args.VarianceWeight != 0 || args.Mode != Planned {
		t.Errorf("args %+v", args)
	}
	if diff := cmp.Diff(map[corev1.ResourceName]int64{"cpu": 1}, args.ResourceWeights); diff != "" {
		t.Errorf("weights (-want +got):\n%s", diff)
	}
}

func TestValidateReportsEveryError(t *testing.T) {
	args := DefaultArgs()
	args.Mode = "fast"
	args.HighThresholds["cpu"], args.HighThresholds["memory"] = 101, 4
	args.ResourceWeights["disk"] = 0
	args.VarianceWeight, args.CostWeight = new(math.NaN()), new(-1.0)
	args.Horizon = &metav1.Duration{Duration: time.Second}
	args.CoolDown = &metav1.Duration{Duration: 48 * time.Hour}
	args.MaxMovesPerPass, args.MaxMovesPerNode = new(int64(0)), new(int64(1001))
	args.NodeSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "zone", Operator: "Near"}}}
	want := []string{
		"mode", "nodeSelector", "highThresholds[cpu]", "resourceWeights[disk]", "highThresholds[disk]", "varianceWeight", "costWeight",
		"horizon", "historyWindow", "maxMovesPerPass", "maxMovesPerNode", "targetMarginPercent",
	}
	var got []string
	for _, err := range Validate(args) {
		got = append(got, err.Field)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
