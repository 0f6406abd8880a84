package pluginargs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type sample struct {
	Threshold *int64           `json:"threshold,omitempty"`
	Weights   map[string]int64 `json:"weights,omitempty"`
}

func TestACopyOfArgumentsSharesNothing(t *testing.T) {
	threshold := int64(80)
	original := &Args[sample]{Value: sample{Threshold: &threshold, Weights: map[string]int64{"cpu": 1}}}
	copied := original.DeepCopyObject()
	original.Value.Weights["cpu"], *original.Value.Threshold = 9, 9
	want := int64(80)
	if diff := cmp.Diff(&Args[sample]{Value: sample{Threshold: &want, Weights: map[string]int64{"cpu": 1}}}, copied); diff != "" {
		t.Errorf("the copy (-want +got):\n%s", diff)
	}
}

func TestTargetIsTheValueOfOwnArgumentsAndTheObjectOfOthers(t *testing.T) {
	own, other := &Args[sample]{}, &runtime.Unknown{}
	if Target(own) != any(&own.Value) {
		t.Error("the target of own arguments is not their value")
	}
	if Target(other) != any(other) {
		t.Error("the target of other arguments is not the object")
	}
}

func TestArgumentsOfAnotherPluginAreRefused(t *testing.T) {
	validate := Validator(func(*sample) field.ErrorList { return nil })
	if err := validate(&Args[int]{}); err == nil {
		t.Error("arguments of another type are valid")
	}
	if err := validate(&Args[sample]{}); err != nil {
		t.Errorf("valid arguments: %v", err)
	}
}

func TestEveryWrongFieldIsReported(t *testing.T) {
	validate := Validator(func(*sample) field.ErrorList {
		return field.ErrorList{field.Required(field.NewPath("threshold"), ""), field.Required(field.NewPath("weights"), "")}
	})
	aggregate, ok := validate(&Args[sample]{}).(interface{ Errors() []error })
	if !ok || len(aggregate.Errors()) != 2 {
		t.Errorf("errors are %v, want two", aggregate)
	}
}
