package release

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/agent/yarnagent"
	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	decision "koordinator.sh/koord/decision/config/configuration"
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
		"vcoresPerCore": 2.5,
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
	if options.NodeManagerEndpoint != "localhost:18042" || options.ContainerCgroupPath != "kubepods/besteffort/yarn" || options.VCoresPerCore != 2.5 {
		t.Errorf("options = %+v", options)
	}
	if spec["automountServiceAccountToken"] != false || spec["hostPID"] != true || spec["nodeSelector"].(map[string]any)["yarn"] != "true" {
		t.Errorf("the pod is %v", spec)
	}
	capabilities, _, err := unstructured.NestedStringSlice(spec["containers"].([]any)[0].(map[string]any), "securityContext", "capabilities", "add")
	if diff := cmp.Diff(yarnagent.Capabilities, capabilities); diff != "" || err != nil {
		t.Errorf("capabilities, %v (-want +got):\n%s", err, diff)
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

// TestTheContainersOfYARNAreAHostApplication where koord-yarn-agent is installed, unless the values say otherwise.
func TestTheContainersOfYARNAreAHostApplication(t *testing.T) {
	own := map[string]any{"applications": []any{map[string]any{"name": "mine"}}}
	for name, test := range map[string]struct {
		path  string
		data  map[string]any
		agent bool
		want  string
	}{
		"without the agent":     {},
		"by default":            {agent: true, want: "hadoop-yarn/"},
		"in another cgroup":     {agent: true, path: "kubepods/besteffort/yarn/", want: "yarn/"},
		"in a cgroup of slices": {agent: true, path: "kubepods.slice/kubepods-besteffort.slice/yarn", want: "yarn/"},
		"the values' own":       {agent: true, data: map[string]any{configuration.HostApplicationConfigKey: own}, want: "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			values := map[string]any{"yarnAgent": map[string]any{"enabled": test.agent, "containerCgroupPath": test.path}, "sloControllerConfig": map[string]any{"data": test.data}}
			data := into[corev1.ConfigMap](t, objectsOf(t, renderForTest(t, values)), "ConfigMap", "slo-controller-config").Data
			if found := decision.Validate(decision.Input{Data: data}); decision.HasErrors(found) {
				t.Errorf("the configuration has errors: %+v", found)
			}
			got := configuration.HostApplicationCfg{}
			if err := yaml.Unmarshal([]byte(data[configuration.HostApplicationConfigKey]), &got); err != nil {
				t.Fatal(err)
			}
			var want []slov1alpha1.HostApplicationSpec
			switch test.want {
			case "":
			case "mine":
				want = []slov1alpha1.HostApplicationSpec{{Name: "mine"}}
			default:
				want = []slov1alpha1.HostApplicationSpec{{
					Name: "yarn-task", Priority: extension.PriorityBatch, QoS: extension.QoSBE,
					CgroupPath: &slov1alpha1.CgroupPath{Base: slov1alpha1.CgroupBaseTypeKubeBesteffort, RelativePath: test.want},
				}}
			}
			if diff := cmp.Diff(want, got.Applications); diff != "" {
				t.Errorf("host applications (-want +got):\n%s", diff)
			}
		})
	}
}
