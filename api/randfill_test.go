package api_test

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

const randomObjectsPerKind = 50

func TestRandomObjectsSurviveEncodingAndDecoding(t *testing.T) {
	for gvk, typ := range newScheme(t).AllKnownTypes() {
		if !ours(typ) {
			continue
		}
		t.Run(gvk.Kind, func(t *testing.T) {
			for seed := range int64(randomObjectsPerKind) {
				want := reflect.New(typ).Interface().(runtime.Object)
				newFiller(seed).Fill(want)
				checkRoundTrip(t, seed, want)
			}
		})
	}
}

func checkRoundTrip(t *testing.T, seed int64, want runtime.Object) {
	t.Helper()
	before := want.DeepCopyObject()
	encoded, err := json.Marshal(want)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	got := reflect.New(reflect.TypeOf(want).Elem()).Interface().(runtime.Object)
	if err := json.Unmarshal(encoded, got); err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, encoded)
	}
	if !apiequality.Semantic.DeepEqual(want, got) {
		t.Fatalf("seed %d: the object changed (-want,+got):\n%s", seed, cmp.Diff(want, got))
	}
	if !apiequality.Semantic.DeepEqual(before, want) {
		t.Fatalf("seed %d: encoding changed the object", seed)
	}
}

// newFiller fills objects with values that JSON can carry: times in seconds, quantities in canonical form, raw
// extensions that are objects.
func newFiller(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(1, 3).MaxDepth(12).RandSource(rand.NewSource(seed)).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = resource.MustParse(resource.NewMilliQuantity(c.Int63n(1<<40), resource.DecimalSI).String())
		},
		func(m *metav1.Time, c randfill.Continue) { m.Time = time.Unix(c.Int63n(1<<32)+1, 0) },
		func(d *metav1.Duration, c randfill.Continue) { d.Duration = time.Duration(c.Int63n(1<<40) + 1) },
		func(r *runtime.RawExtension, c randfill.Continue) {
			key, _ := json.Marshal(strings.ToValidUTF8(c.String(8), "?"))
			r.Raw = []byte(`{` + string(key) + `:[1,null,"x"]}`)
		},
		func(i *intstr.IntOrString, c randfill.Continue) {
			if *i = intstr.FromInt32(c.Int31n(101)); c.Bool() {
				*i = intstr.FromString("30M")
			}
		},
		func(p *corev1.PodTemplateSpec, c randfill.Continue) {
			c.Fill(&p.Labels)
			c.Fill(&p.Spec.NodeSelector)
		},
		func(f *metav1.FieldsV1, _ randfill.Continue) { f.SetRawString(`{}`) },
		func(s *string, c randfill.Continue) { *s = strings.ToValidUTF8(c.String(12), "?") },
	)
}
