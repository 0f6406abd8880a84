package release

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/controllers/manager"
)

// managerOf is what the manager is started with: a flag that it does not have fails the test.
func managerOf(t *testing.T, values map[string]any) *manager.Options {
	t.Helper()
	for _, object := range objectsOf(t, renderForTest(t, values)) {
		containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		if object.GetKind() != "Deployment" || object.GetName() != "koord-manager" {
			continue
		}
		options, flags := manager.NewOptions(), pflag.NewFlagSet("koord-manager", pflag.ContinueOnError)
		options.AddFlags(flags)
		var args []string
		for _, arg := range containers[0].(map[string]any)["args"].([]any) {
			if text := arg.(string); !strings.HasPrefix(text, "-v=") { // the log's, which every program has
				args = append(args, text)
			}
		}
		if err := flags.Parse(args); err != nil {
			t.Fatalf("the manager does not take %q: %v", args, err)
		}
		return options
	}
	t.Fatal("no Deployment of the manager was rendered")
	return nil
}

func TestTheManagerDoesToNodesWhatTheValuesSay(t *testing.T) {
	tests := map[string]struct {
		values                                   map[string]any
		wantAdmission, wantValidation, wantShare bool
	}{
		"by default":       {nil, true, true, false},
		"no amplification": {map[string]any{"admission": map[string]any{"amplifyNodes": false}}, false, true, false},
		"no validation":    {map[string]any{"admission": map[string]any{"validateNodes": false}}, true, false, false},
		"shared GPUs":      {map[string]any{"manager": map[string]any{"sharedGPU": true}}, true, true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := managerOf(t, tc.values)
			if got.NodeAdmission != tc.wantAdmission || got.NodeValidation != tc.wantValidation || got.SharedGPU != tc.wantShare {
				t.Errorf("admission %t, validation %t, shared GPUs %t", got.NodeAdmission, got.NodeValidation, got.SharedGPU)
			}
		})
	}
}

func TestTheManagerReadsTheEnginesOfTheValues(t *testing.T) {
	engine := map[string]any{"type": "yarn", "name": "prod", "addresses": []any{"http://rm-1:8088", "https://rm-2:8090"}}
	got := managerOf(t, map[string]any{"jobInsight": map[string]any{"engines": []any{engine}}})
	if want := []string{"yarn/prod=http://rm-1:8088,https://rm-2:8090"}; !slices.Equal(got.JobInsightEngines, want) {
		t.Errorf("the engines are %q, want %q", got.JobInsightEngines, want)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	if got := managerOf(t, nil).JobInsightEngines; len(got) > 0 {
		t.Errorf("by default, the engines are %q", got)
	}
}
