package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/api/extension"
)

// sysOf is a tree at /sys with links as the kernel lays them: a card with two functions, one of two ports, and one without a driver for
// verbs. Files that are left out are not there.
func sysOf(t *testing.T, without ...string) *files.Real {
	t.Helper()
	root := t.TempDir()
	bus := "devices/pci0000:00/0000:00:02.0/"
	for name, content := range map[string]string{
		"devices/virtual/misc/rdma_cm/dev":                "10:58\n",
		bus + "0000:09:00.0/infiniband_verbs/uverbs0/dev": "231:192\n",
		bus + "0000:09:00.1/infiniband_verbs/uverbs1/dev": "231:193\n",
		bus + "0000:09:00.2/infiniband_verbs/uverbs2/dev": "231:194\n",
		bus + "0000:0a:00.0/infiniband_verbs/uverbs4/dev": "231:196\n",
		bus + "0000:0a:00.0/infiniband_verbs/uverbs3/dev": "231:195\n",
		bus + "0000:0b:00.0/vendor":                       "0x15b3\n",
		bus + "0000:0c:00.0/infiniband_verbs/uverbs5/dev": "-1:x\n",
	} {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"class/misc/rdma_cm": "../../devices/virtual/misc/rdma_cm"}
	for _, address := range []string{"0000:09:00.0", "0000:09:00.1", "0000:09:00.2", "0000:0a:00.0", "0000:0b:00.0", "0000:0c:00.0"} {
		links["bus/pci/devices/"+address] = "../../../" + bus + address
	}
	for _, name := range without {
		delete(links, name)
	}
	for name, target := range links {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, at); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := files.NewReal(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	return tree
}

func TestContainersGetTheVerbsOfTheirCards(t *testing.T) {
	verbs := func(number, minor int64) Device {
		return Device{Path: "/dev/infiniband/uverbs" + string(rune('0'+number)), Major: 231, Minor: minor}
	}
	manager := Device{Path: "/dev/infiniband/rdma_cm", Major: 10, Minor: 58}
	tests := map[string]struct {
		allocated   string
		without     string
		want        []Device
		wantProblem string
	}{
		"a whole card":              {allocated: `[{"minor":0,"id":"0000:09:00.0"}]`, want: []Device{manager, verbs(0, 192)}},
		"its virtual functions":     {allocated: `[{"minor":0,"id":"0000:09:00.0","extension":{"vfs":[{"minor":1,"busID":"0000:09:00.2"},{"minor":0,"busID":"0000:09:00.1"}]}}]`, want: []Device{manager, verbs(2, 194), verbs(1, 193)}},
		"a card of two ports":       {allocated: `[{"minor":1,"id":"0000:0a:00.0"}]`, want: []Device{manager, verbs(3, 195), verbs(4, 196)}},
		"two cards":                 {allocated: `[{"minor":1,"id":"0000:0a:00.0"},null,{"minor":0,"id":"0000:09:00.0"}]`, want: []Device{manager, verbs(3, 195), verbs(4, 196), verbs(0, 192)}},
		"no card":                   {allocated: `[]`},
		"one without verbs":         {allocated: `[{"minor":2,"id":"0000:0b:00.0"},{"minor":0,"id":"0000:09:00.0"}]`, want: []Device{manager, verbs(0, 192)}, wantProblem: `network card "0000:0b:00.0"`},
		"one that has gone":         {allocated: `[{"minor":3,"id":"0000:0f:00.0"}]`, want: []Device{manager}, wantProblem: `network card "0000:0f:00.0"`},
		"one without numbers":       {allocated: `[{"minor":4,"id":"0000:0c:00.0"}]`, want: []Device{manager}, wantProblem: `"-1:x\n" are no numbers`},
		"an address that leads off": {allocated: `[{"minor":0,"id":"../../../etc"}]`, want: []Device{manager}, wantProblem: "is not an address"},
		"no connection manager":     {allocated: `[{"minor":0,"id":"0000:09:00.0"}]`, without: "class/misc/rdma_cm", wantProblem: `device "rdma_cm"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in, _ := snapshot(t, cgroup.V2)
			in.Sys = sysOf(t, test.without)
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{extension.AnnotationDeviceAllocated: `{"rdma":` + test.allocated + `}`}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{extension.ResourceRDMA: resource.MustParse("100")},
				}}}},
			}
			var got Adjustment
			got.inject(in, Injection{RDMA: true}, pod)
			if diff := cmp.Diff(test.want, got.Devices); diff != "" {
				t.Errorf("devices (-want +got):\n%s", diff)
			}
			if len(got.Problems) > 1 || (len(got.Problems) == 1) != (test.wantProblem != "") || len(got.Problems) == 1 && !strings.Contains(got.Problems[0].Error(), test.wantProblem) {
				t.Errorf("problems %v, want %q", got.Problems, test.wantProblem)
			}
			var off Adjustment
			if off.inject(in, Injection{GPUs: true}, pod); off.Devices != nil || off.Problems != nil {
				t.Errorf("without the gate %+v", off)
			}
		})
	}
}
