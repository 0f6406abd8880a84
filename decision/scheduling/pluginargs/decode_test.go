package pluginargs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type sample struct {
	metav1.TypeMeta `json:",inline"`
	Weight          int64            `json:"weight,omitempty"`
	Names           map[string]int64 `json:"names,omitempty"`
}

func unknown(raw string) runtime.Object { return &runtime.Unknown{Raw: []byte(raw)} }

func TestDecode(t *testing.T) {
	tests := map[string]struct {
		object    runtime.Object
		want      sample
		wantError string
	}{
		"no arguments are the zero value":      {},
		"empty arguments are the zero value":   {object: unknown(" ")},
		"what is given is taken over":          {object: unknown(`{"weight":3,"names":{"a":1}}`), want: sample{Weight: 3, Names: map[string]int64{"a": 1}}},
		"the kind and version may be said":     {object: unknown(`{"kind":"SampleArgs","apiVersion":"kubescheduler.config.k8s.io/v1"}`), want: sample{TypeMeta: metav1.TypeMeta{Kind: "SampleArgs", APIVersion: APIVersion}}},
		"another kind is refused":              {object: unknown(`{"kind":"OtherArgs"}`), wantError: `kind is "OtherArgs"`},
		"another version is refused":           {object: unknown(`{"apiVersion":"kubescheduler.config.k8s.io/v1beta9"}`), wantError: `want "kubescheduler.config.k8s.io/v1"`},
		"an unknown field is named":            {object: unknown(`{"wieght":3}`), wantError: `unknown field "wieght"`},
		"a field in another case is unknown":   {object: unknown(`{"Weight":3}`), wantError: `unknown field "Weight"`},
		"a value of another type is refused":   {object: unknown(`{"weight":"heavy"}`), wantError: "decode SampleArgs"},
		"what is not JSON is refused":          {object: unknown(`weight: 3`), wantError: "decode SampleArgs"},
		"another content type is refused":      {object: &runtime.Unknown{Raw: []byte("{}"), ContentType: "application/yaml"}, wantError: "is not JSON"},
		"an object of another type is refused": {object: &corev1.Pod{}, wantError: "unexpected type *v1.Pod"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := sample{}
			err := decode(test.object, "SampleArgs", &got)
			if test.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantError) {
					t.Fatalf("error %v, want one with %q", err, test.wantError)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("error %v, difference (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestInvalidNamesEveryField(t *testing.T) {
	if err := invalid("SampleArgs", nil); err != nil {
		t.Error(err)
	}
	err := invalid("SampleArgs", field.ErrorList{field.Required(field.NewPath("a"), ""), field.Required(field.NewPath("b"), "")})
	if err == nil || !strings.Contains(err.Error(), "a: Required") || !strings.Contains(err.Error(), "b: Required") {
		t.Errorf("error %v does not name both fields", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"weight":3}`)
	f.Add(`{"kind":[]}`)
	f.Fuzz(func(_ *testing.T, raw string) {
		_ = decode(unknown(raw), "SampleArgs", &sample{})
	})
}
