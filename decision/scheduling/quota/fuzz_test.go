package quota

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

func FuzzDecode(f *testing.F) {
	f.Add("team", "dept", `{"cpu":"2"}`, `["ns"]`, `{"cpu":"100"}`)
	f.Add("a", "a", `{"cpu":"1e999"}`, `"ns"`, `{"memory":"-5"}`)
	f.Add("liar", "", `{"cpu":"9223372036854775807","memory":"9223372036854775807"}`, `[]`, `{"cpu":"9223372036854775807","memory":"1"}`)
	f.Add("liar", "", `{"cpu":"1e18","memory":"8Ei"}`, `[]`, `{"cpu":"1","memory":"9223372036854775806"}`)
	f.Fuzz(func(t *testing.T, name, parent, weight, namespaces, total string) {
		spec, _ := Decode(&schedulingsigsv1alpha1.ElasticQuota{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{extension.LabelQuotaParent: parent, extension.LabelQuotaIsRoot: "true"}, Annotations: map[string]string{
				extension.AnnotationQuotaSharedWeight: weight, extension.AnnotationQuotaNamespaces: namespaces, extension.AnnotationQuotaTotalResource: total,
			}},
			Spec: schedulingsigsv1alpha1.ElasticQuotaSpec{Max: amounts("cpu", 1000).List()},
		})
		for _, amount := range append(spec.Total, spec.Weight...) {
			if amount.Value < 0 {
				t.Errorf("%s is negative", amount.Resource)
			}
		}
		spec.Min, spec.Max = spec.Weight, spec.Weight
		forest := BuildForest(Options{ScaleMin: true, GuaranteeUsage: len(namespaces)%2 == 0}, []*Spec{&spec, {Name: "other", Lends: true, Min: spec.Weight, Max: spec.Weight}})
		forest.SetTotal(spec.Total)
		forest.Tree("other").Hold("other", Holding{Request: spec.Weight})
		if tree := forest.Tree(name); tree != nil {
			tree.Hold(name, Holding{Request: spec.Total, Assigned: true})
			var admission Admission
			tree.Admission(name, Holding{Request: spec.Weight}, Rules{Runtime: true, Parents: true}, &admission)
			admission.Reason(admission.Verdict())
			status, _ := tree.Status(name)
			for _, runtime := range status.Runtime {
				if total, _ := spec.Total.Get(runtime.Resource); runtime.Value < 0 || spec.Lends && spec.TreeID == "" && parent == "" && runtime.Value > total && total > 0 {
					t.Errorf("runtime of %s is %d of %d", runtime.Resource, runtime.Value, total)
				}
			}
		}
	})
}

func FuzzDecodeArgs(f *testing.F) {
	f.Add(`{"delayEvictTime":"5s","enableRuntimeQuota":false}`)
	f.Add(`{"defaultQuotaGroupMax":{"cpu":"-1"}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		args, err := DecodeArgs(&runtime.Unknown{Raw: []byte(raw)})
		if err == nil && len(Validate(args)) > 0 {
			t.Errorf("arguments that were accepted are invalid: %v", Validate(args))
		}
	})
}
