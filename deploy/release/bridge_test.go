package release

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/bridge/app"
)

// TestTheBridgeIsInstalledOnRequest: its flags are those that it takes, and its configuration is the one of the values.
func TestTheBridgeIsInstalledOnRequest(t *testing.T) {
	for _, object := range objectsOf(t, renderForTest(t, nil)) {
		if strings.Contains(object.GetName(), "bridge") || object.GetName() == "yarn-config" {
			t.Errorf("%s %s is installed by default", object.GetKind(), object.GetName())
		}
	}
	const site = "<configuration></configuration>\n"
	manifest := renderForTest(t, map[string]any{"bridge": map[string]any{
		"enabled": true, "sharePercent": 25, "overcommitTimeout": "1m", "yarn": map[string]any{"user": "hadoop", "config": map[string]any{"yarn-site.xml": site}},
	}})
	options, found := app.NewOptions(), 0
	flags := pflag.NewFlagSet("koord-bridge", pflag.ContinueOnError)
	options.AddFlags(flags)
	flags.IntP("v", "v", 0, "")
	for _, object := range objectsOf(t, manifest) {
		switch object.GetKind() + " " + object.GetName() {
		case "Deployment koord-bridge":
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			var args []string
			for _, arg := range containers[0].(map[string]any)["args"].([]any) {
				args = append(args, arg.(string))
			}
			if err := flags.Parse(args); err != nil {
				t.Fatal(err)
			}
			found++
		case "ConfigMap yarn-config":
			if got, _, _ := unstructured.NestedString(object.Object, "data", "yarn-site.xml"); got != site {
				t.Errorf("yarn-site.xml = %q", got)
			}
			found++
		}
	}
	if err := options.Validate(); err != nil || found != 2 {
		t.Errorf("%d objects of 2, Validate() = %v", found, err)
	}
	if options.YARNUser != "hadoop" || options.SharePercent != 25 || options.OvercommitTimeout != time.Minute || options.YARNConfDir == "" ||
		options.CertSecret != "koordinator-system/koord-bridge-serving" {
		t.Errorf("options = %+v", options)
	}
}

func TestTheBridgeNeedsAConfiguration(t *testing.T) {
	options, err := Options{Values: map[string]any{"bridge": map[string]any{"enabled": true}}}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := renderRelease(t.Context(), options); err == nil || !strings.Contains(err.Error(), "yarn-site.xml") {
		t.Errorf("renderRelease() = %v", err)
	}
}

// TestTheBridgeSharesWithSlurmAlone: without anything of YARN.
func TestTheBridgeSharesWithSlurmAlone(t *testing.T) {
	manifest := renderForTest(t, map[string]any{"bridge": map[string]any{
		"enabled": true, "slurm": map[string]any{"enabled": true, "partitionPrefix": "koord-"},
	}})
	var args []any
	for _, object := range objectsOf(t, manifest) {
		if object.GetName() == "yarn-config" {
			t.Error("there is a configuration of YARN")
		}
		if object.GetKind() == "Deployment" && object.GetName() == "koord-bridge" {
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			args = containers[0].(map[string]any)["args"].([]any)
		}
	}
	for _, want := range []string{"--slurm", "--slurm-conf=/etc/slurm/slurm.conf", "--slurm-partition-prefix=koord-"} {
		if !slices.Contains(args, any(want)) {
			t.Errorf("the flags are %v, want %s", args, want)
		}
	}
	if slices.ContainsFunc(args, func(arg any) bool { return strings.HasPrefix(arg.(string), "--yarn") }) {
		t.Errorf("the flags are %v, with some of YARN", args)
	}
}
