package configmap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const good, bad, worse = `{"enable": false}`, `{"cpuReclaimThresholdPercent": -1}`, `{"cpuReclaimThresholdPercent": -2}`

func configMap(namespace, name string, pairs ...string) *corev1.ConfigMap {
	data := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		data[pairs[i]] = pairs[i+1]
	}
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data,
	}
}

func ours(pairs ...string) *corev1.ConfigMap {
	return configMap("koordinator-system", "slo-controller-config", pairs...)
}

func request(t *testing.T, operation admissionv1.Operation, object, old *corev1.ConfigMap) admission.Request {
	t.Helper()
	out := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: operation}}
	for _, part := range []struct {
		object *corev1.ConfigMap
		raw    *runtime.RawExtension
	}{{object, &out.Object}, {old, &out.OldObject}} {
		if part.object == nil {
			continue
		}
		encoded, err := json.Marshal(part.object)
		if err != nil {
			t.Fatal(err)
		}
		part.raw.Raw = encoded
		out.Namespace, out.Name = part.object.Namespace, part.object.Name
	}
	return out
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWritesOfTheConfiguration(t *testing.T) {
	tests := map[string]struct {
		operation    admissionv1.Operation
		object, old  *corev1.ConfigMap
		wantRefused  bool
		wantRefusal  []string
		wantWarnings []string
	}{
		"a sound configuration is admitted in silence": {operation: admissionv1.Create, object: ours("colocation-config", good)},
		"all errors of all keys are told at once": {
			operation: admissionv1.Create, object: ours("colocation-config", bad, "cpu-burst-config", `{"clusterStrategy": {"policy": "sometimes"}}`, "system-config", `{`),
			wantRefused: true, wantRefusal: []string{"has 3 errors", "cpuReclaimThresholdPercent (line 1)", "cpu-burst-config.clusterStrategy.policy (line 1)", "system-config (line 1)"},
		},
		"a threshold that would evict from every node is refused": {
			operation: admissionv1.Update, old: ours("colocation-config", good),
			object:      ours("colocation-config", good, "resource-threshold-config", `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 0}}`),
			wantRefused: true, wantRefusal: []string{"memoryEvictThresholdPercent must be at least 10 and at most 100, is 0"},
		},
		"what is doubtful is a warning": {
			operation: admissionv1.Update, old: ours("colocation-config", good), object: ours("colocation-config", `{"enable": true, "nodeConfig": []}`),
			wantWarnings: []string{"KOORD0209", "did you mean nodeConfigs?"},
		},
		"an error that was there before lets another key be mended": {
			operation: admissionv1.Update, old: ours("colocation-config", bad, "system-config", `{`), object: ours("colocation-config", bad, "system-config", `{}`),
			wantWarnings: []string{"KOORD0203"},
		},
		"an error in a key that changes is refused also where there was one": {
			operation: admissionv1.Update, old: ours("colocation-config", bad), object: ours("colocation-config", worse), wantRefused: true,
		},
		"a key that is added with an error is refused": {
			operation: admissionv1.Update, old: ours("system-config", `{}`), object: ours("system-config", `{}`, "colocation-config", bad), wantRefused: true,
		},
		"another ConfigMap is nobody's business here": {
			operation: admissionv1.Create, object: configMap("koordinator-system", "other", "colocation-config", bad),
		},
		"one of the same name in another namespace neither": {
			operation: admissionv1.Create, object: configMap("default", "slo-controller-config", "colocation-config", bad),
		},
		"deleting it is allowed: then the defaults hold": {operation: admissionv1.Delete, old: ours("colocation-config", bad)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			handler := &Handler{Decoder: admission.NewDecoder(scheme(t))}
			response := handler.Handle(t.Context(), request(t, tc.operation, tc.object, tc.old))
			if response.Allowed == tc.wantRefused {
				t.Fatalf("allowed = %t: %+v", response.Allowed, response.Result)
			}
			for _, want := range tc.wantRefusal {
				if !strings.Contains(response.Result.Message, want) {
					t.Errorf("refusal lacks %q:\n%s", want, response.Result.Message)
				}
			}
			if len(tc.wantWarnings) != len(response.Warnings) {
				t.Fatalf("warnings %q, want %q", response.Warnings, tc.wantWarnings)
			}
			for i, want := range tc.wantWarnings {
				if !strings.Contains(response.Warnings[i], want) {
					t.Errorf("warning %q lacks %q", response.Warnings[i], want)
				}
			}
		})
	}
}

func TestAnObjectThatIsNoConfigMapIsABadRequest(t *testing.T) {
	handler := &Handler{Decoder: admission.NewDecoder(scheme(t))}
	in := request(t, admissionv1.Create, ours(), nil)
	in.Object.Raw = []byte(`{"data": 7}`)
	if response := handler.Handle(t.Context(), in); response.Allowed || response.Result.Code != http.StatusBadRequest {
		t.Errorf("got %+v", response)
	}
}

func TestNodesShowWhichStrategiesOverlap(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"a": "1", "b": "2"}}}
	overlapping := ours("colocation-config", `{"nodeConfigs": [
		{"name": "x", "nodeSelector": {"matchLabels": {"a": "1"}}}, {"name": "y", "nodeSelector": {"matchLabels": {"b": "2"}}}]}`)
	reader := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(node).Build()
	for name, tc := range map[string]struct {
		reader      client.Reader
		wantRefusal string
	}{"with nodes": {reader, "both select node n"}, "without nodes": {}, "with nodes that cannot be listed": {reader: failing{}}} {
		t.Run(name, func(t *testing.T) {
			handler := &Handler{Decoder: admission.NewDecoder(scheme(t)), Reader: tc.reader, Context: func(context.Context) Context { return Context{} }}
			response := handler.Handle(t.Context(), request(t, admissionv1.Create, overlapping, nil))
			if response.Allowed != (tc.wantRefusal == "") || !response.Allowed && !strings.Contains(response.Result.Message, tc.wantRefusal) {
				t.Errorf("answer is %+v, want %q", response, tc.wantRefusal)
			}
		})
	}
}

func TestThresholdsAreHeldAgainstThoseOfOtherComponents(t *testing.T) {
	const threshold = `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 60}}`
	scheduler := func(memory string) *corev1.ConfigMap {
		return configMap("koordinator-system", "koord-scheduler-config", "koord-scheduler-config", "kind: KubeSchedulerConfiguration\nprofiles:\n"+
			"- pluginConfig:\n  - name: LoadAwareScheduling\n    args: {usageThresholds: {memory: "+memory+"}}\n")
	}
	descheduler := func(memory string) *corev1.ConfigMap {
		return configMap("koordinator-system", "koord-descheduler-config", "koord-descheduler-config", "kind: DeschedulerConfiguration\nprofiles:\n"+
			"- plugins: {balance: {enabled: [{name: LowNodeLoad}]}}\n  pluginConfig:\n  - name: LowNodeLoad\n    args: {lowThresholds: {memory: 30}, highThresholds: {memory: "+memory+"}}\n")
	}
	const scheduled, moved = "LoadAwareScheduling.usageThresholds.memory (%s%%)", "LowNodeLoad.highThresholds.memory (%s%%)"
	for name, tc := range map[string]struct {
		objects     []client.Object
		fails       bool
		wantWarning string
	}{
		"a scheduler that places up to less":            {objects: []client.Object{scheduler("50")}},
		"a scheduler that places up to 92 percent":      {objects: []client.Object{scheduler("92")}, wantWarning: fmt.Sprintf(scheduled, "92")},
		"no scheduler: the default of 95 percent":       {wantWarning: fmt.Sprintf(scheduled, "95")},
		"a scheduler that cannot be used":               {objects: []client.Object{scheduler("many")}, wantWarning: fmt.Sprintf(scheduled, "95")},
		"what cannot be read":                           {fails: true, wantWarning: fmt.Sprintf(scheduled, "95")},
		"a descheduler that fills nodes up to less":     {objects: []client.Object{scheduler("50"), descheduler("55")}},
		"a descheduler that fills nodes up to as much":  {objects: []client.Object{scheduler("50"), descheduler("60")}, wantWarning: fmt.Sprintf(moved, "60")},
		"a descheduler that cannot be used is left out": {objects: []client.Object{scheduler("50"), descheduler("many")}},
	} {
		t.Run(name, func(t *testing.T) {
			var reader client.Reader = fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(tc.objects...).Build()
			if tc.fails {
				reader = failing{}
			}
			handler := &Handler{Decoder: admission.NewDecoder(scheme(t)), Context: ComponentContext(reader, "koordinator-system")}
			response := handler.Handle(t.Context(), request(t, admissionv1.Create, ours("resource-threshold-config", threshold), nil))
			if got := strings.Join(response.Warnings, "\n"); !response.Allowed || (got != "") != (tc.wantWarning != "") || !strings.Contains(got, tc.wantWarning) {
				t.Errorf("allowed %t with %q, want %q", response.Allowed, got, tc.wantWarning)
			}
		})
	}
}

// failing is a reader that cannot read.
type failing struct{ client.Reader }

func (failing) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("no cache")
}

func (failing) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("no cache")
}

func TestLongAnswersAreBounded(t *testing.T) {
	var entries []string
	for i := range 50 {
		entries = append(entries, fmt.Sprintf(`{"name": "%d%s", "cpuReclaimThresholdPercent": -1}`, i, strings.Repeat("配", 200)))
	}
	verdict := Review(nil, map[string]string{"colocation-config": `{"enable": true, "nodeConfigs": [` + strings.Join(entries, ",") + `]}`}, Context{})
	if got := strings.Count(verdict.Refusal, "\n"); got != maxRefusals+1 || !strings.Contains(verdict.Refusal, "and 30 more") {
		t.Errorf("%d lines in\n%s", got, verdict.Refusal)
	}
	if len(verdict.Warnings) > maxWarnings+1 {
		t.Errorf("%d warnings", len(verdict.Warnings))
	}
	for _, warning := range verdict.Warnings {
		if len(warning) > maxWarningBytes {
			t.Errorf("a warning of %d bytes", len(warning))
		}
	}
}
