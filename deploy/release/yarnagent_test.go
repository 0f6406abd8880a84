package release

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/agent/yarnagent"
)

// argumentsOf are the arguments of the only container of a DaemonSet of a release; nil where there is none.
func argumentsOf(t *testing.T, values map[string]any, name string) (spec map[string]any, args []string) {
	t.Helper()
	for _, object := range objectsOf(t, renderForTest(t, values)) {
		if object.GetKind() != "DaemonSet" || object.GetName() != name {
			continue
		}
		spec, _, _ = unstructured.NestedMap(object.Object, "spec", "template", "spec")
		for _, arg := range spec["containers"].([]any)[0].(map[string]any)["args"].([]any) {
			args = append(args, arg.(string))
		}
	}
	return spec, args
}

// TestTheYARNAgentIsInstalledOnRequest: its flags are those that it takes, koordlet asks the socket that it serves, and it has no token.
func TestTheYARNAgentIsInstalledOnRequest(t *testing.T) {
	if spec, _ := argumentsOf(t, nil, "koord-yarn-agent"); spec != nil {
		t.Error("koord-yarn-agent is installed by default")
	}
	if _, args := argumentsOf(t, nil, "koordlet"); slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, "copilot") }) {
		t.Errorf("koordlet asks an agent by default: %q", args)
	}
	values := map[string]any{"yarnAgent": map[string]any{
		"enabled": true, "nodeManagerEndpoint": "localhost:18042", "containerCgroupPath": "kubepods/besteffort/yarn", "nodeSelector": map[string]any{"yarn": "true"},
	}}
	spec, args := argumentsOf(t, values, "koord-yarn-agent")
	options, flags := yarnagent.NewOptions(), pflag.NewFlagSet("koord-yarn-agent", pflag.ContinueOnError)
	options.AddFlags(flags)
	flags.IntP("v", "v", 0, "")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := options.Validate(); err != nil {
		t.Error(err)
	}
	if options.NodeManagerEndpoint != "localhost:18042" || options.ContainerCgroupPath != "kubepods/besteffort/yarn" {
		t.Errorf("options = %+v", options)
	}
	if spec["automountServiceAccountToken"] != false || spec["hostPID"] != true || spec["nodeSelector"].(map[string]any)["yarn"] != "true" {
		t.Errorf("the pod is %v", spec)
	}
	if _, args := argumentsOf(t, values, "koordlet"); !slices.Contains(args, "--copilot-sockets="+options.ServerEndpoint) {
		t.Errorf("koordlet does not ask %s: %q", options.ServerEndpoint, args)
	}
}

func TestTheYARNAgentNeedsKoordlet(t *testing.T) {
	options, err := Options{Values: map[string]any{"yarnAgent": map[string]any{"enabled": true}, "koordlet": map[string]any{"enabled": false}}}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := renderRelease(t.Context(), options); err == nil || !strings.Contains(err.Error(), "koordlet.enabled") {
		t.Errorf("renderRelease() = %v", err)
	}
}
