package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const template = `{metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: i}]}}`

func TestPodsOfEveryWorkload(t *testing.T) {
	tests := map[string]struct {
		manifest, wantAPI, wantName, wantGenerated, wantOwner string
	}{
		"a Pod":                   {"{apiVersion: v1, kind: Pod, metadata: {name: x, labels: {app: x}}, spec: {containers: [{name: c}]}}", "v1", "x", "", ""},
		"a PodTemplate":           {"{apiVersion: v1, kind: PodTemplate, metadata: {name: x}, template: " + template + "}", "v1", "x", "", ""},
		"a Deployment":            {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {template: " + template + "}}", "apps/v1", "x", "x-", "Deployment"},
		"a ReplicaSet":            {"{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: x}, spec: {template: " + template + "}}", "apps/v1", "x", "x-", "ReplicaSet"},
		"a StatefulSet":           {"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x}, spec: {template: " + template + "}}", "apps/v1", "x", "x-", "StatefulSet"},
		"a DaemonSet":             {"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: x}, spec: {template: " + template + "}}", "apps/v1", "x", "x-", "DaemonSet"},
		"a Job":                   {"{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {template: " + template + "}}", "batch/v1", "x", "x-", "Job"},
		"a CronJob":               {"{apiVersion: batch/v1, kind: CronJob, metadata: {name: x}, spec: {jobTemplate: {spec: {template: " + template + "}}}}", "batch/v1", "x", "x-", "CronJob"},
		"a ReplicationController": {"{apiVersion: v1, kind: ReplicationController, metadata: {name: x}, spec: {template: " + template + "}}", "v1", "x", "x-", "ReplicationController"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pods := NewPods("shop", false)
			if err := pods.Read(strings.NewReader(tc.manifest)); err != nil || len(pods.Items) != 1 || len(pods.Warnings) > 0 {
				t.Fatalf("error %v, pods %+v, warnings %q", err, pods.Items, pods.Warnings)
			}
			item := &pods.Items[0]
			owner := ""
			if controller := metav1.GetControllerOf(item.Pod); controller != nil {
				owner = controller.Kind
			}
			got := []string{item.APIVersion, item.Name, item.Pod.GenerateName, owner, item.Pod.Namespace}
			if diff := cmp.Diff([]string{tc.wantAPI, tc.wantName, tc.wantGenerated, tc.wantOwner, "shop"}, got); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
			if name != "a PodTemplate" && item.Pod.Labels["app"] != "x" && name != "a Pod" {
				t.Errorf("labels %v", item.Pod.Labels)
			}
		})
	}
}

func TestDocumentsThatCannotBeRead(t *testing.T) {
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: c}]}\n"
	list := pod
	for range maxDepth + 1 {
		list = "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(list), "\n", "\n  ") + "\n"
	}
	tests := map[string]struct{ manifest, want string }{
		"a document that is no YAML":  {pod + "---\n{]\n", "document 2: "},
		"a number":                    {"7", "document 1: "},
		"a list of documents":         {"- a\n", "document 1: "},
		"an amount that is none":      {strings.ReplaceAll(pod, "{name: c}", "{name: c, resources: {requests: {cpu: lots}}}"), "document 1: "},
		"a key that stands twice":     {pod + "spec: {containers: []}\n", "document 1: "},
		"no kind":                     {"a: 1", "document 1: it has no kind"},
		"no containers":               {"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n", `document 1: Pod "x" has no containers`},
		"no template":                 {"apiVersion: v1\nkind: ReplicationController\nmetadata: {name: x}\n", `document 1: ReplicationController "x" has no containers`},
		"an item of a list":           {"apiVersion: v1\nkind: List\nitems: [{kind: Pod}]\n", "document 1: item 1: "},
		"lists in lists":              {list, "lists are nested more than 4 deep"},
		"too many pods":               {strings.Repeat("---\n"+pod, MaxPods+1), "document 201: there are more than 200 pods"},
		"more than a server takes":    {"# " + strings.Repeat("x", MaxBytes), "the manifests are larger than 8 MiB"},
		"an alias that grows forever": {"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n", "document 1: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := NewPods("shop", false).Read(strings.NewReader(tc.manifest)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// TestTheBoundCountsAllManifests: a bound for each file would be none.
func TestTheBoundCountsAllManifests(t *testing.T) {
	pods := NewPods("shop", false)
	if err := pods.Read(strings.NewReader("# " + strings.Repeat("x", MaxBytes-10))); err != nil {
		t.Fatal(err)
	}
	if err := pods.Read(strings.NewReader(strings.Repeat("#", 100))); err == nil {
		t.Error("a second manifest beyond the bound is read")
	}
}

func TestWhatIsLeftOutIsAWarning(t *testing.T) {
	pods := NewPods("shop", false)
	err := pods.Read(strings.NewReader("---\n# nothing\n---\n{apiVersion: v1, kind: Service, metadata: {name: s}}\n---\n{apiVersion: example.com/v1, kind: Thing}\n---\n" +
		"{apiVersion: v1, kind: Pod, metadata: {name: x, namespace: own}, spec: {containers: [{name: c, imag: i}]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`document 1: skipped: Service "s" has no pod`,
		"document 2: skipped: kind Thing of example.com/v1 is unknown",
		`document 3: strict decoding error: unknown field "spec.containers[0].imag"`,
	}
	if diff := cmp.Diff(want, pods.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if len(pods.Items) != 1 || pods.Items[0].Document != 3 || pods.Items[0].Pod.Namespace != "own" {
		t.Errorf("pods %+v", pods.Items)
	}
}

// FuzzRead: whatever a manifest says, it is read or an error, and each pod has a namespace and containers.
func FuzzRead(f *testing.F) {
	f.Add("apiVersion: v1\nkind: Pod\nspec: {containers: [{name: c}]}\n---\n{]")
	f.Add("{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {template: " + template + "}}")
	f.Add("apiVersion: v1\nkind: List\nitems: [null, {}, 1]")
	f.Fuzz(func(t *testing.T, text string) {
		pods := NewPods("shop", false)
		_ = pods.Read(strings.NewReader(text))
		for i := range pods.Items {
			if pod := pods.Items[i].Pod; pod.Namespace == "" || len(pod.Spec.Containers) == 0 {
				t.Errorf("pod %+v", pod)
			}
		}
	})
}

func TestAnEnforcedNamespace(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: x%s}\nspec: {containers: [{name: c}]}\n"
	tests := map[string]struct {
		enforced           bool
		metadata, wantName string
		wantErr            string
	}{
		"none is named":           {enforced: true, wantName: "shop"},
		"the same one":            {enforced: true, metadata: ", namespace: shop", wantName: "shop"},
		"another one":             {enforced: true, metadata: ", namespace: spark", wantErr: `document 1: Pod "x" is in namespace "spark", which is not the namespace "shop" of --namespace`},
		"another one is the rule": {metadata: ", namespace: spark", wantName: "spark"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pods := NewPods("shop", tc.enforced)
			err := pods.Read(strings.NewReader(fmt.Sprintf(pod, tc.metadata)))
			if tc.wantErr != "" {
				if err == nil || err.Error() != tc.wantErr {
					t.Errorf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil || pods.Items[0].Pod.Namespace != tc.wantName {
				t.Errorf("error %v, namespace %q, want %q", err, pods.Items[0].Pod.Namespace, tc.wantName)
			}
		})
	}
}
